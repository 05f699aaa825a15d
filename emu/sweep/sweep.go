package sweep

import (
	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/shaping"
)

// Sweep is a table to be filled.
type Sweep struct {
	Spec  Spec
	World []Rank
	Cases []Case
}

// Row is one line of the table.
type Row struct {
	Case
	OutOfPlace, InPlace Cell
}

// Cell is what the runs of one half of a line gave.
type Cell struct {
	// Time of one iteration in the steady state, a mean over the ranks of all
	// communicators.
	Time  shaping.Duration
	Wrong int64 // elements, of all communicators
	// Checked says whether elements were compared; NA that nothing was run,
	// since the operation has no such half.
	Checked, NA bool
}

// Result is what an executor says of a batch.
type Result struct {
	emu.Outcome
	// Wrong counts wrong elements for each run; nil when nothing was checked.
	Wrong []int64
}

// Executor runs a batch to its end.
type Executor func(c *Case, b emu.Batch) (Result, error)

// New returns the sweep that a spec asks for on a cluster, or what is wrong
// with it.
func New(f *fabric.Fabric, s Spec) (*Sweep, error) {
	if err := s.checkSizes(); err != nil {
		return nil, err
	}
	world, groups, err := s.world(f)
	if err != nil {
		return nil, err
	}
	c, err := cases(f, &s, groups)
	if err != nil {
		return nil, err
	}
	return &Sweep{Spec: s, World: world, Cases: c}, nil
}

// Run executes every case, out of place and in place, one after the other in
// one session, and calls row with each line as it is complete.
func (s *Sweep) Run(execute Executor, row func(Row) error) error {
	at := shaping.Time(0)
	for i := range s.Cases {
		r := Row{Case: s.Cases[i]}
		for _, inPlace := range []bool{false, true} {
			cell := &r.OutOfPlace
			if inPlace {
				cell = &r.InPlace
			}
			var err error
			if *cell, at, err = s.cell(&r.Case, inPlace, at, execute); err != nil {
				return err
			}
		}
		if err := row(r); err != nil {
			return err
		}
	}
	return nil
}

// cell runs one half of a line from an instant on, and returns when the next
// one may begin. Runs without elements are not launched and take no time.
func (s *Sweep) cell(c *Case, inPlace bool, at shaping.Time, execute Executor) (Cell, shaping.Time, error) {
	if s.Spec.lacks(inPlace) {
		return Cell{NA: true}, at, nil
	}
	// Without an in-place form there is no answer to compare with: as in
	// nccl-tests, such a half is timed all the same.
	blind := inPlace && !s.Spec.Op.InPlace() && s.Spec.Plan == nil || s.Spec.Op == collective.Custom
	b := c.batch(at, inPlace, blind)
	cell := Cell{Checked: s.Spec.Check && c.Payload != PayloadNone && !blind}
	if len(b.Runs) == 0 {
		return cell, at, nil
	}
	res, err := execute(c, b)
	if err != nil {
		return cell, at, err
	}
	cell.Time = c.Mean(&res, b)
	if cell.Checked = cell.Checked && res.Wrong != nil; cell.Checked {
		for _, w := range res.Wrong {
			cell.Wrong += w
		}
	}
	return cell, res.Next(), nil
}

// batch returns the runs of a half that have something to do; without elements
// when nobody would look at them.
func (c *Case) batch(at shaping.Time, inPlace, blind bool) emu.Batch {
	var b emu.Batch
	for _, run := range c.Runs() {
		if run.Count == 0 {
			continue
		}
		run.Offset, run.InPlace = at, inPlace
		if blind {
			run.Real = 0
		}
		b.Runs = append(b.Runs, run)
	}
	return b
}

// Mean returns the time of an iteration, averaged over the ranks of all
// communicators, those without elements included.
func (c *Case) Mean(res *Result, b emu.Batch) shaping.Duration {
	ranks := shaping.Duration(len(c.Run.Comm))
	for i := range c.Others {
		ranks += shaping.Duration(len(c.Others[i].Comm))
	}
	var whole, rest shaping.Duration // the sum could leave int64
	for i := range b.Runs {
		n := shaping.Duration(len(b.Runs[i].Comm))
		t := res.Period(i, &b.Runs[i], c.Warmup)
		whole += t / ranks * n
		rest += t % ranks * n
	}
	return whole + rest/ranks
}
