package rehearse

import (
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/experiment"
	"github.com/railyard/railyard/emu/kernel"
	"github.com/railyard/railyard/emu/payload"
	"github.com/railyard/railyard/emu/predict"
	"github.com/railyard/railyard/shaping"
)

// Local executes batches here, in one kernel, on real elements.
type Local struct {
	setup    *experiment.Setup
	session  *predict.Session
	machines []*payload.Machine // of the batch; nil where a run moves headers alone
	before   shaping.Time       // when the last batch was over
}

// NewLocal returns an executor of a scenario's batches. stop, when it is not nil, is
// asked now and then whether to give up.
func NewLocal(u *experiment.Setup, stop func() error) *Local {
	l := &Local{setup: u, before: -1}
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
		l.before = out.Next() - 1
		return res, err
	}
	l.flip(&b, out.Next()-1)
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
		if l.machines[m.Run] != nil && m.Flip > 0 {
			element, bit := l.setup.Schedule.Bit(int(m.Flip) - 1)
			l.machines[m.Run].FlipWaiting(int(m.Block), int(m.Slice), element, bit)
		} else if l.machines[m.Run] != nil {
			l.machines[m.Run].Apply(payload.Move{Block: m.Block, Step: m.Step, Slice: m.Slice, Loop: m.Loop})
		}
	}
	return nil
}

// flip turns over the bits that do so before the next batch could begin, in the
// results that it left.
func (l *Local) flip(b *emu.Batch, now shaping.Time) {
	for i := range b.Runs {
		m, r := l.machines[i], &b.Runs[i]
		_, out := r.Op.Parts(len(r.Comm))
		for rank, gpu := range r.Comm {
			if m == nil {
				break
			}
			for _, f := range l.setup.Schedule.FlipsOf(gpu, l.before, now) {
				m.FlipOutput(rank, uint64(f.Place(r.Count*int64(out), r.Real*int64(out))), uint64(f.Bit))
			}
		}
	}
	l.before = now
}
