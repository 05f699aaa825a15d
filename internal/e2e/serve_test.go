//go:build e2e

package e2e

import (
	"slices"
	"strings"
	"syscall"
	"testing"
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

// TestServeLoses: a nodesim that dies under a bench ends the bench and the
// cluster, and both name it.
func TestServeLoses(t *testing.T) {
	c := serve(t, "--nodes", "2")
	nodesims := []*program{c.nodesim(t, "0"), c.nodesim(t, "1")}
	bench := start(t, "coordinator", "bench", "all_reduce", "--connect", c.service, "-b", "1M", "-e", "8G", "-f", "2", "--quiet")
	bench.await(bench.stdout, `(?m)^ +1048576 .*\n`)
	at := nodesims[1].signal(syscall.SIGKILL)
	for _, p := range []*program{bench, c.serve} {
		if code := p.wait(); code != 1 || !strings.Contains(p.stderr.String(), "node 1 lost") || len(p.stderr.lines()) != 1 {
			t.Errorf("%v ended with code %d and %q, want 1 and a line that names the node", p.cmd.Args, code, p.stderr)
		}
		if took := p.ended.Sub(at); took > crash {
			t.Errorf("%v ended %v later, want at most %v", p.cmd.Args, took, crash)
		}
	}
	nodesims[0].wait()
}
