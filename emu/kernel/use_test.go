package kernel_test

import (
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/kernel"
	"github.com/railyard/railyard/emu/simtest"
	"github.com/railyard/railyard/shaping"
)

// A block is busy while it moves a slice, whatever it will wait for next; the
// records say for how long. On two GPUs every block moves six slices and waits
// for two messages: see the timeline in docs/architecture.md.
func TestSpentByHand(t *testing.T) {
	r := newRig(t, servers(1, 2))
	r.run(allReduce("ring", one, []int{0, 1}, 128<<10))
	const slice, left = 819_200, 3_482_707 // ps: 32 KiB at 40 GB/s; until one slice has left after another
	want := kernel.Spent{Busy: 2 * 3 * (slice + left), WaitData: 2 * (20_486_521 - 5_000_000 - 3*(slice+left))}
	if got := r.kernel.Spent(); got != want {
		t.Errorf("spent %+v, want %+v", got, want)
	}
}

// Whatever the case: blocks are busy as long as their records say, never wait
// for less than nothing, and both together are at most their ranks' time.
func TestSpentAddsUp(t *testing.T) {
	var all kernel.Spent
	drawn(t, func(t *testing.T, c *simtest.Case) {
		r := newRig(t, c.Cluster)
		runs := c.Batches[0].Runs
		r.run(runs...)
		var busy, most shaping.Duration
		for _, x := range r.records {
			if x.Kind != emu.Carry {
				busy += x.Duration
			}
		}
		for i := range runs {
			blocks := blocksOf(t, r, &runs[i])
			for rank := range runs[i].Comm {
				most += r.last(i).Sub(runs[i].Offset) * shaping.Duration(blocks(rank))
			}
		}
		s := r.kernel.Spent()
		if s.Busy != busy {
			t.Errorf("busy %d ps, records say %d", s.Busy, busy)
		}
		if s.WaitData < 0 || s.WaitSlot < 0 || s.WaitDep < 0 || s.Busy+s.WaitData+s.WaitSlot+s.WaitDep > most {
			t.Errorf("spent %+v of %d ps", s, most)
		}
		all.Add(s)
	})
	if all.Busy == 0 || all.WaitData == 0 || all.WaitSlot == 0 || all.WaitDep == 0 {
		t.Errorf("no case spent time in each way: %+v", all)
	}
}

// blocksOf returns how many blocks each rank of a run has.
func blocksOf(t *testing.T, r *rig, run *emu.Run) func(rank int) int {
	t.Helper()
	p, err := collective.Build(run.Algorithm, run.Op, r.fabric.Shape(run.Comm), run.Options)
	if err != nil {
		t.Fatal(err)
	}
	return func(rank int) int { return len(p.Rank(rank)) }
}

// Ports says what this batch put on each port, as its records do, and nothing
// of the batch before.
func TestPortsCountOneBatch(t *testing.T) {
	r := newRig(t, twoByTwo())
	run := allReduce("ring", collective.Options{Channels: 2}, r.fabric.All(), 300_000)
	for range 2 {
		r.run(run)
		want := map[int32]kernel.PortUse{}
		for _, x := range r.records {
			if x.Kind == emu.Carry {
				u := want[x.Port]
				want[x.Port] = kernel.PortUse{Port: x.Port, Bytes: u.Bytes + x.Bytes, Busy: u.Busy + x.Duration}
			}
		}
		got := r.kernel.Ports()
		if len(got) != len(want) {
			t.Errorf("%d ports were used, records name %d", len(got), len(want))
		}
		for i, u := range got {
			if u != want[u.Port] {
				t.Errorf("%s: %+v, records say %+v", r.fabric.PortName(u.Port), u, want[u.Port])
			}
			if i > 0 && got[i-1].Port >= u.Port {
				t.Errorf("ports are not in order: %d, %d", got[i-1].Port, u.Port)
			}
		}
		run.Offset = r.outcome.Next()
	}
}
