package predict_test

import (
	"slices"
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/kernel"
	"github.com/railyard/railyard/emu/predict"
	"github.com/railyard/railyard/shaping"
)

// joined is a cluster of one-GPU servers in groups, joined as f says.
func joined(t *testing.T, f emu.Fabric, counts ...int) *fabric.Fabric {
	t.Helper()
	c := emu.Cluster{Fabric: f, Seed: 1}
	for _, n := range counts {
		c.Groups = append(c.Groups, emu.Group{Count: n, System: "dgx-h100", GPUs: 1})
	}
	made, err := fabric.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// stream sends bytes from one GPU to another.
func stream(from, to int, bytes int64) emu.Run {
	return emu.Run{Op: collective.Broadcast, Algorithm: "ring", Options: collective.Options{Channels: 4},
		Comm: []int{from, to}, Count: bytes / 4, Iterations: 1}
}

// last returns when each run ended.
func last(out emu.Outcome, runs int) []shaping.Time {
	ends := make([]shaping.Time, runs)
	for _, e := range out.Ends {
		ends[e.Run] = max(ends[e.Run], e.At)
	}
	return ends
}

// Flows of equal size over one trunk that has the rate of one NIC: each gets the
// same share within 2 %, and together they have all of it, without a gap.
func TestTrunkIsSharedEvenly(t *testing.T) {
	const bytes = 32 << 20
	for n := 2; n <= 8; n++ {
		f := joined(t, emu.Fabric{Oversubscription: n}, n, n)
		var runs []emu.Run
		for i := range n {
			runs = append(runs, stream(i, n+i, bytes))
		}
		s, got := predict.New(f, true), trunk{}
		s.Visit = func(e *kernel.Effects) error { got.add(f, e.Records, "unit0/rail0/up"); return nil }
		ends := last(execute(t, s, runs...), n)
		if first, end := slices.Min(ends), slices.Max(ends); int64(end-first)*100 > 2*int64(end) {
			t.Errorf("%d flows end from %v to %v, more than 2 %% apart", n, first, end)
		}
		// Between the first tenth and the last the trunk never rests, so what it
		// carries is its rate.
		if busy, span := got.busy(10, 90); busy != span {
			t.Errorf("%d flows keep the trunk busy for %v of %v", n, busy, span)
		}
	}
}

// trunk keeps what a port carried.
type trunk struct{ pieces []shaping.Piece }

func (p *trunk) add(f *fabric.Fabric, records []emu.Record, port string) {
	for _, r := range records {
		if r.Kind == emu.Carry && f.PortName(r.Port) == port {
			p.pieces = append(p.pieces, shaping.Piece{Start: r.Start, End: r.Start.Add(r.Duration)})
		}
	}
}

// busy returns for how long the port was busy between two hundredths of its time.
func (p *trunk) busy(from, to int64) (busy, span shaping.Duration) {
	slices.SortFunc(p.pieces, func(a, b shaping.Piece) int { return int(a.Start - b.Start) })
	first, end := p.pieces[0].Start, p.pieces[len(p.pieces)-1].End
	whole := int64(end.Sub(first))
	a, b := first.Add(shaping.Duration(whole*from/100)), first.Add(shaping.Duration(whole*to/100))
	for _, x := range p.pieces {
		if lo, hi := max(x.Start, a), min(x.End, b); lo < hi {
			busy += hi.Sub(lo)
		}
	}
	return busy, b.Sub(a)
}

// took runs streams at once and returns when the last has ended.
func took(t *testing.T, f *fabric.Fabric, runs ...emu.Run) shaping.Duration {
	t.Helper()
	return slices.Max(last(execute(t, predict.New(f, false), runs...), len(runs))).Sub(0)
}

// within reports whether a is x ‰ of b, within 3 %: filling
// and draining the pipe is part of the time.
func within(t *testing.T, what string, a, b shaping.Duration, x int64) {
	t.Helper()
	got := int64(a) * 1000 / int64(b)
	t.Logf("%s: %d ‰", what, got)
	if got < x*97/100 || got > x*103/100 {
		t.Errorf("%s: %v is %d ‰ of %v, want %d", what, a, got, b, x)
	}
}

// What contends costs what it should: an oversubscribed fabric its ratio, where
// all traffic crosses it; incast as many times as there are senders; a second
// job on the same links up its share.
func TestContentionCosts(t *testing.T) {
	const bytes = 64 << 20
	cross := func(n int) (runs []emu.Run) {
		for i := range n {
			runs = append(runs, stream(i, n+i, bytes))
		}
		return runs
	}
	alone := took(t, joined(t, emu.Fabric{}, 4, 4), cross(4)...)
	within(t, "2:1", took(t, joined(t, emu.Fabric{Oversubscription: 2}, 4, 4), cross(4)...), alone, 2000)
	within(t, "4:1", took(t, joined(t, emu.Fabric{Oversubscription: 4}, 4, 4), cross(4)...), alone, 4000)
	within(t, "inside a unit", took(t, joined(t, emu.Fabric{Oversubscription: 4}, 4, 4), stream(0, 1, bytes)), alone, 1000)

	var incast []emu.Run
	for i := range 4 {
		incast = append(incast, stream(1+i, 0, bytes))
	}
	within(t, "incast of 4", took(t, joined(t, emu.Fabric{}, 4, 4), incast...), alone, 4000)

	// 2:1 for four servers is two links up: one job of two fits, two do not.
	shared := joined(t, emu.Fabric{Oversubscription: 2}, 4, 4)
	within(t, "one job", took(t, shared, cross(4)[:2]...), alone, 1000)
	within(t, "two jobs", took(t, shared, cross(4)...), alone, 2000)
}

// A permutation of 32 servers on eight leaves, each sending to the next leaf:
// static tables and adaptive routing carry it at line rate; with a hash, flows
// meet, and the slowest waits for the rest.
func TestRoutingsAt32Nodes(t *testing.T) {
	const bytes = 64 << 20
	var runs []emu.Run
	for i := range 32 {
		runs = append(runs, stream(i, (i+4)%32, bytes))
	}
	routed := func(kind, routing string) shaping.Duration {
		return took(t, joined(t, emu.Fabric{Kind: kind, Routing: routing, HostsPerSwitch: 4}, 32), runs...)
	}
	adaptive := routed("fat-tree", "adaptive")
	within(t, "static to the next leaf", routed("fat-tree", "static"), adaptive, 1000)
	within(t, "spray", routed("fat-tree", "spray"), adaptive, 1000)
	if hash := routed("fat-tree", "hash"); hash < adaptive*3/2 {
		t.Errorf("hash %v, adaptive %v: no collision among 32 flows", hash, adaptive)
	}
	// Static tables are as bad as a hash where destinations share their place: all
	// four of a leaf send to the first of other leaves.
	runs = nil
	for i := range 4 {
		runs = append(runs, stream(i, 4*(1+i), bytes))
	}
	within(t, "static to destinations of one place", routed("fat-tree", "static"), routed("fat-tree", "adaptive"), 4000)
}

// A dragonfly's two groups share few links when all of one sends to the other;
// by a middle group there are more.
func TestDragonfly(t *testing.T) {
	const bytes = 64 << 20
	var runs []emu.Run
	for i := range 8 {
		runs = append(runs, stream(i, 8+i, bytes))
	}
	at := func(routing string) shaping.Duration {
		return took(t, joined(t, emu.Fabric{Kind: "dragonfly", Routing: routing, HostsPerSwitch: 2}, 72), runs...)
	}
	minimal, valiant := at("adaptive"), at("valiant")
	t.Logf("minimal %v, Valiant %v", minimal, valiant)
	// Nine groups of eight, one link between any two.
	within(t, "one link for eight flows", minimal, took(t, joined(t, emu.Fabric{}, 72), runs...), 8000)
	if valiant >= minimal*3/4 {
		t.Errorf("by a middle group %v, straight %v", valiant, minimal)
	}
}

// The shapes under the algorithms: neighbours of a ring, and of a tree, meet
// nowhere, so only longer ways tell; in an all-to-all eight servers of a group have
// one link to each other group, which a rail-optimised fabric does not know.
func TestShapesUnderAlgorithms(t *testing.T) {
	time := func(kind string, op collective.Op, algorithm string) shaping.Duration {
		f := joined(t, emu.Fabric{Kind: kind, HostsPerSwitch: map[string]int{"dragonfly": 2}[kind]}, 72)
		in, out := op.Parts(72)
		return took(t, f, emu.Run{Op: op, Algorithm: algorithm, Options: collective.Options{Channels: 2, Slices: 1}, Comm: f.All(),
			Count: 36 << 20 / 4 / int64(max(in, out)), Iterations: 1})
	}
	for _, tc := range []struct {
		op          collective.Op
		algorithm   string
		least, most int64 // ‰ of the time on a rail-optimised fabric that a dragonfly takes
	}{
		{collective.AllReduce, "ring", 1000, 1100},
		{collective.AllReduce, "tree", 1000, 1500},
		{collective.AllToAll, "pairwise", 1500, 9000},
	} {
		rail, fat, fly := time("rail-optimized", tc.op, tc.algorithm), time("fat-tree", tc.op, tc.algorithm), time("dragonfly", tc.op, tc.algorithm)
		t.Logf("%v %s: rail-optimised %v, fat tree %v, dragonfly %v", tc.op, tc.algorithm, rail, fat, fly)
		if share := int64(fly) * 1000 / int64(rail); fat != rail || share < tc.least || share > tc.most {
			t.Errorf("%v %s: dragonfly %d ‰ of rail-optimised, want %d to %d; fat tree %v, rail-optimised %v with one NIC a server",
				tc.op, tc.algorithm, share, tc.least, tc.most, fat, rail)
		}
	}
}
