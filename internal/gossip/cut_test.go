package gossip

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/memberlist"

	"github.com/railyard/railyard/internal/gossip/memnet"
)

// split is a network that is cut between the coordinator with some nodes and the
// nodesims of others.
type split struct {
	near, far       Nodes
	nearBy, farAway []*Roster
}

// cut tells everybody of a cut off the nodes from first on.
func (y *yard) cut(first int) split {
	s := split{near: upTo(first), far: Nodes{{first, len(y.sims) - 1}}}
	s.nearBy = append([]*Roster{y.seed}, y.sims[:first]...)
	s.farAway = slices.Clone(y.sims[first:])
	for _, r := range s.nearBy {
		r.Cut(Beyond{Nodes: s.far})
	}
	for _, r := range s.farAway {
		r.Cut(Beyond{Nodes: s.near, Coordinators: true})
	}
	return s
}

func (s *split) mend() {
	for _, r := range slices.Concat(s.nearBy, s.farAway) {
		r.Cut(Beyond{})
	}
}

// parted waits until each side sees its own alone, and returns how long it took.
func (y *yard) parted(s split) time.Duration {
	y.t.Helper()
	began := time.Now()
	apart := func() bool {
		return !slices.ContainsFunc(s.nearBy, func(r *Roster) bool { return len(r.Members()) != len(s.nearBy) }) &&
			!slices.ContainsFunc(s.farAway, func(r *Roster) bool { return len(r.Members()) != len(s.farAway) })
	}
	for !apart() {
		if time.Since(began) > time.Minute {
			y.t.Fatalf("the coordinator sees %v, the other side %v", y.seed.names(), s.farAway[0].names())
		}
		time.Sleep(100 * time.Millisecond)
	}
	return time.Since(began)
}

// TestCutApart: each side of a cut takes the other for dead, and neither for ended:
// knocking at it refutes nothing and strikes out nobody. When the cut is mended all
// see all again, promptly, however long it was.
func TestCutApart(t *testing.T) {
	for _, test := range []struct {
		nodes, first int
		lasts        time.Duration
	}{{3, 2, 0}, {4, 2, 0}, {8, 1, 0}, {2, 0, 0}, {4, 2, time.Minute}, {4, 2, 3 * time.Minute}} {
		inYard(t, func(y *yard) {
			for i := range test.nodes {
				y.sim(i)
			}
			y.acquainted(test.nodes)
			events := y.seed.Watch(y.t.Context())
			for range test.nodes {
				next(events)
			}
			s := y.cut(test.first)
			took := y.parted(s)
			for range s.farAway {
				if e := next(events); e.Kind != Died || !slices.ContainsFunc(s.farAway, func(r *Roster) bool { return r.Addr() == e.Member.Addr }) {
					t.Errorf("the coordinator sees %s %s", e.Member.Name, e.Kind)
				}
			}
			time.Sleep(test.lasts)
			for _, r := range slices.Concat(s.nearBy, s.farAway) {
				r.ledger.mu.Lock()
				if len(r.ledger.ended) > 0 {
					t.Errorf("knocking has struck out %v, whose processes have not ended", r.ledger.ended)
				}
				r.ledger.mu.Unlock()
			}
			mended := time.Now()
			s.mend()
			y.reunite()
			if d := time.Since(mended); d > time.Second { // a few rounds of eager seeking
				t.Errorf("all met again after %v", d)
			}
			t.Logf("%d of %d nodes cut off: noticed after %v", test.nodes-test.first, test.nodes, took)
		})
	}
}

// TestCutThree: of three sides nobody sees another, and a cut that becomes another
// one is that.
func TestCutThree(t *testing.T) {
	inYard(t, func(y *yard) {
		for i := range 3 {
			y.sim(i)
		}
		y.acquainted(3)
		y.seed.Cut(Beyond{Nodes: Nodes{{1, 2}}})
		for i, r := range y.sims {
			r.Cut(Beyond{Nodes: without3(i), Coordinators: i > 0})
		}
		y.parted(split{nearBy: []*Roster{y.seed, y.sims[0]}, farAway: nil})
		y.parted(split{farAway: y.sims[1:2]})
		y.parted(split{farAway: y.sims[2:]})
		y.cut(2)
		if !y.seed.ledger.severed(y.sims[2].Addr()) {
			t.Error("one that is taken for dead already is in reach of another cut")
		}
		y.parted(split{nearBy: []*Roster{y.seed, y.sims[0], y.sims[1]}, farAway: y.sims[2:]})
		s := y.cut(3) // everybody is on one side
		s.mend()
		y.reunite()
	})
}

// without3 is nodes 0 to 2 without one.
func without3(i int) Nodes {
	all := []int{0, 1, 2}
	return List(slices.Delete(all, i, i+1)...)
}

// TestCutBothSides: a process that hosts nodes of both sides is on both, and carries
// gossip across: others answer by way of it.
func TestCutBothSides(t *testing.T) {
	inYard(t, func(y *yard) {
		y.sim(0)
		both := nodesim(Loopback(), 1)
		both.Meta.Nodes = List(1, 2)
		y.start(joining(both, y.seed))
		y.sim(3)
		y.acquainted(4)
		y.seed.Cut(Beyond{Nodes: Nodes{{2, 3}}})
		y.sims[0].Cut(Beyond{Nodes: Nodes{{2, 3}}})
		y.sims[2].Cut(Beyond{Nodes: Nodes{{0, 1}}, Coordinators: true})
		for _, addr := range []string{y.seed.Addr(), y.sims[0].Addr()} {
			if !y.sims[2].ledger.severed(addr) || y.sims[1].ledger.severed(addr) {
				t.Errorf("%s is not cut off node3 alone", addr)
			}
		}
		if a := y.sims[1].Addr(); y.seed.ledger.severed(a) || y.sims[2].ledger.severed(a) {
			t.Error("the process on both sides is cut off one of them")
		}
		time.Sleep(time.Minute)
		for _, r := range append(y.sims, y.seed) {
			if len(r.Members()) != 4 {
				t.Errorf("%v are seen, though one carries gossip across", r.names())
			}
		}
		y.seed.Cut(Beyond{})
		y.sims[0].Cut(Beyond{})
		y.sims[2].Cut(Beyond{})
		y.reunite()
	})
}

// TestJoinerDuringCut: a process that starts while the network is cut belongs to the
// side of its nodes, whoever it joins: the other one does not take it in before the
// cut is mended.
func TestJoinerDuringCut(t *testing.T) {
	inYard(t, func(y *yard) {
		for i := range 4 {
			y.sim(i)
		}
		y.acquainted(4)
		s := y.cut(2)
		y.parted(s)
		events := y.seed.Watch(y.t.Context())
		for range 2 {
			next(events)
		}

		c := nodesim(Loopback(), 5)
		c.Join = []string{y.sims[3].Addr()}
		for _, r := range s.nearBy {
			r.Cut(Beyond{Nodes: Nodes{{2, 5}}})
		}
		y.start(c)
		stranger := nodesim(Loopback(), 5)
		stranger.Name, stranger.JoinTimeout = "stranger", time.Second
		stranger.Join = []string{y.seed.Addr()}
		stranger.Transport = y.net.Listen()
		if r, err := Start(context.Background(), stranger); err == nil {
			y.sims = append(y.sims, r)
		} else if !errors.As(err, new(*JoinError)) {
			t.Error(err)
		}
		time.Sleep(30 * time.Second)
		for _, r := range s.nearBy {
			if got := r.names(); !slices.Equal(got, []string{"coordinator", "node0", "node1"}) {
				t.Errorf("%v are seen from the coordinator's side", got)
			}
		}
		select {
		case e := <-events:
			t.Errorf("the coordinator saw %s %s", e.Member.Name, e.Kind)
		default:
		}
		if _, err := s.farAway[0].WaitFor(context.Background(), List(2, 3, 5)); err != nil {
			t.Error(err)
		}
		s.mend()
		y.reunite()
	})
}

// TestCrashDuringCut: that a process of one's own side has ended is known as soon as
// ever; one that has ended on the other side is not back when the cut is mended.
func TestCrashDuringCut(t *testing.T) {
	inYard(t, func(y *yard) {
		for i := range 6 {
			y.sim(i)
		}
		y.acquainted(6)
		s := y.cut(3)
		events := y.seed.Watch(y.t.Context())
		for range 6 {
			next(events)
		}
		began := time.Now()
		y.sims[1].Close()
		for e := next(events); e.Member.Name != "node1"; e = next(events) {
		}
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("known after %v", took)
		}
		y.sims[4].Close()
		y.sims = slices.Delete(slices.Delete(y.sims, 4, 5), 1, 2)
		s.nearBy = []*Roster{y.seed, s.nearBy[1], s.nearBy[3]}
		s.farAway = []*Roster{s.farAway[0], s.farAway[2]}
		y.parted(s)
		s.mend()
		y.reunite()
	})
}

// TestAddressTaken: the address of a process of the other side is out of reach until
// it is that of one of this side.
func TestAddressTaken(t *testing.T) {
	l := newLedger("self~1", "c1", (&Config{}).logger())
	l.cutOff(Beyond{Nodes: List(1)})
	meet := func(node int) {
		m := nodesim(Loopback(), node).Meta
		m.Name = "n"
		meta, err := m.encode()
		if err != nil {
			t.Fatal(err)
		}
		err = gatekeeper{l}.NotifyAlive(&memberlist.Node{Name: wireName("n", fmt.Sprint(node)), Addr: net.IPv4(127, 0, 0, 1), Port: 7, Meta: meta})
		if far := node == 1; far != (err != nil) || far != l.severed("127.0.0.1:7") {
			t.Errorf("node%d: %v, severed %v", node, err, l.severed("127.0.0.1:7"))
		}
	}
	meet(0)
	meet(1)
	meet(2)
	meet(1)
}

// TestClosedDuringCut: who leaves while the network is cut takes no longer for it.
func TestClosedDuringCut(t *testing.T) {
	inYard(t, func(y *yard) {
		for i := range 4 {
			y.sim(i)
		}
		y.acquainted(4)
		s := y.cut(2)
		for _, r := range slices.Concat(s.farAway, s.nearBy) {
			began := time.Now()
			r.Leave(2 * time.Second)
			r.Close()
			if took := time.Since(began); took > 2500*time.Millisecond {
				t.Errorf("%v to leave", took)
			}
		}
	})
}

// TestCutSockets: the same on real sockets. It waits for events, never for a time.
func TestCutSockets(t *testing.T) {
	seed := mustStart(t, coordinator(Loopback()))
	near := mustStart(t, joining(nodesim(Loopback(), 0), seed))
	far := mustStart(t, joining(nodesim(Loopback(), 1), seed))
	for _, r := range []*Roster{seed, near, far} {
		if _, err := r.WaitFor(t.Context(), upTo(2)); err != nil {
			t.Fatal(err)
		}
	}
	here, there := seed.Watch(t.Context()), far.Watch(t.Context())
	await := func(events <-chan Event, k EventKind, names ...string) {
		t.Helper()
		for e := range events {
			if i := slices.Index(names, e.Member.Name); i >= 0 && e.Kind == k {
				names = slices.Delete(names, i, i+1)
			}
			if len(names) == 0 {
				return
			}
		}
		t.Fatalf("never heard that %v %s", names, k)
	}
	await(here, Joined, "node1")
	await(there, Joined, "coordinator", "node0")
	seed.Cut(Beyond{Nodes: List(1)})
	near.Cut(Beyond{Nodes: List(1)})
	far.Cut(Beyond{Nodes: List(0), Coordinators: true})
	await(here, Died, "node1")
	await(there, Died, "coordinator", "node0")
	for _, r := range []*Roster{seed, near, far} {
		r.Cut(Beyond{})
	}
	await(here, Joined, "node1")
	await(there, Joined, "coordinator", "node0")
	leaveAll(far, near, seed)
}

// TestSeverable: nothing passes between cut addresses, and a dial to one fails in
// another way than at a process that has ended.
func TestSeverable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := memnet.New()
		a, b, c := n.Listen(), n.Listen(), n.Listen()
		s := newSeverable(a, func(addr string) bool { return addr == b.String() })
		for _, from := range []*memnet.Transport{b, c} {
			if _, err := from.WriteTo([]byte("x"), a.String()); err != nil {
				t.Error(err)
			}
			if _, err := s.WriteTo([]byte("x"), from.String()); err != nil {
				t.Error(err)
			}
		}
		if p := <-s.PacketCh(); p.From.String() != c.String() {
			t.Errorf("a packet from %v", p.From)
		}
		if len(b.PacketCh()) != 0 || len(c.PacketCh()) != 1 {
			t.Errorf("%d and %d packets got out", len(b.PacketCh()), len(c.PacketCh()))
		}
		if _, err := s.DialTimeout(b.String(), time.Second); err == nil || refused(err) {
			t.Errorf("dialling one that is cut off: %v", err)
		}
		if _, err := s.DialTimeout("127.0.0.1:99", time.Second); !refused(err) {
			t.Errorf("dialling nobody: %v", err)
		}
		if err := s.Shutdown(); err != nil {
			t.Error(err)
		}
	})
}
