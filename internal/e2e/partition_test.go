//go:build e2e

package e2e

import (
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestPartition: a partition on a cluster that stays cuts the processes' gossip as
// well as what they emulate: status says who does not hear whom, as each of them says,
// a bench across it fails by it, and no process is given up. Taken back, all is whole,
// and the same processes run a bench as if nothing had been.
func TestPartition(t *testing.T) {
	s := up(t, "--nodes", "4", "--gpus-per-node", "2")
	first := s.bench(0)
	run(t, 0, "coordinator", "fault", "add", "partition", "node0-1 | node2-3")
	s.status("cut off: coordinator, node0, node1: no gossip from node2, node3\n", "cut off: node2, node3: no gossip from coordinator, node0, node1\n")
	if p := s.bench(1); !strings.Contains(p.stdout.String(), "a partition keeps node0-1 | node2-3 apart") {
		t.Errorf("a bench across a partition:\n%s", p.stdout)
	}
	s.status("cut off: coordinator, node0, node1: no gossip from node2, node3\n")
	run(t, 0, "coordinator", "fault", "remove", "partition-1")
	s.status()
	again := s.bench(0)
	if again.rows() != first.rows() || first.rows() == "" {
		t.Errorf("after the partition:\n%s\nbefore it:\n%s", again.rows(), first.rows())
	}
	for node := range 4 {
		if a, b := first.pid(node), again.pid(node); a != b {
			t.Errorf("node %d was hosted by process %d and is by %d", node, a, b)
		}
	}
	run(t, 0, "coordinator", "fault", "add", "partition", "node0 | node1-3")
	s.status("no gossip from node1, node2, node3\n")
	if p := run(t, 0, "coordinator", "down"); p.ended.Sub(p.began) > interrupt {
		t.Errorf("down of a cluster that is cut took %v, want at most %v", p.ended.Sub(p.began), interrupt)
	}
	s.detach.nothingLeft(0)
}

// status waits until the cluster says all these of who is cut off, or that nobody is;
// meanwhile all its nodes are ready.
func (s *standing) status(want ...string) {
	s.t.Helper()
	for late := time.Now().Add(bound); ; {
		out := run(s.t, 0, "coordinator", "status").stdout.String()
		if strings.Count(out, " ready ") != 4 || strings.Contains(out, "\nlost: ") {
			s.t.Fatalf("not all are ready:\n%s", out)
		}
		missing := len(want) == 0 && strings.Contains(out, "gossip")
		for _, w := range want {
			missing = missing || !strings.Contains(out, w)
		}
		if !missing {
			return
		}
		if time.Now().After(late) {
			s.t.Fatalf("want %q:\n%s", want, out)
		}
	}
}

// TestPartitionLeft: a coordinator that is killed while its cluster is cut takes all
// processes with it, its own and those that have joined from elsewhere, on either side.
func TestPartitionLeft(t *testing.T) {
	t.Run("up", func(t *testing.T) {
		s := start(t, "coordinator", "up", "--nodes", "3", "--gpus-per-node", "2")
		addr := s.await(s.stdout, `serving on (\S+)\n`)[1]
		parted(t, addr)
		s.signal(syscall.SIGKILL)
		s.wait()
		s.nothingLeft(crash)
	})
	t.Run("interrupt", func(t *testing.T) {
		s := start(t, "coordinator", "up", "--nodes", "3", "--gpus-per-node", "2")
		parted(t, s.await(s.stdout, `serving on (\S+)\n`)[1])
		at := s.signal(syscall.SIGINT)
		s.wait()
		if took := s.ended.Sub(at); took > interrupt {
			t.Errorf("ended after %v, want at most %v", took, interrupt)
		}
		s.nothingLeft(0)
	})
	t.Run("serve", func(t *testing.T) {
		c := serve(t, "--nodes", "3", "--gpus-per-node", "2")
		nodesims := []*program{c.nodesim(t, "0"), c.nodesim(t, "1"), c.nodesim(t, "2")}
		c.idle(t)
		parted(t, c.service)
		at := c.serve.signal(syscall.SIGKILL)
		for _, p := range nodesims {
			p.wait()
			if took := p.ended.Sub(at); took > crash {
				t.Errorf("%v ended %v later, want at most %v", p.cmd.Args, took, crash)
			}
		}
	})
}

// near and far are what status says of a cut trio, whatever its processes are called.
var (
	near = regexp.MustCompile(`(?m)^cut off: coordinator, \S+0: no gossip from \S+1, \S+2$`)
	far  = regexp.MustCompile(`(?m)^cut off: \S+1, \S+2: no gossip from coordinator, \S+0$`)
)

// parted cuts a cluster of three and waits until all have noticed.
func parted(t *testing.T, addr string) {
	t.Helper()
	run(t, 0, "coordinator", "fault", "add", "partition", "node0 | node1-2", "--connect", addr)
	c := cluster{service: addr}
	for late := time.Now().Add(bound); ; {
		out := c.status(t)
		if near.MatchString(out) && far.MatchString(out) {
			return
		}
		if time.Now().After(late) {
			t.Fatalf("nobody notices:\n%s", out)
		}
	}
}

// TestStoppedWhileParted: a process that is stopped while gossip can not tell of it is
// found by the coordinator, and another takes its place.
func TestStoppedWhileParted(t *testing.T) {
	c := serve(t, "--nodes", "3", "--gpus-per-node", "2")
	nodesims := []*program{c.nodesim(t, "0"), c.nodesim(t, "1"), c.nodesim(t, "2")}
	c.idle(t)
	parted(t, c.service)
	nodesims[2].signal(syscall.SIGSTOP)
	for late := time.Now().Add(bound); !strings.Contains(c.status(t), "node 2 lost"); {
		if time.Now().After(late) {
			t.Fatalf("nobody notices:\n%s", c.status(t))
		}
	}
	nodesims[2].signal(syscall.SIGKILL)
	nodesims[2] = c.nodesim(t, "2")
	c.idle(t)
	run(t, 0, "coordinator", "fault", "reset", "--connect", c.service)
	run(t, 0, "coordinator", "bench", "all_reduce", "--connect", c.service, "-b", "1K", "-e", "1K")
	c.end(t, nodesims)
}
