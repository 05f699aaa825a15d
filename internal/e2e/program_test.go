//go:build e2e

package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// bound is how long any program here may be waited for before it counts as
// hanging.
const bound = 60 * time.Second

// program is a process under test.
type program struct {
	t      testing.TB
	cmd    *exec.Cmd
	mark   string // in its environment, and in that of all it starts
	stdout *speech
	stderr *speech
	began  time.Time
	done   chan struct{}
	ended  time.Time // set before done is closed
}

var marks atomic.Int64

// start runs a binary. When the test is over it is killed, if it still runs,
// and nothing it started may be left.
func start(t testing.TB, name string, args ...string) *program {
	t.Helper()
	return startAt(t, binary(t, name), args...)
}

func startAt(t testing.TB, path string, args ...string) *program {
	t.Helper()
	return startTo(t, nil, path, args...)
}

// startTo starts a program whose stdout goes elsewhere, if anywhere is named.
func startTo(t testing.TB, out *os.File, path string, args ...string) *program {
	t.Helper()
	p := &program{t: t, cmd: exec.Command(path, args...), mark: fmt.Sprintf("RAILYARD_E2E=%d.%d", os.Getpid(), marks.Add(1)),
		stdout: newSpeech(), stderr: newSpeech(), began: time.Now(), done: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), p.mark)
	p.cmd.Stdout, p.cmd.Stderr = p.stdout, p.stderr
	if out != nil {
		p.cmd.Stdout = out
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait() // the state says it all
		p.ended = time.Now()
		close(p.done)
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // an error says that it has ended
		<-p.done
		p.nothingLeft(crash)
	})
	return p
}

// wait returns the exit code, or minus the signal that ended the program.
func (p *program) wait() int {
	p.t.Helper()
	select {
	case <-p.done:
	case <-time.After(bound):
		p.t.Fatalf("%v has not ended after %v\n%s", p.cmd.Args, bound, p.stderr)
	}
	if status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return -int(status.Signal())
	}
	return p.cmd.ProcessState.ExitCode()
}

// signal sends a signal and returns when.
func (p *program) signal(s os.Signal) time.Time {
	p.t.Helper()
	now := time.Now()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
	return now
}

// run runs a binary to its end, which must have an exit code.
func run(t testing.TB, code int, name string, args ...string) *program {
	t.Helper()
	p := start(t, name, args...)
	if got := p.wait(); got != code {
		t.Fatalf("%v: exit code %d, want %d\n%s%s", p.cmd.Args, got, code, p.stdout, p.stderr)
	}
	p.nothingLeft(0)
	return p
}

// device is a line of the table's header.
var device = regexp.MustCompile(`(?m)^# +Rank +\d+ .*Pid +(\d+) on +node(\d+) `)

// pid returns the process that hosts a node, as the table's header has it.
func (p *program) pid(node int) int {
	p.t.Helper()
	for _, m := range device.FindAllStringSubmatch(p.stdout.String(), -1) {
		if m[2] == strconv.Itoa(node) {
			pid, err := strconv.Atoi(m[1])
			if err != nil {
				p.t.Fatal(err)
			}
			return pid
		}
	}
	p.t.Fatalf("no process of node %d in\n%s", node, p.stdout)
	return 0
}

// speech is what a program says, for whoever waits for it.
type speech struct {
	mu   sync.Mutex
	buf  bytes.Buffer
	more chan struct{} // closed at the next write
}

func newSpeech() *speech { return &speech{more: make(chan struct{})} }

// Write implements io.Writer.
func (s *speech) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.more)
	s.more = make(chan struct{})
	return s.buf.Write(b)
}

func (s *speech) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.String()
}

// forget drops what was said so far.
func (s *speech) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.buf.Reset()
}

func (s *speech) lines() []string {
	return strings.FieldsFunc(s.String(), func(r rune) bool { return r == '\n' })
}

// await waits until the program has said what matches, and returns the match
// and its groups.
func (p *program) await(s *speech, pattern string) []string {
	p.t.Helper()
	re := regexp.MustCompile(pattern)
	late := time.After(bound)
	for {
		s.mu.Lock()
		found, more := re.FindStringSubmatch(s.buf.String()), s.more
		s.mu.Unlock()
		if found != nil {
			return found
		}
		err := errors.New("too late")
		select {
		case <-more:
			continue
		case <-p.done:
			if found := re.FindStringSubmatch(s.String()); found != nil {
				return found
			}
			err = fmt.Errorf("it ended with %v", p.cmd.ProcessState)
		case <-late:
		}
		p.t.Fatalf("%v does not say %q: %v\n%s%s", p.cmd.Args, pattern, err, p.stdout, p.stderr)
	}
}
