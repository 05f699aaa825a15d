package gossip

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/railyard/railyard/internal/gossip/memnet"
)

// The tests in this file run under testing/synctest: time is virtual, passes
// only when everybody waits, and nothing sleeps in wall time.

// nodesim is a configuration for a nodesim of one node.
func nodesim(c Config, node int) Config {
	c.Name = fmt.Sprintf("node%d", node)
	c.Meta = Member{
		Role: Nodesim, Cluster: "c1", Version: "v1", GPUs: 8,
		GRPC: fmt.Sprintf("127.0.0.1:%d", 10000+node), Nodes: List(node),
	}
	return c
}

func coordinator(c Config) Config {
	c.Name = "coordinator"
	c.Meta = Member{Role: Coordinator, Cluster: "c1", Version: "v1", GRPC: "127.0.0.1:9999"}
	return c
}

// joining is the configuration c for joining r.
func joining(c Config, r *Roster) Config {
	c.Join = []string{r.Addr()}
	return c
}

func mustStart(tb testing.TB, c Config) *Roster {
	tb.Helper()
	r, err := Start(context.Background(), c)
	if err != nil {
		tb.Error(err)
		panic(err)
	}
	return r
}

// yard is a coordinator and its nodesims on a network in memory.
type yard struct {
	t    *testing.T
	net  *memnet.Network
	seed *Roster
	sims []*Roster
}

// inYard runs f in a bubble, with a coordinator that waits for others.
func inYard(t *testing.T, f func(y *yard)) {
	synctest.Test(t, func(t *testing.T) {
		y := &yard{t: t, net: memnet.New()}
		y.seed = y.start(coordinator(Loopback()))
		f(y)
		for _, r := range append(y.sims, y.seed) {
			r.Close()
		}
		time.Sleep(memnet.Drain)
	})
}

// start starts a process; those that join are closed at the end.
func (y *yard) start(c Config) *Roster {
	y.t.Helper()
	c.Transport = y.net.Listen()
	r := mustStart(y.t, c)
	synctest.Wait() // until the other side has taken note
	if len(c.Join) > 0 {
		y.sims = append(y.sims, r)
	}
	return r
}

// sim starts the nodesim that hosts a node.
func (y *yard) sim(node int) *Roster {
	y.t.Helper()
	return y.start(joining(nodesim(Loopback(), node), y.seed))
}

func (y *yard) expect(nodes int) Expect {
	return Expect{Nodes: nodes, Cluster: "c1", Version: "v1", Deadline: 10 * time.Second}
}

// complete waits for nodes 0 to n-1.
func (y *yard) complete(n int) Assembly {
	y.t.Helper()
	a, err := y.seed.Await(context.Background(), y.expect(n))
	if err != nil {
		y.t.Fatal(err)
	}
	return a
}

// acquainted waits until everybody knows who hosts nodes 0 to n-1.
func (y *yard) acquainted(n int) {
	y.t.Helper()
	for _, r := range append(y.sims, y.seed) {
		if _, err := r.WaitFor(context.Background(), upTo(n)); err != nil {
			y.t.Fatal(err)
		}
	}
}

// next returns the next event that the coordinator sees about others than
// itself.
func next(events <-chan Event) Event {
	for e := range events {
		if e.Member.Role != Coordinator {
			return e
		}
	}
	return Event{}
}

func (y *yard) wantEvent(events <-chan Event, k EventKind, name string) {
	y.t.Helper()
	if e := next(events); e.Kind != k || e.Member.Name != name {
		y.t.Errorf("got %s %s, want %s %s", e.Member.Name, e.Kind, name, k)
	}
}

func TestJoin(t *testing.T) {
	inYard(t, func(y *yard) {
		for i := range 4 {
			y.sim(i)
		}
		a := y.complete(4)
		for i := range 4 {
			if m := a.ByNode[i]; m.Name != fmt.Sprintf("node%d", i) || m.GRPC != fmt.Sprintf("127.0.0.1:%d", 10000+i) {
				t.Errorf("node %d: %+v", i, m)
			}
		}
		for _, r := range y.sims {
			if _, err := r.WaitFor(context.Background(), upTo(4)); err != nil {
				t.Error(err)
			}
			if m, err := r.ByNode(3); err != nil || m.Addr != y.sims[3].Addr() {
				t.Errorf("node 3 is %v, %v", m, err)
			}
			if m, ok := r.Lookup("coordinator"); !ok || m.Addr != y.seed.Addr() {
				t.Errorf("coordinator is %v, %v", m, ok)
			}
		}
		if _, err := y.seed.ByNode(4); errors.As(err, new(*MissingError)) == false {
			t.Errorf("node 4: %v", err)
		}
	})
}

func TestLateMember(t *testing.T) {
	inYard(t, func(y *yard) {
		y.sim(0)
		late := make(chan *Roster)
		go func() {
			time.Sleep(7 * time.Second)
			late <- y.sim(1)
		}()
		start := time.Now()
		y.complete(2)
		<-late
		if waited := time.Since(start); waited < 7*time.Second || waited > 8*time.Second {
			t.Errorf("complete after %v", waited)
		}
	})
}

func TestMissing(t *testing.T) {
	inYard(t, func(y *yard) {
		y.sim(1)
		_, err := y.seed.Await(context.Background(), y.expect(3))
		var m *MissingError
		if !errors.As(err, &m) || m.Nodes.String() != "0,2" || m.Waited != 10*time.Second || m.Join != y.seed.Addr() || Usage(err) {
			t.Errorf("got %v", err)
		}
	})
}

func TestLeaveAndDeath(t *testing.T) {
	inYard(t, func(y *yard) {
		y.sim(0)
		y.sim(1)
		y.sim(2)
		y.complete(3)
		ctx, cancel := context.WithCancel(context.Background())
		events := y.seed.Watch(ctx)
		for i := range 3 { // who is here comes first
			y.wantEvent(events, Joined, fmt.Sprintf("node%d", i))
		}
		y.sims[1].Leave(2 * time.Second)
		y.wantEvent(events, Left, "node1")
		y.sims[1].Close()

		start := time.Now()
		y.sims[2].Close() // a crash, to the others
		y.wantEvent(events, Died, "node2")
		// Each of 2 others probes node2 at least in every second round, and
		// rounds are shuffled: 3 intervals until both have begun to.
		if took, most := time.Since(start), loopback.confirm(3)+2*loopback.probeInterval; took > most {
			t.Errorf("a crash was noticed after %v, want at most %v", took, most)
		}
		if len(y.seed.Members()) != 2 {
			t.Errorf("here: %v", y.seed.Members())
		}
		cancel()
		if _, open := <-events; open {
			t.Error("the channel is open after its context ended")
		}
	})
}

// When all leave at once, as on Ctrl-C, nobody waits for others who are gone,
// and nobody is taken for dead.
func TestAllLeave(t *testing.T) {
	inYard(t, func(y *yard) {
		for i := range 8 {
			y.sim(i)
		}
		y.acquainted(8)
		var wg sync.WaitGroup
		start := time.Now()
		for _, r := range append(y.sims, y.seed) {
			events := r.Watch(context.Background())
			wg.Go(func() {
				for e := range events {
					if e.Kind == Died {
						t.Errorf("to %s %s died", r.Addr(), e.Member.Name)
					}
				}
			})
			wg.Go(func() {
				r.Leave(time.Minute)
				r.Close()
			})
		}
		wg.Wait()
		if took := time.Since(start); took > time.Second {
			t.Errorf("took %v", took)
		}
	})
}

// To a member that is cut off all others die, and it dies to them.
func TestCutOff(t *testing.T) {
	inYard(t, func(y *yard) {
		lone := y.sim(0)
		y.sim(1)
		y.acquainted(2)
		fromSeed, fromLone := y.seed.Watch(context.Background()), lone.Watch(context.Background())
		y.net.Cut(lone.Addr())
		if got := deaths(fromSeed, 1); !slices.Equal(got, []string{"node0"}) {
			t.Errorf("to the coordinator died %v", got)
		}
		if got := deaths(fromLone, 2); !slices.Equal(got, []string{"coordinator", "node1"}) {
			t.Errorf("to node0 died %v", got)
		}
	})
}

// deaths returns the names of the next n who die, in alphabetical order.
func deaths(events <-chan Event, n int) []string {
	var names []string
	for e := range events {
		if e.Kind == Died {
			names = append(names, e.Member.Name)
		}
		if len(names) == n {
			break
		}
	}
	slices.Sort(names)
	return names
}

// A process that is started again under its name counts at once; that its
// predecessor isn't known to be dead yet is no duplicate.
func TestRestart(t *testing.T) {
	inYard(t, func(y *yard) {
		y.sim(0)
		first := y.sim(1)
		y.complete(2)
		first.Close()
		second := y.sim(1)
		if a := y.complete(2); a.ByNode[1].Addr != second.Addr() {
			t.Errorf("node 1 is at %s, want %s", a.ByNode[1].Addr, second.Addr())
		}
	})
}

func TestDuplicate(t *testing.T) {
	inYard(t, func(y *yard) {
		y.sim(0)
		y.sim(1)
		y.sim(1) // the same name, too
		start := time.Now()
		_, err := y.seed.Await(context.Background(), y.expect(2))
		var d *DuplicateError
		if !errors.As(err, &d) || d.Nodes.String() != "1" || len(d.Members) != 2 || d.Members[0].Addr == d.Members[1].Addr || !Usage(err) {
			t.Errorf("got %v", err)
		}
		if waited := time.Since(start); waited > loopback.confirm(4) {
			t.Errorf("took %v to say so", waited)
		}
	})
}

func TestVersionAndSurplusFailAtOnce(t *testing.T) {
	old := nodesim(Loopback(), 1)
	old.Meta.Version = "v0"
	for _, c := range []struct {
		odd  Config
		want any
	}{
		{old, new(*VersionError)},
		{nodesim(Loopback(), 2), new(*SurplusError)},
	} {
		inYard(t, func(y *yard) {
			y.start(joining(c.odd, y.seed))
			start := time.Now()
			_, err := y.seed.Await(context.Background(), y.expect(2))
			if !errors.As(err, c.want) || !Usage(err) || time.Since(start) > 0 {
				t.Errorf("got %v after %v", err, time.Since(start))
			}
		})
	}
}

func TestForeignIsRefusedByBothSides(t *testing.T) {
	inYard(t, func(y *yard) {
		y.sim(0)
		other := nodesim(Loopback(), 1)
		other.Meta.Cluster = "c2"
		other = joining(other, y.seed)
		other.Transport = y.net.Listen()
		_, err := Start(context.Background(), other)
		var f *ForeignError
		if !errors.As(err, &f) || f.Cluster != "c2" || f.Found.Cluster != "c1" || !Usage(err) {
			t.Errorf("the foreigner got %v", err)
		}
		_, err = y.seed.Await(context.Background(), y.expect(2))
		var m *MissingError
		if !errors.As(err, &m) || len(m.Strays) != 1 || m.Strays[0].Name != "node1" || m.Strays[0].Cluster != "c2" {
			t.Errorf("the coordinator got %v", err)
		}
	})
}

// Two clusters stay apart when a third process mentions one to the other.
func TestClustersDoNotMergeThroughGossip(t *testing.T) {
	inYard(t, func(y *yard) {
		c := coordinator(Loopback())
		c.Meta.Cluster = "c2"
		c.Transport = y.net.Listen()
		second := mustStart(t, c)
		defer second.Close()
		// It has no id of its own and is told both addresses. The first makes
		// it a member of c1, the second refuses it.
		c = nodesim(Loopback(), 0)
		c.Meta.Cluster = ""
		c.Join = []string{y.seed.Addr(), second.Addr()}
		r := y.start(c)
		time.Sleep(10 * time.Second)
		if r.Cluster() != "c1" || len(r.Members()) != 2 {
			t.Errorf("cluster %s: %v", r.Cluster(), r.Members())
		}
		if len(y.seed.Members()) != 2 || len(second.Members()) != 1 {
			t.Errorf("c1: %v\nc2: %v", y.seed.Members(), second.Members())
		}
	})
}

// Who is given an address and no cluster id takes that of whom it finds there,
// and says so from then on.
func TestAdoption(t *testing.T) {
	inYard(t, func(y *yard) {
		c := joining(nodesim(Loopback(), 0), y.seed)
		c.Meta.Cluster = ""
		events := y.seed.Watch(context.Background())
		r := y.start(c)
		if r.Cluster() != "c1" {
			t.Errorf("adopted %q", r.Cluster())
		}
		y.wantEvent(events, Joined, "node0")
		y.wantEvent(events, Updated, "node0")
		if m, _ := y.seed.Lookup("node0"); m.Cluster != "c1" {
			t.Errorf("the coordinator sees %+v", m)
		}
	})
}

func TestWaitingEnds(t *testing.T) {
	inYard(t, func(y *yard) {
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(time.Second, cancel)
		if _, err := y.seed.Await(ctx, y.expect(1)); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
		r := y.sim(0)
		time.AfterFunc(time.Second, r.Close)
		if _, err := r.WaitFor(context.Background(), List(7)); !errors.Is(err, ErrClosed) {
			t.Errorf("closed: %v", err)
		}
		if _, open := <-r.Watch(context.Background()); open {
			t.Error("a closed roster can be watched")
		}
		r.Leave(time.Second) // neither does anything
		r.Close()
	})
}

// A reader that never reads holds up nobody.
func TestSlowWatcher(t *testing.T) {
	inYard(t, func(y *yard) {
		events := y.seed.Watch(context.Background())
		for i := range 8 {
			y.sim(i)
		}
		y.complete(8)
		var got []string
		for range 8 {
			got = append(got, next(events).Member.Name)
		}
		slices.Sort(got)
		if len(slices.Compact(got)) != 8 {
			t.Errorf("events for %v", got)
		}
	})
}
