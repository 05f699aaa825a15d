package kernel

import (
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/transit"
	"github.com/railyard/railyard/shaping"
)

// rank is a hosted rank of a run, and where it is in its iterations.
type rank struct {
	run, rank     int32
	first, blocks int32 // its blocks, positions in Kernel.blocks
	iteration     int32
	left          int32        // blocks not through with the iteration
	end           shaping.Time // the latest end of those that are
	// How many iterations it has begun, and ended.
	entered, finished int32
	idle              shaping.Duration // of its links, for each slice of Simple that it sends over them
}

// launch schedules the start of a rank's next iteration. The host issues
// iteration i at offset + i × launch, or, synchronised, a launch after the last
// one has ended: the launch is a floor under the period, not an addend, unless
// the host waits. The device begins when it is free and has been told, and
// needs its own time from kernel to kernel.
func (k *Kernel) launch(ri int32, iteration int32, free shaping.Time) {
	rk := &k.ranks[ri]
	r := &k.runs[rk.run]
	issued := r.Offset.Add(shaping.Duration(iteration) * r.Launch)
	if r.Sync && iteration > 0 {
		issued = free.Add(r.Launch)
	}
	rk.iteration = iteration
	system := k.fabric.System(k.fabric.NodeOf(r.Comm[rk.rank]))
	at := max(issued, free).Add(system.SM.Kernel)
	b := &k.blocks[rk.first]
	k.Push(transit.Key{At: at, Ord: transit.Order(transit.Start, b.id, b.count())}, ri)
}

// start begins a rank's iteration: all its blocks run.
func (k *Kernel) start(ri int32) {
	rk := &k.ranks[ri]
	if len(k.halts) > 0 && k.kept(ri) {
		return
	}
	rk.entered++
	rk.left, rk.end = rk.blocks, k.Now()
	for i := rk.first; i < rk.first+rk.blocks; i++ {
		b := &k.blocks[i]
		k.enter(b, i, busy)
		b.loop, b.step, b.slice = 0, 0, 0
		b.iteration, b.until = rk.iteration, k.Now()
		b.lastLoop, b.lastStep = none, none
	}
	for i := rk.first; i < rk.first+rk.blocks; i++ {
		if len(k.blocks[i].steps) == 0 {
			k.finish(&k.blocks[i], i)
			continue
		}
		k.advance(i)
	}
}

// finish notes that a block is through with its rank's iteration, and with the
// last block the rank is.
func (k *Kernel) finish(b *block, bi int32) {
	rk := &k.ranks[b.rank]
	r := &k.runs[rk.run]
	k.enter(b, bi, idle)
	b.done = int(b.iteration) == r.Iterations-1
	rk.end = max(rk.end, b.until)
	if rk.left--; rk.left > 0 {
		return
	}
	k.effects.Ends = append(k.effects.Ends,
		emu.End{Run: int(rk.run), Rank: int(rk.rank), Iteration: int(rk.iteration), At: rk.end})
	rk.finished++
	if next := rk.iteration + 1; int(next) < r.Iterations {
		k.launch(b.rank, next, rk.end)
		return
	}
	if r.ordered {
		k.follow(rk)
	}
}
