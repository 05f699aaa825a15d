package sweep

import (
	"fmt"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/shaping"
)

// Sweep is a table to be filled.
type Sweep struct {
	Spec  Spec
	Cases []Case
}

// Row is one line of the table.
type Row struct {
	Case
	OutOfPlace, InPlace Cell
}

// Cell is what one run gave.
type Cell struct {
	Time  shaping.Duration // of one iteration, in the steady state
	Wrong int64            // elements
	// Checked says whether elements were compared; NA that nothing was run.
	Checked, NA bool
}

// Result is what an executor says of a batch.
type Result struct {
	emu.Outcome
	// Wrong counts wrong elements for each run; nil when nothing was checked.
	Wrong []int64
}

// New returns the sweep that a spec asks for on a cluster, or what is wrong
// with it.
func New(f *fabric.Fabric, s Spec) (*Sweep, error) {
	if err := s.checkSizes(); err != nil {
		return nil, err
	}
	if n := f.GPUs(); s.Root < 0 || s.Root >= n {
		return nil, fmt.Errorf("-r %d: the communicator has ranks 0 to %d", s.Root, n-1)
	}
	c, err := cases(f, &s)
	if err != nil {
		return nil, err
	}
	return &Sweep{Spec: s, Cases: c}, nil
}

// Run executes every case, out of place and in place, one after the other in
// one session, and calls row with each line as it is complete.
func (s *Sweep) Run(execute func(c *Case, b emu.Batch) (Result, error), row func(Row) error) error {
	at := shaping.Time(0)
	for i := range s.Cases {
		r := Row{Case: s.Cases[i]}
		for _, cell := range []*Cell{&r.OutOfPlace, &r.InPlace} {
			if s.Spec.lacks(cell == &r.InPlace) {
				cell.NA = true
				continue
			}
			run := r.Run
			run.Offset = at
			run.InPlace = cell == &r.InPlace
			res, err := execute(&r.Case, emu.Batch{Runs: []emu.Run{run}})
			if err != nil {
				return err
			}
			cell.Time = res.Period(0, &run, r.Warmup)
			if res.Wrong != nil && s.Spec.Op != collective.Custom {
				cell.Checked, cell.Wrong = true, res.Wrong[0]
			}
			at = res.Next()
		}
		if err := row(r); err != nil {
			return err
		}
	}
	return nil
}
