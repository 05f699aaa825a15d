package emutest

import (
	"errors"
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/kernel"
	"github.com/railyard/railyard/emu/predict"
	"github.com/railyard/railyard/emu/simtest"
	"github.com/railyard/railyard/shaping"
)

// Result is what a case gave.
type Result struct {
	// Time is that of one iteration in the steady state, out of place, and
	// InPlace the same in place; 0 for an operation that has no such form.
	Time, InPlace shaping.Duration
	// Timeline is what happened out of place, in the kernel's order.
	Timeline []emu.Record
	Plan     *collective.Plan
}

// Run tries a case, out of place and in place, and fails the test unless
//
//   - the plan is right (collective.Check): every rank ends with exactly the
//     right contributions, nothing waits for ever, nothing races;
//   - every element is right and ranks that must agree do, to the bit;
//   - one kernel (predict) and kernels for each node (the virtual clock) give
//     the same picoseconds.
func Run(t testing.TB, c Case) Result {
	t.Helper()
	r, err := try(&c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func try(c *Case) (Result, error) {
	f, err := c.fabric()
	if err != nil {
		return Result{}, err
	}
	run, p, err := c.run(f, false)
	if err != nil {
		return Result{}, err
	}
	if err := collective.Check(p); err != nil {
		return Result{}, err
	}
	res := Result{Plan: p}
	if res.Time, res.Timeline, err = measure(f, run); err != nil {
		return Result{}, err
	}
	if !c.Op.InPlace() {
		return res, nil
	}
	if err := collective.CheckInPlace(p); err != nil {
		return Result{}, err
	}
	run.InPlace = true
	res.InPlace, _, err = measure(f, run)
	return res, err
}

// measure runs on one kernel and on one for each node, and compares.
func measure(f *fabric.Fabric, run emu.Run) (shaping.Duration, []emu.Record, error) {
	b := emu.Batch{Runs: []emu.Run{run}}
	var want simtest.Run
	s := predict.New(f, true)
	s.Visit = func(e *kernel.Effects) error {
		want.Records = append(want.Records, e.Records...)
		return nil
	}
	out, err := s.Execute(b)
	if err != nil {
		return 0, nil, err
	}
	want.Outcomes = []emu.Outcome{out}
	v := simtest.NewVirtual(f, apart(f.Nodes()), run.Seed, true)
	got, err := v.Execute(b)
	if err != nil {
		return 0, nil, err
	}
	err = errors.Join(simtest.Right(b, v.Verdicts()),
		simtest.Compare(want, simtest.Run{Outcomes: []emu.Outcome{got}, Records: v.Records()}))
	return out.Period(0, &run, 1), want.Records, err
}

// apart hosts every node on a participant of its own.
func apart(nodes int) []int {
	host := make([]int, nodes)
	for i := range host {
		host[i] = i
	}
	return host
}
