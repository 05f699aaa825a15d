//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// long starts a bench that goes on for long after its first row, and returns
// when that is there: from then on it is in the middle of a run.
func long(t *testing.T, more ...string) *program {
	t.Helper()
	args := []string{"bench", "all_reduce", "-b", "1M", "-e", "8G", "-f", "2", "--nodes", "4", "--quiet"}
	p := start(t, "coordinator", append(args, more...)...)
	p.await(p.stdout, `(?m)^ +1048576 .*\n`)
	return p
}

// TestCoordinatorKilled: a coordinator that is killed takes its nodesims with
// it.
func TestCoordinatorKilled(t *testing.T) {
	p := long(t)
	p.running(5)
	p.signal(os.Kill)
	p.wait()
	p.nothingLeft(crash)
}

// TestNodesimKilled: a nodesim that is killed ends the run, with one line that
// names it.
func TestNodesimKilled(t *testing.T) {
	p := long(t)
	at := time.Now()
	if err := syscall.Kill(p.pid(1), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if code := p.wait(); code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	if took := p.ended.Sub(at); took > crash {
		t.Errorf("ended %v after the nodesim, want at most %v", took, crash)
	}
	p.nothingLeft(0)
	said := p.stderr.lines()
	if want := regexp.MustCompile(`^coordinator: failed: peer-lost: node 1 lost: .*killed`); len(said) != 1 || !want.MatchString(said[0]) {
		t.Errorf("stderr is %q, want one line like %v", said, want)
	}
}

// TestNodesimStopped: a nodesim that is stopped ends the run, with one line that
// names it and says how long it took to notice, and is not left behind.
func TestNodesimStopped(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out.json")
	p := long(t, "-J", out)
	at := time.Now()
	if err := syscall.Kill(p.pid(1), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if code := p.wait(); code != 2 {
		t.Errorf("exit code %d, want 2", code)
	}
	if took := p.ended.Sub(at); took > freeze {
		t.Errorf("ended %v after the nodesim was stopped, want at most %v", took, freeze)
	}
	p.nothingLeft(0)
	said := p.stderr.lines()
	if want := regexp.MustCompile(`^coordinator: failed: timeout: node 1 lost: process node1 .* \(wall time\)`); len(said) != 1 || !want.MatchString(said[0]) {
		t.Errorf("stderr is %q, want one line like %v", said, want)
	}
	var doc struct {
		Railyard struct {
			Failure struct {
				Cause, Member string
				Detect        float64 `json:"detect_wall_seconds"`
			}
		}
	}
	text, err := os.ReadFile(out)
	if err == nil {
		err = json.Unmarshal(text, &doc)
	}
	if f := doc.Railyard.Failure; err != nil || f.Cause != "timeout" || f.Member != "node1" || f.Detect <= 0 || f.Detect > freeze.Seconds() {
		t.Errorf("%v: the JSON says %+v", err, f)
	}
}

// TestKilledWithStopped: a coordinator that is killed takes with it a nodesim
// that is stopped as well. Only Linux can do that.
func TestKilledWithStopped(t *testing.T) {
	p := long(t)
	if err := syscall.Kill(p.pid(1), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	p.signal(os.Kill)
	p.wait()
	p.nothingLeft(crash)
}

// TestInterrupted: Ctrl-C ends everything, whatever it was doing: in the middle
// of a run, while nodesims start, and when one of them does not react.
func TestInterrupted(t *testing.T) {
	for _, test := range []struct {
		name  string
		start func(t *testing.T) *program
	}{
		{"run", func(t *testing.T) *program { return long(t) }},
		{"start", func(t *testing.T) *program {
			p := start(t, "coordinator", "bench", "all_reduce", "--nodes", "8")
			p.await(p.stderr, "starting nodesims")
			p.running(2)
			return p
		}},
		{"stopped nodesim", func(t *testing.T) *program {
			p := long(t)
			if err := syscall.Kill(p.pid(2), syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			return p
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := test.start(t)
			at := p.signal(os.Interrupt)
			if code := p.wait(); code != 2 {
				t.Errorf("exit code %d, want 2", code)
			}
			if took := p.ended.Sub(at); took > interrupt {
				t.Errorf("ended after %v, want at most %v", took, interrupt)
			}
			p.nothingLeft(0)
			if said := p.stderr.lines(); !strings.Contains(said[len(said)-1], "interrupted") {
				t.Errorf("stderr is %q, want it to end with \"interrupted\"", said)
			}
		})
	}
}
