package experiment

import (
	"fmt"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fault"
	"github.com/railyard/railyard/shaping"
)

// LeftOut is a GPU that everybody knew to be gone when a communicator was made that
// would have had it, and that was made without it: no operation failed by that fault.
type LeftOut struct {
	GPU, Fault int
	At         shaping.Time // when all had heard of it
}

// known returns which of some GPUs are gone at an instant, in their order, as far as
// all have heard. A GPU that hangs, and a process that stands still, tell nobody.
func (u *Setup) known(gpus []int, at shaping.Time) []LeftOut {
	news := max(u.Bear.Control, shaping.Microsecond) // emu/trial has no faster news either
	var all []LeftOut
	for _, g := range gpus {
		for _, s := range u.Schedule.Stops() { // by instant
			if s.GPU == g && (s.How == fault.Killed || s.How == fault.Lost) && s.At.Add(news) <= at {
				all = append(all, LeftOut{GPU: g, Fault: s.Fault, At: s.At.Add(news)})
				break
			}
		}
	}
	return all
}

// doWithout leaves out of a phase's communicators, and of later ones, whoever is
// known to be gone.
func (r *runner) doWithout(p *emu.Phase) []LeftOut {
	var all []LeftOut
	for i := range p.Calls {
		for _, g := range r.known(r.comm(&p.Calls[i], r.lost), r.at) {
			r.lost[g.GPU] = true
			all = append(all, g)
		}
	}
	return all
}

// stillborn is the failure of an attempt one of whose communicators would have a GPU
// that is known to be gone: it can not be made, and nothing is launched. nil: none has.
func (t *try) stillborn() *emu.Failure {
	for i, c := range t.cases {
		if c.Run.Count == 0 || t.done[i] == t.phase.Calls[i].Iterations {
			continue
		}
		gone := t.known(t.comms[i], t.at)
		if len(gone) == 0 {
			continue
		}
		f := &emu.Failure{Cause: emu.PeerLost, Run: i, Seq: t.seq[key(t.comms[i])], Peer: none, Channel: none, Step: none}
		for rank, g := range t.comms[i] {
			for _, l := range gone {
				if l.GPU != g {
					continue
				}
				f.Lost = append(f.Lost, rank)
				if len(f.Lost) == 1 || l.At < f.At {
					f.Rank, f.Fault, f.At, f.Abort = rank, l.Fault, l.At, l.At
				}
			}
		}
		g := t.comms[i][f.Rank]
		f.Text = fmt.Sprintf("rank %d (node%d/gpu%d) is gone, as was known when the communicator was to be made", f.Rank, t.Fabric.NodeOf(g), t.Fabric.Local(g))
		return f
	}
	return nil
}
