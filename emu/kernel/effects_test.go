package kernel_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/kernel"
	"github.com/railyard/railyard/emu/simtest"
	"github.com/railyard/railyard/emu/wiring"
)

// drawn calls f with random cases of which none is large, so that there can be
// many. What every other run moves is headers only.
func drawn(t *testing.T, f func(t *testing.T, c *simtest.Case)) {
	t.Helper()
	const cases, most = 30, 2500 // slices of steps
	for seed, n := uint64(0), 0; n < cases; seed++ {
		c := simtest.Draw(seed)
		c.Batches = c.Batches[:1]
		runs := slices.Clone(c.Batches[0].Runs)
		c.Batches[0].Runs = runs
		w, err := kernel.Lay(build(t, c.Cluster), c.Batches[0], func(int) bool { return true })
		if err != nil {
			t.Fatal(err)
		}
		size := 0
		for i := range runs {
			runs[i].Real = int64(i+1) % 2
			size += work(&runs[i], w[i], nil).slices * runs[i].Iterations
		}
		if size > most {
			continue
		}
		n++
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) { f(t, &c) })
	}
}

// count is what a run has to do, by its plan alone.
type count struct {
	slices int // slices of steps, in one iteration
	frames int // messages that cross between nodes, in all iterations
}

// work counts the slices of all steps, and the messages between GPUs that apart
// tells from one another.
func work(run *emu.Run, w *wiring.Wiring, apart func(a, b int) bool) count {
	var n count
	g := w.Plan.Size(run.Count, run.DType.Size())
	for i := range w.Blocks {
		b := &w.Blocks[i]
		for k := range b.Steps {
			s := &b.Steps[k]
			slices := g.Loops * g.Slices
			if s.Kind == collective.Nop {
				slices = g.Loops
			}
			n.slices += slices
			if !s.Kind.Sends() || apart == nil {
				continue
			}
			for peer, to := range b.SendTo {
				if s.Send.Has(peer) && apart(run.Comm[b.Rank], run.Comm[to]) {
					n.frames += slices * run.Iterations
				}
			}
		}
	}
	return n
}

// Every slice of every step of iteration 0 is one move, each once, those of a
// block in the order of its plan. Later iterations have none: their elements
// would be the same. A run that moves only headers has none at all.
func TestMovesAreTheSlicesOfTheFirstIteration(t *testing.T) {
	total := 0
	drawn(t, func(t *testing.T, c *simtest.Case) {
		r := newRig(t, c.Cluster)
		runs := c.Batches[0].Runs
		r.run(runs...)
		got := make([]int, len(runs))
		last := map[[2]int32]kernel.Move{} // of each block of a run
		for _, m := range r.moves {
			block := [2]int32{m.Run, m.Block}
			if p, ok := last[block]; ok && !before(p, m) {
				t.Fatalf("move %+v after %+v", m, p)
			}
			last[block] = m
			got[m.Run]++
		}
		w, err := kernel.Lay(r.fabric, c.Batches[0], func(int) bool { return true })
		if err != nil {
			t.Fatal(err)
		}
		for i := range runs {
			want := 0
			if runs[i].Real > 0 {
				want = work(&runs[i], w[i], nil).slices
			}
			if got[i] != want {
				t.Errorf("run %d: %d moves, want %d", i, got[i], want)
			}
			total += want
		}
	})
	if total == 0 {
		t.Fatal("no case moved anything")
	}
}

// before reports whether a block carries out one move before another.
func before(a, b kernel.Move) bool {
	x, y := [3]int32{a.Loop, a.Step, a.Slice}, [3]int32{b.Loop, b.Step, b.Slice}
	return slices.Compare(x[:], y[:]) < 0
}

// Spread over participants, every message to another one is one frame, and
// every consumption of such a message one credit. Payload travels with frames
// of iteration 0 alone.
func TestFramesAreTheMessagesThatCross(t *testing.T) {
	total := 0
	drawn(t, func(t *testing.T, c *simtest.Case) {
		c.Cluster.Fabric = emu.Fabric{Link: c.Cluster.Fabric.Link, Kind: "rail-optimized", Routing: "adaptive"} // a shared port would be one more participant on the way
		runs := c.Batches[0].Runs
		host := c.Host(min(3, c.Cluster.Nodes()), c.Seed)
		s := newSpread(t, c.Cluster, host)
		s.begin(c.Batches[0])
		got := make([]emitted, len(runs))
		s.emitted = func(_ int, e *kernel.Emission) { got[e.Run].add(e) }
		s.run()
		all, err := kernel.Lay(s.fabric, c.Batches[0], func(int) bool { return true })
		if err != nil {
			t.Fatal(err)
		}
		for i := range runs {
			run := &runs[i]
			n := work(run, all[i], func(x, y int) bool { return host[s.fabric.NodeOf(x)] != host[s.fabric.NodeOf(y)] }).frames
			want := emitted{data: n, credits: n}
			if run.Real > 0 {
				want.payload = n / run.Iterations
			}
			if got[i] != want {
				t.Errorf("run %d: %+v, want %+v", i, got[i], want)
			}
			total += n
		}
	})
	if total == 0 {
		t.Fatal("no case sent anything to another participant")
	}
}

// emitted counts what a run sent to other participants.
type emitted struct{ data, credits, payload int }

func (n *emitted) add(e *kernel.Emission) {
	if e.Credit {
		n.credits++
		return
	}
	n.data++
	if e.Payload {
		n.payload++
	}
}
