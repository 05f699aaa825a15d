package rehearse

import (
	"slices"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/experiment"
	"github.com/railyard/railyard/emu/kernel"
	"github.com/railyard/railyard/emu/payload"
	"github.com/railyard/railyard/emu/predict"
)

// Local executes batches here, in one kernel, on real elements.
type Local struct {
	setup    *experiment.Setup
	session  *predict.Session
	machines []*payload.Machine // of the batch; nil where a run moves headers alone
}

// NewLocal returns an executor of a scenario's batches. stop, when it is not nil, is
// asked now and then whether to give up.
func NewLocal(u *experiment.Setup, stop func() error) *Local {
	l := &Local{setup: u}
	if u.Schedule == nil {
		l.session = predict.New(u.Fabric, false)
	} else {
		l.session = predict.NewFaulty(u.Fabric, false, u.Schedule, u.Bear)
	}
	l.session.Stop, l.session.Visit = stop, l.move
	return l
}

// Execute runs a batch to its end, and compares what it left if it came there.
func (l *Local) Execute(b emu.Batch) (experiment.Executed, error) {
	w, err := kernel.Lay(l.setup.Fabric, b, func(int) bool { return true })
	if err != nil {
		return experiment.Executed{}, err
	}
	l.machines = make([]*payload.Machine, len(b.Runs))
	for i := range b.Runs {
		if r := &b.Runs[i]; r.Real > 0 {
			l.machines[i] = payload.New(*r, w[i], w[i].Plan.Size(r.Count, r.DType.Size()).Scale(r.Real), nil)
		}
	}
	out, err := l.session.Execute(b)
	res := experiment.Executed{Outcome: out}
	if err != nil || out.Failure != nil {
		return res, err
	}
	l.flip(&b, &out)
	res.Wrong = make([]int64, len(b.Runs))
	for i, m := range l.machines {
		if m == nil {
			res.Wrong = nil
			return res, nil
		}
		for _, v := range m.VerifyAll() {
			if v.Wrong > 0 {
				res.Wrong[i] += v.Wrong
				res.WrongRanks = append(res.WrongRanks, emu.WrongRank{Run: i, Rank: v.Rank, Elements: v.Wrong, First: v.First})
			}
		}
	}
	return res, nil
}

func (l *Local) move(e *kernel.Effects) error {
	for _, m := range e.Moves {
		machine := l.machines[m.Run]
		switch {
		case machine == nil:
		case m.Flip > 0:
			element, bit := l.setup.Schedule.Bit(int(m.Flip) - 1)
			machine.FlipWaiting(int(m.Block), int(m.Slice), element, bit)
		default:
			machine.Apply(payload.Move{Block: m.Block, Step: m.Step, Slice: m.Slice, Loop: m.Loop})
		}
	}
	return nil
}

// flip turns over the bits that do so while a batch runs, in the results that it
// left.
func (l *Local) flip(b *emu.Batch, out *emu.Outcome) {
	for i, f := range l.setup.Schedule.Flips() {
		if f.GPU < 0 || f.At < b.Offset() || f.At >= out.Next() {
			continue
		}
		element, bit := l.setup.Schedule.Bit(i)
		for run, m := range l.machines {
			if rank := slices.Index(b.Runs[run].Comm, f.GPU); rank >= 0 && m != nil {
				m.FlipOutput(rank, element, bit)
			}
		}
	}
}
