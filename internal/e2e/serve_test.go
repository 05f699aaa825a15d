//go:build e2e

package e2e

import (
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// cluster is one that is started by hand.
type cluster struct {
	serve         *program
	service, join string
}

// serve starts a coordinator that waits for nodes.
func serve(t *testing.T, args ...string) cluster {
	t.Helper()
	c := cluster{serve: start(t, "coordinator", append([]string{"serve"}, args...)...)}
	c.service = c.serve.await(c.serve.stdout, `serving on (\S+)\n`)[1]
	c.join = c.serve.await(c.serve.stdout, `join at (\S+)\n`)[1]
	return c
}

// nodesim starts a nodesim of a cluster.
func (c *cluster) nodesim(t *testing.T, nodes string) *program {
	t.Helper()
	return start(t, "nodesim", "--join", c.join, "--nodes", nodes)
}

// status asks a coordinator what it says of its cluster.
func (c *cluster) status(t *testing.T) string {
	t.Helper()
	return run(t, 0, "coordinator", "status", "--connect", c.service).stdout.String()
}

// TestServe: a cluster that is put together by hand runs benches by the same
// law, says who is there, and ends with its coordinator.
func TestServe(t *testing.T) {
	c := serve(t, "--nodes", "4", "--gpus-per-node", "2")
	if s := c.status(t); !strings.Contains(s, "waiting for nodes") || strings.Count(s, "missing") != 4 {
		t.Errorf("status before there is anybody:\n%s", s)
	}
	var nodesims []*program
	for _, nodes := range []string{"2-3", "0", "1"} {
		nodesims = append(nodesims, c.nodesim(t, nodes))
	}
	args := []string{"all_reduce", "-b", "1K", "-e", "64K", "-f", "64"}
	for range 2 {
		got := timeline(t, slices.Concat([]string{"bench", "--connect", c.service}, args)...)
		want := timeline(t, slices.Concat([]string{"predict", "--nodes", "4", "--gpus-per-node", "2"}, args)...)
		same(t, "a cluster started by hand", got, want)
	}
	if s := c.status(t); !strings.Contains(s, "idle") || strings.Count(s, "ready") != 4 {
		t.Errorf("status with everybody there:\n%s", s)
	}
	c.end(t, nodesims)
}

// end ends a cluster by SIGTERM; its nodesims end well, by themselves.
func (c *cluster) end(t *testing.T, nodesims []*program) {
	t.Helper()
	at := c.serve.signal(syscall.SIGTERM)
	if code := c.serve.wait(); code != 0 {
		t.Errorf("serve ended with code %d\n%s", code, c.serve.stderr)
	}
	if took := c.serve.ended.Sub(at); took > interrupt {
		t.Errorf("serve ended after %v, want at most %v", took, interrupt)
	}
	for _, p := range nodesims {
		if code := p.wait(); code != 0 || p.stderr.String() != "" {
			t.Errorf("%v ended with code %d and %q", p.cmd.Args, code, p.stderr)
		}
		if took := p.ended.Sub(at); took > crash {
			t.Errorf("%v ended %v later, want at most %v", p.cmd.Args, took, crash)
		}
	}
}

// TestServeLoses: a nodesim that is killed, or stopped, under a bench ends the
// bench, which names it, and so does status. Started again under its name it
// takes its old place, and the cluster, whose other processes were there all the
// time, runs as before. One that was stopped and goes on finds its place taken.
func TestServeLoses(t *testing.T) {
	for _, test := range []struct {
		name   string
		signal syscall.Signal
		within time.Duration
		code   int
	}{
		{"killed", syscall.SIGKILL, crash, 1},
		{"stopped", syscall.SIGSTOP, freeze, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := serve(t, "--nodes", "3", "--gpus-per-node", "2")
			nodesims := []*program{c.nodesim(t, "0"), c.nodesim(t, "1"), c.nodesim(t, "2")}
			p := start(t, "coordinator", "bench", "all_reduce", "--connect", c.service, "-b", "1M", "-e", "8G", "-f", "2", "--quiet")
			p.await(p.stdout, `(?m)^ +1048576 .*\n`)
			old := nodesims[1]
			at := old.signal(test.signal)
			if code := p.wait(); code != test.code || !strings.Contains(p.stderr.String(), "node 1 lost") || len(p.stderr.lines()) != 1 {
				t.Errorf("%v ended with code %d and %q, want %d and a line that names the node", p.cmd.Args, code, p.stderr, test.code)
			}
			if took := p.ended.Sub(at); took > test.within {
				t.Errorf("%v ended %v later, want at most %v", p.cmd.Args, took, test.within)
			}
			if s := c.status(t); !strings.Contains(s, "node 1 lost") || !strings.Contains(s, "wall time") {
				t.Errorf("status after the loss:\n%s", s)
			}
			nodesims[1] = c.nodesim(t, "1")
			c.idle(t)
			args := []string{"all_reduce", "-b", "1K", "-e", "1K"}
			got := timeline(t, slices.Concat([]string{"bench", "--connect", c.service}, args)...)
			want := timeline(t, slices.Concat([]string{"predict", "--nodes", "3", "--gpus-per-node", "2"}, args)...)
			same(t, "a cluster with a process started again", got, want)
			if test.signal == syscall.SIGSTOP {
				old.signal(syscall.SIGCONT)
				if code := old.wait(); code == 0 || !strings.Contains(old.stderr.String(), "hosted already") {
					t.Errorf("the one that was stopped ended with code %d and %q", code, old.stderr)
				}
				c.idle(t)
			}
			c.end(t, nodesims)
		})
	}
}

// idle waits until a cluster is ready for a bench.
func (c *cluster) idle(t *testing.T) {
	t.Helper()
	for late := time.Now().Add(bound); !strings.Contains(c.status(t), "idle"); {
		if time.Now().After(late) {
			t.Fatalf("the cluster is not ready:\n%s\n%s", c.status(t), c.serve.stderr)
		}
	}
}
