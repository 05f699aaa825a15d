package emutest

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/fault"
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
	// Failure is the verdict on the run out of place, where faults ended it: cause,
	// rank, channel, step, peer and link. There is no time then, and no run in place.
	Failure *emu.Failure
	// Outputs are those of the ranks out of place, in the bytes of the type; of a rank
	// that the operation gives nothing, such as those beside the root, an empty one.
	Outputs [][]byte
	// Redone is how many bytes transports sent again, out of place.
	Redone shaping.Bytes
}

// Run tries a case, out of place and in place, and fails the test unless
//
//   - the plan is right (collective.Check): every rank ends with exactly the
//     right contributions, nothing waits for ever, nothing races;
//   - every element is right and ranks that must agree do, to the bit;
//   - one kernel (predict) and kernels for each node (the virtual clock) give
//     the same picoseconds.
//
// Where Case.Faults strike it, both kernels must agree on that as well, and a run
// that fails must say why: that is Result.Failure, and no failure of the test.
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
	s, bear, err := c.schedule(f)
	if err != nil {
		return Result{}, err
	}
	res, err := measure(f, run, s, bear, c.Input)
	if err != nil || res.Failure != nil || !c.Op.InPlace() {
		res.Plan = p
		return res, err
	}
	if err := collective.CheckInPlace(p); err != nil {
		return Result{}, err
	}
	run.InPlace = true
	in, err := measure(f, run, s, bear, c.Input)
	res.Plan, res.InPlace = p, in.Time
	return res, err
}

// measure runs on one kernel and on one for each node, and compares.
func measure(f *fabric.Fabric, run emu.Run, s *fault.Schedule, bear emu.Resilience, input func(int, []byte)) (Result, error) {
	b := emu.Batch{Runs: []emu.Run{run}}
	var want simtest.Run
	p := predict.NewFaulty(f, true, s, bear)
	p.Visit = func(e *kernel.Effects) error {
		want.Records = append(want.Records, e.Records...)
		return nil
	}
	out, err := p.Execute(b)
	if err != nil {
		return Result{}, err
	}
	want.Outcomes = []emu.Outcome{out}
	v := simtest.NewFaulty(f, apart(f.Nodes()), run.Seed, true, s, bear)
	if input != nil {
		v.Input = func(_, rank int, b []byte) { input(rank, b) }
	}
	got, err := v.Execute(b)
	if err != nil {
		return Result{}, err
	}
	res := Result{Timeline: want.Records, Failure: out.Failure, Redone: out.Redone}
	err = simtest.Compare(want, simtest.Run{Outcomes: []emu.Outcome{got}, Records: v.Records()})
	if out.Failure != nil {
		return res, errors.Join(err, agree(out.Failure, got.Failure))
	}
	res.Time, res.Outputs = out.Period(0, &run, 1), v.Outputs(0)
	verdicts := v.Verdicts()
	if input != nil {
		verdicts = unknown(verdicts)
	}
	return res, errors.Join(simtest.Right(b, verdicts), err, agree(out.Failure, got.Failure))
}

// unknown leaves of verdicts what holds for data of which nobody knows what they
// must come to: that ranks agree, and that each was looked at.
func unknown(all []simtest.Verdict) []simtest.Verdict {
	all = slices.Clone(all)
	for i := range all {
		all[i].Wrong = 0
	}
	return all
}

// agree compares the verdicts of the two.
func agree(one, many *emu.Failure) error {
	switch {
	case (one == nil) != (many == nil):
		return fmt.Errorf("one kernel ends with failure %+v, one for each node with %+v", one, many)
	case one != nil && emu.CompareFailures(*one, *many) != 0:
		return fmt.Errorf("one kernel fails with %+v, one for each node with %+v", *one, *many)
	}
	return nil
}

// apart hosts every node on a participant of its own.
func apart(nodes int) []int {
	host := make([]int, nodes)
	for i := range host {
		host[i] = i
	}
	return host
}
