package coordinator

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/railyard/railyard/internal/gossip"
	"github.com/railyard/railyard/internal/wire"
)

// process is a nodesim that the coordinator started.
type process struct {
	name     string
	nodes    gossip.Nodes
	cmd      *exec.Cmd
	lifeline io.Closer // closing it, in whatever way, ends the process
	errors   tail
	log      io.Closer     // nil: none
	done     chan struct{} // closed when it has ended
	err      error         // how it ended; set before done is closed
	at       time.Time     // when it ended; likewise
}

// findNodesim returns the path of the nodesim binary.
func findNodesim(path string) (string, error) {
	if path != "" {
		if _, err := os.Stat(path); err != nil {
			return "", wire.Failf(wire.Config, "--nodesim %s: %v; give the path of the nodesim binary", path, errors.Unwrap(err))
		}
		return path, nil
	}
	if self, err := os.Executable(); err == nil {
		beside := filepath.Join(filepath.Dir(self), "nodesim")
		if _, err := os.Stat(beside); err == nil {
			return beside, nil
		}
	}
	found, err := exec.LookPath("nodesim")
	if err != nil {
		return "", wire.Failf(wire.Config, "nodesim: no such binary beside coordinator or on PATH; build it with make build, or give --nodesim PATH")
	}
	return found, nil
}

// spread returns which nodes each of n processes hosts: contiguous ranges, as
// even as can be.
func spread(nodes, n int) []gossip.Nodes {
	var all []gossip.Nodes
	for i := range n {
		all = append(all, gossip.Nodes{{First: nodes * i / n, Last: nodes*(i+1)/n - 1}})
	}
	return all
}

// spawn starts one nodesim. It holds the process's standard input: however this
// process ends, the kernel closes it, and the nodesim notices.
func spawn(binary string, nodes gossip.Nodes, join, cluster string, debug bool, open func(string) (io.WriteCloser, error)) (*process, error) {
	name := "node" + nodes.String()
	args := []string{"--name", name, "--nodes", nodes.String(), "--join", join, "--cluster-id", cluster, "--lifeline"}
	if debug {
		args = append(args, "--log-level", "debug")
	}
	p := &process{name: name, nodes: nodes, cmd: exec.Command(binary, args...), done: make(chan struct{})}
	// Ctrl-C reaches the whole foreground group; only the coordinator is to act
	// on it, and end its nodesims in its own order.
	p.cmd.SysProcAttr = detached()
	says := []io.Writer{&p.errors}
	if debug {
		says = append(says, os.Stderr)
	}
	if open != nil {
		log, err := open(name)
		if err != nil {
			return nil, err
		}
		p.log = log
		says = append(says, log)
	}
	p.cmd.Stderr = io.MultiWriter(says...)
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("nodesim %s: %w", nodes, err)
	}
	p.lifeline = in
	if err := p.cmd.Start(); err != nil {
		return nil, wire.Failf(wire.Config, "--nodesim %s: %v", binary, err)
	}
	go func() {
		p.err = p.cmd.Wait()
		p.at = time.Now()
		if p.log != nil {
			_ = p.log.Close()
		}
		close(p.done)
	}()
	return p, nil
}

// ended says how the process ended, if it does so within the patience given.
func (p *process) ended(ctx context.Context, patience time.Duration) (string, bool) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-p.done:
	case <-timer.C:
		return "", false
	case <-ctx.Done():
		return "", false
	}
	how := "exit status 0"
	if p.err != nil {
		how = p.err.Error()
	}
	if said := p.errors.String(); said != "" {
		how += ": " + said
	}
	return how, true
}

// usage is the exit code of a program that was called wrong (EX_USAGE of sysexits.h).
const usage = 64

// stillborn is the failure of a process that ended before its session began.
// One that was killed is lost like any other; one that says so was told something
// that the user can mend; else it is no nodesim, or broken, which says nothing of the
// cluster.
func (p *process) stillborn(how string) *wire.Failure {
	var exit *exec.ExitError
	if errors.As(p.err, &exit) && exit.ExitCode() < 0 {
		f := wire.Failf(wire.PeerLost, "%s lost: process %s (pid %d) ended before its session began: %s", named(p.nodes), p.name, p.cmd.Process.Pid, how)
		f.Member, f.Took = p.name, max(time.Since(p.at), 1)
		return f
	}
	cause := wire.Aborted
	if exit != nil && exit.ExitCode() == usage {
		cause = wire.Config
	}
	return wire.Failf(cause, "process %s did not start: %s", p.name, how)
}

// grace is how long a nodesim may take to end by itself once it has been told.
const grace = time.Second

// stop ends processes: first by letting go of them, then, at the deadline, by
// force.
func stop(ps []*process, deadline <-chan time.Time) {
	for _, p := range ps {
		_ = p.lifeline.Close()
	}
	for _, p := range ps {
		select {
		case <-p.done:
		case <-deadline:
			for _, q := range ps {
				_ = q.cmd.Process.Kill()
			}
			deadline = nil
			<-p.done
		}
	}
}

// tail keeps, of what a process said on standard error, what the message about
// its end needs: the last line, or the line in which it panicked, which stands
// before a long stack.
type tail struct {
	mu    sync.Mutex
	buf   []byte
	panic string
}

const tailBytes = 2 << 10

// Write keeps the end of what was written.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, b...)
	if t.panic == "" {
		if _, line, ok := bytes.Cut(t.buf, []byte("panic: ")); ok {
			line, _, _ = bytes.Cut(line, []byte("\n"))
			t.panic = "panic: " + string(line)
		}
	}
	if n := len(t.buf); n > tailBytes {
		t.buf = append(t.buf[:0], t.buf[n-tailBytes:]...)
	}
	return len(b), nil
}

// String returns the line of a panic, or else the last line written.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.panic != "" {
		return t.panic
	}
	lines := bytes.Split(bytes.TrimSpace(t.buf), []byte("\n"))
	return strings.TrimSpace(string(lines[len(lines)-1]))
}
