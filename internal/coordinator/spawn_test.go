package coordinator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/railyard/railyard/internal/gossip"
	"github.com/railyard/railyard/internal/wire"
)

// TestSpread: every node has one process, every process neighbours, and none
// has two nodes more than another.
func TestSpread(t *testing.T) {
	for nodes := 1; nodes <= 40; nodes++ {
		for procs := 1; procs <= nodes; procs++ {
			next, least, most := 0, nodes, 0
			for _, share := range spread(nodes, procs) {
				least, most = min(least, share.Len()), max(most, share.Len())
				for n := range share.All() {
					if n != next {
						t.Fatalf("%d nodes over %d processes: node %d where %d was due", nodes, procs, n, next)
					}
					next++
				}
			}
			if next != nodes || least == 0 || most-least > 1 {
				t.Errorf("%d nodes over %d processes: %d placed, %d to %d a process", nodes, procs, next, least, most)
			}
		}
	}
}

// TestFindNodesim: a path that was given is taken or refused, never replaced.
func TestFindNodesim(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	if _, err := findNodesim(""); cause(t, err).Cause != wire.Config || !strings.Contains(err.Error(), "--nodesim") {
		t.Errorf("none anywhere: %v", err)
	}
	path := filepath.Join(dir, "nodesim")
	if err := os.WriteFile(path, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	if got, err := findNodesim(""); got != path || err != nil {
		t.Errorf("on PATH: %q, %v", got, err)
	}
	wrong := filepath.Join(dir, "nodesin")
	if _, err := findNodesim(wrong); cause(t, err).Cause != wire.Config || !strings.Contains(err.Error(), "--nodesim "+wrong) {
		t.Errorf("not where it was said to be: %v", err)
	}
	if _, err := spawn(dir, gossip.List(0), "127.0.0.1:1", "x", false, nil); cause(t, err).Cause != wire.Config {
		t.Errorf("a directory: %v", err)
	}
}

// TestTail: what a process said last is kept, however much came before.
func TestTail(t *testing.T) {
	var said tail
	for i := range 10_000 {
		fmt.Fprintf(&said, "line %d\n", i)
	}
	if got := said.String(); got != "line 9999" || len(said.buf) > tailBytes {
		t.Errorf("%q of %d bytes", got, len(said.buf))
	}
}

// TestStartRefused: what Start was told wrong, and a user who gives up, end it
// before anything is started.
func TestStartRefused(t *testing.T) {
	for _, procs := range []int{-1, 4} {
		_, err := Start(t.Context(), Config{Cluster: trio(), Procs: procs, Version: version, Gossip: gossip.Loopback()})
		if f := cause(t, err); f.Cause != wire.Config || !strings.Contains(f.Text, fmt.Sprintf("--procs %d", procs)) {
			t.Errorf("%d processes for three nodes: %v", procs, err)
		}
	}
	bad := trio()
	bad.Groups[0].System = "abacus"
	if _, err := Start(t.Context(), Config{Cluster: bad, Version: version, Gossip: gossip.Loopback()}); cause(t, err).Cause != wire.Config {
		t.Errorf("an unknown system: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err := Start(ctx, Config{Cluster: trio(), Version: version, Gossip: gossip.Loopback(), Entered: func(string) { cancel() }})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a user who gave up: %v", err)
	}
}

// A panic is what a process ended of, not the last line of its stack.
func TestTailKeepsThePanic(t *testing.T) {
	var said tail
	fmt.Fprintf(&said, "hello\npanic: kernel: a frame too early\n\ngoroutine 1 [running]:\n")
	for i := range 1000 {
		fmt.Fprintf(&said, "frame %d of the stack\n", i)
	}
	if got := said.String(); got != "panic: kernel: a frame too early" {
		t.Errorf("%q", got)
	}
}

// TestStillborn: a process that ends before its session says whose fault that was: the
// user's where it says so, the emulation's where it crashes, or is no nodesim.
func TestStillborn(t *testing.T) {
	for _, test := range []struct {
		does string
		code int
	}{{"exit 64", 64}, {"exit 1", 2}, {"exit 2", 2}, {"exit 0", 2}, {"kill -9 $$", 1}} {
		p := &process{name: "node0", nodes: gossip.List(0), cmd: exec.Command("sh", "-c", test.does), done: make(chan struct{})}
		if p.err = p.cmd.Run(); p.cmd.Process == nil {
			t.Skip(p.err)
		}
		close(p.done)
		how, ok := p.ended(t.Context(), bound)
		if f := p.stillborn(how); !ok || f.ExitCode() != test.code {
			t.Errorf("%s: exit code %d, want %d: %v", test.does, f.ExitCode(), test.code, f)
		}
	}
}
