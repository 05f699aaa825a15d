package predict_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/kernel"
	"github.com/railyard/railyard/emu/payload"
	"github.com/railyard/railyard/emu/predict"
	"github.com/railyard/railyard/emu/sweep"
	"github.com/railyard/railyard/shaping"
)

// counted returns the first case of a sweep of one size: a part of that many
// elements of one byte.
func counted(f *fabric.Fabric, algorithm string, op collective.Op, count int64, p sweep.Payload) (*sweep.Case, error) {
	in, out := op.Parts(f.GPUs())
	spec := sweepSpec(algorithm, op, collective.Simple)
	spec.DTypes = []collective.DType{collective.Int8}
	if strings.HasPrefix(algorithm, "collnet") {
		spec.DTypes[0] = collective.Float16 // the least that switches add
	}
	size := count * int64(max(in, out)) * spec.DTypes[0].Size()
	spec.MinBytes, spec.MaxBytes = size, size
	spec.Iterations, spec.Warmup, spec.Payload, spec.Budget, spec.Channels = 1, 0, p, 4<<20, 8
	sw, err := sweep.New(f, spec)
	if err != nil {
		return nil, err
	}
	return &sw.Cases[0], nil
}

// TestCountsBeyond32Bits: every operation, by every algorithm but NVLS, runs with
// parts of more than 2^31 and 2^32 elements, and takes twice the time for twice as many.
func TestCountsBeyond32Bits(t *testing.T) {
	const some = 16 * 1009 // elements beyond the power of two; a part is a multiple of 16 bytes
	f := servers(t, 2, 1)
	for _, op := range collective.Ops() {
		if op == collective.Barrier {
			continue // has one element
		}
		for _, a := range collective.Algorithms() {
			if !slices.Contains(a.Ops, op) || strings.HasPrefix(a.Name, "nvls") {
				continue // NVLS's small chunks are a minute of events
			}
			var took [2]shaping.Duration
			for i := range took {
				c, err := counted(f, a.Name, op, 1<<(31+i)+some, sweep.PayloadNone)
				if err != nil {
					t.Fatal(err)
				}
				if op != collective.AllToAllV && c.Run.Count != 1<<(31+i)+some {
					t.Fatalf("%s %s: %d elements", a.Name, op, c.Run.Count)
				}
				out := execute(t, predict.New(f, false), c.Run)
				took[i] = out.Period(0, &c.Run, 0)
			}
			if ratio := took[1] * 1000 / took[0]; ratio < 1950 || ratio > 2010 {
				t.Errorf("%s %s: %v for 2^31 elements and %v for 2^32, want about twice as much", a.Name, op, took[0], took[1])
			}
		}
	}
}

// TestScaledPlanBeyond32Bits: a scale model of parts of more than 2^32 elements
// moves real elements, and all of them are right.
func TestScaledPlanBeyond32Bits(t *testing.T) {
	f := servers(t, 2, 2)
	c, err := counted(f, "ring", collective.AllReduce, 1<<32+5, sweep.PayloadScaled)
	if err != nil {
		t.Fatal(err)
	}
	run := c.Run
	if run.Count != 1<<32+5 || run.Real == 0 || run.Real > 1<<20 {
		t.Fatalf("%d elements, of which %d real", run.Count, run.Real)
	}
	b := emu.Batch{Runs: []emu.Run{run}}
	w, err := kernel.Lay(f, b, func(int) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	m := payload.New(run, w[0], w[0].Plan.Size(run.Count, 1).Scale(run.Real), nil)
	s := predict.New(f, false)
	s.Visit = func(e *kernel.Effects) error {
		for _, v := range e.Moves {
			m.Apply(payload.Move{Block: v.Block, Step: v.Step, Slice: v.Slice, Loop: v.Loop})
		}
		return nil
	}
	execute(t, s, run)
	seen := int64(0)
	for _, v := range m.VerifyAll() {
		if seen++; v.Wrong > 0 {
			t.Errorf("%d of %d elements are wrong", v.Wrong, run.Real)
		}
	}
	if seen != 4 || m.Waiting() != 0 {
		t.Errorf("%d ranks looked at, %d messages left", seen, m.Waiting())
	}
}
