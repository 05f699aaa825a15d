package kernel

import (
	"slices"

	"github.com/railyard/railyard/emu"
)

// call makes a rank issue its first iteration when it does: with the others, late,
// after another run, or never.
func (k *Kernel) call(ri int32) {
	rk := &k.ranks[ri]
	r := &k.runs[rk.run]
	rank := int(rk.rank)
	k.seen = max(k.seen, r.Offset)
	if k.faults.Dead(k.fabric.NodeOf(r.Comm[rank])) <= r.Offset {
		return
	}
	if slices.Contains(r.Absent, rank) || rank < len(r.After) && r.After[rank] >= 0 {
		return
	}
	at := r.Offset
	for _, l := range r.Late {
		if l.Rank == rank {
			at = at.Add(l.By)
		}
	}
	k.launch(ri, 0, at)
}

// follow issues what a rank's process calls once a run has ended there.
func (k *Kernel) follow(ended *rank) {
	gpu := k.runs[ended.run].Comm[ended.rank]
	for i := range k.ranks {
		rk := &k.ranks[i]
		r := &k.runs[rk.run]
		if int(rk.rank) < len(r.After) && r.After[rk.rank] == ended.run && r.Comm[rk.rank] == gpu {
			k.launch(int32(i), 0, ended.end)
		}
	}
}

// Progress returns how far the hosted ranks have come, run by run.
func (k *Kernel) Progress() []emu.Progress {
	all := make([]emu.Progress, len(k.ranks))
	for i := range k.ranks {
		rk := &k.ranks[i]
		all[i] = emu.Progress{Run: int(rk.run), Rank: int(rk.rank), Entered: int(rk.entered), Finished: int(rk.finished)}
	}
	return all
}
