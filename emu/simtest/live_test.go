package simtest

import (
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/fault"
	"github.com/railyard/railyard/emu/kernel"
	"github.com/railyard/railyard/emu/predict"
	"github.com/railyard/railyard/shaping"
)

// edits are what somebody does to the faults of a session: each draws, from its seed,
// some that strike from an instant on.
type edits []struct {
	seed uint64
	from shaping.Time
}

func (e edits) schedule(f *fabric.Fabric, seed uint64) *fault.Schedule {
	s := fault.New(seed)
	for _, d := range e {
		addFaults(rand.New(rand.NewPCG(d.seed, 3)), f, s, d.from)
	}
	return s
}

// strike replaces the schedule between two windows.
func (v *Virtual) strike(s *fault.Schedule) {
	v.faults = s
	if v.shared != nil {
		v.shared.Suffer(s, v.bear.Sweep)
	}
	for i, k := range v.kernels {
		k.Suffer(s)
		v.conductor.Bury(i, v.death(i))
	}
	v.trial.Revise(s, v.bear)
	v.conductor.Limit = v.trial.Limit()
}

// TestLiveFaultsKeepTheLaw draws states of ports and GPUs that are added while a
// session lasts, between windows, as early as nobody has looked. Predict, which has
// them from the start, agrees on every record, end and failure.
func TestLiveFaultsKeepTheLaw(t *testing.T) {
	failed, struck := 0, 0
	for i := range *simN {
		seed := *simSeed + uint64(i)
		out, added, err := live(seed)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		struck += added
		for _, o := range out {
			if o.Failure != nil {
				failed++
			}
		}
	}
	if struck < *simN/2 {
		t.Errorf("of %d sessions %d were struck while they lasted", *simN, struck)
	}
	t.Logf("%d cases: struck %d times, %d batches failed", *simN, struck, failed)
}

func live(seed uint64) (got []emu.Outcome, struck int, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	c := Draw(seed)
	rng := rand.New(rand.NewPCG(seed, 78))
	f, err := fabric.New(c.Cluster)
	if err != nil {
		return nil, 0, err
	}
	bear, draws := drawBear(rng), rng.Uint64()
	var all edits
	var before *fault.Schedule // nil: a session that knows of no faults
	if rng.IntN(2) == 0 {
		all = append(all, edits{{rng.Uint64(), 0}}...)
		before = all.schedule(f, draws)
	}
	n := 1 + rng.IntN(c.Cluster.Nodes())
	v := NewFaulty(f, c.Host(n, seed), seed, true, before, bear)
	for i := range v.kernels { // as daemons make them where faults may change
		v.kernels[i] = kernel.New(kernel.Config{Fabric: f, Owners: v.owners, Me: i, Record: true, Faults: before, Bear: bear, Guarded: true})
	}
	v.between = func() {
		if v.conductor.Limit == 0 {
			v.conductor.Limit = bear.Control
		}
		if rng.IntN(12) == 0 && struck < 3 {
			struck++
			all = append(all, edits{{rng.Uint64(), v.conductor.Untouched()}}...)
			v.strike(all.schedule(f, draws))
		}
	}
	if got, err = c.faulty(v.Execute); err != nil {
		return got, struck, fmt.Errorf("virtual, struck at %v: %w", all, err)
	}
	p := predict.NewFaulty(f, true, all.schedule(f, draws), bear)
	var records []emu.Record
	p.Visit = func(e *kernel.Effects) error {
		records = append(records, e.Records...)
		return nil
	}
	want, err := c.faulty(p.Execute)
	if err != nil {
		return got, struck, fmt.Errorf("predict: %w", err)
	}
	for i := range want {
		if err := alike(&want[i], &got[i], v.faults.Deadly()); err != nil {
			return got, struck, fmt.Errorf("on %d participants, struck at %v: batch %d: %w", n, all, i, err)
		}
	}
	if own := v.Records(); !slices.Equal(own, records) {
		for i := range min(len(own), len(records)) {
			if own[i] != records[i] {
				return got, struck, fmt.Errorf("on %d participants, struck at %v: record %d: predict %+v, virtual %+v", n, all, i, records[i], own[i])
			}
		}
		return got, struck, fmt.Errorf("on %d participants, struck at %v: %d records, predict has %d", n, all, len(own), len(records))
	}
	return got, struck, nil
}
