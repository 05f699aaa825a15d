package coordinator

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/internal/gossip"
	"github.com/railyard/railyard/internal/wire"
	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
	"github.com/railyard/railyard/shaping"
)

// said puts rifts into words.
func said(all []*railyardv1.Rift) string {
	var lines []string
	for _, r := range all {
		lines = append(lines, fmt.Sprintf("%v from %v, parted %v, noticed %v", r.GetMembers(), r.GetFrom(), r.GetParted(), r.GetNoticed()))
	}
	return strings.Join(lines, "; ")
}

// split is what is said of the second and third node of a trio that are cut off, once
// gossip has noticed.
const split = "[coordinator node0] from [node1 node2], parted true, noticed true; " +
	"[node1 node2] from [coordinator node0], parted true, noticed true"

// shows waits until status says so of who does not hear whom. Meanwhile the cluster is
// whole: nobody is given up.
func (s *served) shows(want string) {
	s.t.Helper()
	c := s.connect()
	for late := time.Now().Add(bound); ; {
		m, err := c.Status(s.t.Context())
		if err != nil {
			s.t.Fatal(err)
		}
		got := said(m.GetRifts())
		if got == want && m.GetState() == railyardv1.ClusterState_CLUSTER_STATE_IDLE {
			for _, p := range m.GetMembers() {
				if !p.GetAlive() {
					s.t.Errorf("%s is said to be lost, while %q", p.GetName(), got)
				}
			}
			return
		}
		if time.Now().After(late) {
			s.t.Fatalf("%v: %s\nwant %s", m.GetState(), got, want)
		}
	}
}

func (s *served) part(when emu.When) {
	s.t.Helper()
	if _, _, err := s.connect().AddFaults(s.t.Context(), emu.Fault{Type: "partition", Target: "node0 | node1-2", When: when}); err != nil {
		s.t.Fatal(err)
	}
}

func (s *served) reset() {
	s.t.Helper()
	if _, _, err := s.connect().RemoveFaults(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
}

// TestServeParted: a partition that is in force keeps the sides' gossip apart, and a
// bench fails by it; nobody is given up for it, and when it is taken back all meet, and
// the same processes run the next bench as if nothing had been.
func TestServeParted(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.works("ring")
	s.shows("")
	s.part(emu.When{})
	s.shows(split)
	if _, err := s.bench(t.Context(), single("ring")); cause(t, err).Cause != wire.LinkDown || !strings.Contains(err.Error(), "partition-1") {
		t.Errorf("a bench across a partition: %v", err)
	}
	s.shows(split)
	s.reset()
	s.shows("")
	s.works("ring")
	if m, err := s.connect().Status(t.Context()); err != nil || m.GetLost() != nil {
		t.Errorf("lost %v, %v", m.GetLost(), err)
	}
}

// TestServePartedLater: between benches the emulated clock stands at the start of the
// next one, where a partition that comes later does not hold, be it that it struck the
// last one.
func TestServePartedLater(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.part(emu.When{At: 20 * us})
	if _, err := s.bench(t.Context(), single("ring")); cause(t, err).Cause != wire.LinkDown {
		t.Errorf("a bench across a partition: %v", err)
	}
	s.shows("")
	s.reset()
	s.part(emu.When{At: shaping.Second})
	if got, err := s.bench(t.Context(), single("ring")); err != nil || !right(got.rows[0].OutOfPlace) {
		t.Errorf("%+v, %v", got.rows, err)
	}
	s.shows("")
}

// TestServeEndsParted: a cluster that ends while it is cut leaves nobody behind.
func TestServeEndsParted(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.works("ring")
	s.part(emu.When{})
	s.shows(split)
	if err := s.connect().Shutdown(t.Context(), "test"); err != nil {
		t.Fatal(err)
	}
	if err := s.wait(); err != nil {
		t.Errorf("serve, after Shutdown: %v", err)
	}
	for i, d := range s.nodes {
		if err := d.wait(t); err != nil {
			t.Errorf("nodesim %d, after Shutdown: %v", i, err)
		}
	}
}

// TestServeGathersParted: a cluster that loses a process of either side while it is
// cut gathers on a whole network, and is cut again when it is complete.
func TestServeGathersParted(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.works("ring")
	for _, lost := range []int{2, 0} {
		s.part(emu.When{})
		s.shows(split)
		s.nodes[lost].stop()
		s.restart(lost)
		s.shows(split)
		s.reset()
		s.works("tree")
		s.shows("")
	}
}

// TestPartingFollowsTheClock: in a run gossip is cut when the emulated clock has passed
// the start of a partition, and whole when it has passed the end.
func TestPartingFollowsTheClock(t *testing.T) {
	t.Parallel()
	bear := emu.DefaultResilience()
	bear.IBTimeout, bear.IBRetry = 4, 2
	for _, test := range []struct {
		when        emu.When
		cause       emu.Cause
		ever, apart bool
	}{
		{emu.When{At: 60 * us}, emu.LinkDown, true, true},
		{emu.When{At: 60 * us, Until: 90 * us}, "", true, false},
		{emu.When{At: 10 * shaping.Second}, "", false, false},
		{emu.When{Until: 30 * us}, "", true, false},
	} {
		for _, procs := range []int{2, 3} {
			r := gather(t, trio(), procs)
			st := wire.Struck{Faults: []emu.Fault{{Type: "partition", Target: "node0 | node1-2", When: test.when}}, Bear: bear, Seed: 1, Horizon: ms}
			x, err := r.Struck(st, nil, true)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), bound)
			defer cancel()
			res, _, err := x.Execute(ctx, struckRuns(x.Fabric().All()))
			if err != nil || (res.Failure == nil) != (test.cause == "") || res.Failure != nil && res.Failure.Cause != test.cause {
				t.Fatalf("%+v: %+v, %v", test.when, res.Failure, err)
			}
			p := &r.parting
			p.mu.Lock()
			last := len(r.members) - 1
			if ever := p.apart != nil; ever != test.ever || ever && (p.apart[0][last] != test.apart || p.met[0][last]) {
				t.Errorf("%+v on %d processes: cut %v, apart %v", test.when, procs, p.apart, p.met)
			}
			p.mu.Unlock()
			for test.apart {
				if rifts := r.rifts(ctx); len(rifts) == 2 && rifts[0].GetNoticed() && rifts[1].GetNoticed() || ctx.Err() != nil {
					break
				}
			}
			if ctx.Err() != nil {
				t.Errorf("%d processes have not noticed: %s", procs, said(r.rifts(t.Context())))
			}
		}
	}
}

// TestSides: who is cut off from whom, by the nodes that processes host.
func TestSides(t *testing.T) {
	for _, test := range []struct {
		name  string
		hosts []gossip.Nodes
		sides [][]int
		apart []string // pairs of participants
	}{
		{"one a process", []gossip.Nodes{gossip.List(0), gossip.List(1), gossip.List(2)}, [][]int{{0, 1, 1}}, []string{"01", "02", "c1", "c2"}},
		{"the coordinator goes with the lowest node", []gossip.Nodes{gossip.List(0), gossip.List(1), gossip.List(2)}, [][]int{{1, 0, 0}}, []string{"01", "02", "c1", "c2"}},
		{"a node of no side reaches all", []gossip.Nodes{gossip.List(0), gossip.List(1), gossip.List(2)}, [][]int{{-1, 0, 1}}, []string{"12", "c2"}},
		{"three sides", []gossip.Nodes{gossip.List(0), gossip.List(1), gossip.List(2)}, [][]int{{0, 1, 2}}, []string{"01", "02", "12", "c1", "c2"}},
		{"two partitions at once", []gossip.Nodes{gossip.List(0), gossip.List(1), gossip.List(2)}, [][]int{{0, 1, -1}, {-1, 0, 1}}, []string{"01", "12", "c1", "c2"}},
		{"a process of both sides is on both", []gossip.Nodes{gossip.List(0), gossip.List(1, 2), gossip.List(3)}, [][]int{{0, 0, 1, 1}}, []string{"02", "c2"}},
		{"a process with a node of no side reaches all", []gossip.Nodes{gossip.List(0), gossip.List(1, 2)}, [][]int{{0, 1, -1}}, nil},
		{"several a side", []gossip.Nodes{gossip.List(0, 1), gossip.List(2, 3)}, [][]int{{0, 0, 1, 1}}, []string{"01", "c1"}},
		{"none", []gossip.Nodes{gossip.List(0), gossip.List(1)}, nil, nil},
	} {
		k := &Cluster{parting: parting{turn: make(chan struct{}, 1)}}
		for i, nodes := range test.hosts {
			k.members = append(k.members, &member{Member: gossip.Member{Nodes: nodes}, index: i})
			k.owners.Node = append(k.owners.Node, slices.Repeat([]int{i}, nodes.Len())...)
		}
		beyond := k.beyond(test.sides)
		var want, got []string
		for _, pair := range test.apart {
			want = append(want, pair, string([]byte{pair[1], pair[0]}))
		}
		for i := range beyond {
			for j := range beyond {
				if k.cutOff(beyond, i, j) {
					name := func(i int) string { return []string{"0", "1", "2", "3"}[i] }
					a, b := "c", "c"
					if i < len(k.members) {
						a = name(i)
					}
					if j < len(k.members) {
						b = name(j)
					}
					got = append(got, a+b)
				}
			}
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: apart are %v, want %v", test.name, got, want)
		}
	}
}

// TestMuteWhileParted: a member that gossip cannot tell of is given up as well when it
// does not answer, but only after it was waited for longer.
func TestMuteWhileParted(t *testing.T) {
	t.Parallel()
	mute, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer mute.Close()
	k := mourned()
	k.ctx, k.log, k.config.Answer = t.Context(), zap.NewNop(), 20*time.Millisecond
	k.parting.turn = make(chan struct{}, 1)
	k.owners.Node = []int{0, 1, 2}
	c := gossip.Loopback()
	c.Name, c.Meta = "coordinator", gossip.Member{Role: gossip.Coordinator, Version: version}
	k.roster, err = gossip.Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer k.roster.Close()
	m := k.members[2]
	if m.conn, err = wire.Dial(nil, mute.Addr().String()); err != nil {
		t.Fatal(err)
	}
	defer m.conn.Close()
	k.part([][]int{{0, 0, 1}})
	began := time.Now()
	k.ask(m, began)
	_, _, err = k.hear(t.Context(), func() string { return "nobody" })
	if f := cause(t, err); f.Cause != wire.Timeout || f.Member != "node2" {
		t.Errorf("%+v", f)
	}
	if waited := time.Since(began); waited < deafness*k.config.Answer {
		t.Errorf("given up after %v", waited)
	}
}
