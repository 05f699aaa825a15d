package rehearse

import (
	"errors"
	"fmt"
	"slices"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/experiment"
	"github.com/railyard/railyard/emu/kernel"
	"github.com/railyard/railyard/emu/predict"
	"github.com/railyard/railyard/shaping"
)

// Prepare returns a scenario made concrete. Faults that strike after an operation, or at
// a step of a plan, get their instants from rehearsals in one kernel, one after the
// other: times are known to the picosecond, so that the fault is then an ordinary
// scheduled one. stop, when it is not nil, is asked now and then whether to give up.
func Prepare(s emu.Scenario, stop func() error) (*experiment.Setup, error) {
	u, err := experiment.Prepare(s)
	if err != nil {
		return nil, err
	}
	for {
		waiting := u.Schedule.Waiting()
		if len(waiting) == 0 {
			return u, nil
		}
		i := waiting[0]
		at, err := rehearse(u, &s.Faults[i].When, stop)
		if err != nil {
			return nil, err
		}
		if at == shaping.Never {
			return nil, &emu.Problem{Field: fmt.Sprintf("spec.faults[%d]", i),
				Reason: "what it waits for never happens: an operation that is not ended, or a step that the plan does not have on that rank and channel"}
		}
		s.Faults = slices.Clone(s.Faults)
		w := &s.Faults[i].When
		w.At, w.AfterOps, w.Step = shaping.Duration(at), 0, nil
		if w.At == 0 {
			w.At = 1 // an instant, not a default
		}
		if u, err = experiment.Prepare(s); err != nil {
			return nil, err
		}
	}
}

// errSeen ends a rehearsal that has seen what it was for.
var errSeen = errors.New("seen")

// rehearsal runs a scenario until what a fault waits for.
type rehearsal struct {
	when  *emu.When
	batch emu.Batch
	ends  []emu.End
	seen  shaping.Time
}

// rehearse returns the instant for which a fault waits; Never: it does not come.
func rehearse(u *experiment.Setup, w *emu.When, stop func() error) (shaping.Time, error) {
	r := &rehearsal{when: w, seen: shaping.Never}
	p := predict.NewFaulty(u.Fabric, w.Step != nil, u.Schedule, u.Bear)
	p.Stop, p.Visit = stop, r.visit
	_, err := u.Run(func(b emu.Batch) (experiment.Executed, error) {
		for i := range b.Runs {
			b.Runs[i].Real = 0
		}
		r.batch, r.ends = b, nil
		out, err := p.Execute(b)
		return experiment.Executed{Outcome: out}, err
	}, experiment.Watcher{})
	if errors.Is(err, errSeen) {
		return r.seen, nil
	}
	return shaping.Never, err
}

// visit looks for the end of the operation, or the step, that is waited for.
func (r *rehearsal) visit(e *kernel.Effects) error {
	r.ends = append(r.ends, e.Ends...)
	number := r.when.AfterOps - 1
	if r.when.Step != nil {
		number = r.when.Step.Op
	}
	run, iteration := locate(&r.batch, number)
	if run < 0 {
		return nil
	}
	if r.when.Step == nil {
		return r.ended(run, iteration)
	}
	from := shaping.Time(0) // when the rank ended the operation before
	if iteration > 0 {
		from = shaping.Never
	}
	for _, end := range r.ends {
		if end.Run == run && end.Rank == r.when.Step.Rank && end.Iteration == iteration-1 {
			from = end.At
		}
	}
	for i := range e.Records {
		rec, s := &e.Records[i], r.when.Step
		if int(rec.Run) == run && int(rec.Rank) == s.Rank && int(rec.Channel) == s.Channel && int(rec.Step) == s.Step && rec.Start >= from {
			r.seen = rec.Start
			return errSeen
		}
	}
	return nil
}

// ended looks whether all ranks have ended an operation.
func (r *rehearsal) ended(run, iteration int) error {
	ranks, at := 0, shaping.Time(0)
	for _, e := range r.ends {
		if e.Run == run && e.Iteration == iteration {
			ranks, at = ranks+1, max(at, e.At)
		}
	}
	if ranks < len(r.batch.Runs[run].Comm) {
		return nil
	}
	r.seen = at
	return errSeen
}

// locate returns which iteration of which run of a batch is the n-th operation of the
// scenario; -1: of another batch.
func locate(b *emu.Batch, n int) (run, iteration int) {
	for i := range b.Runs {
		if k := n - b.Runs[i].Number; k >= 0 && k < b.Runs[i].Iterations {
			return i, k
		}
	}
	return -1, -1
}
