package simtest

import (
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"testing"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/fault"
	"github.com/railyard/railyard/emu/kernel"
	"github.com/railyard/railyard/emu/predict"
	"github.com/railyard/railyard/shaping"
)

// drawFaults makes a schedule of what may strike the parts of a fabric within the
// first few hundred microseconds, which is how long most drawn batches last.
func drawFaults(rng *rand.Rand, f *fabric.Fabric) *fault.Schedule {
	s := fault.New(rng.Uint64())
	addFaults(rng, f, s, 0)
	return s
}

// addFaults draws more, which strike from an instant on.
func addFaults(rng *rand.Rand, f *fabric.Fabric, s *fault.Schedule, from shaping.Time) {
	const span = 400_000_000 // ps
	for range 1 + rng.IntN(4) {
		a := from.Add(shaping.Duration(rng.Int64N(span)))
		b := a.Add(shaping.Duration(1 + rng.Int64N(span/2)))
		if rng.IntN(4) == 0 {
			b = shaping.Never
		}
		node := rng.IntN(f.Nodes())
		wire := f.NICEgress(node, rng.IntN(max(f.NICs(node), 1))) + fabric.PortID(rng.IntN(2))
		if f.Contended() && rng.IntN(2) == 0 {
			for id := range fabric.PortID(f.Ports()) {
				if f.Port(id).Node == fabric.Shared && rng.IntN(3) == 0 {
					wire = id
				}
			}
		}
		gpu := rng.IntN(f.GPUs())
		switch rng.IntN(9) {
		case 0, 1:
			s.Touch(wire).Change(a, b, func(st *fault.State) { st.Down = true })
		case 2:
			s.Touch(wire).Change(a, b, func(st *fault.State) { st.Loss += 1 + rng.Int64N(fault.Certain/50) })
		case 3:
			s.Touch(wire).Change(a, b, func(st *fault.State) { st.Share = 1 + rng.Int64N(fault.Whole) })
		case 4:
			s.Touch(wire).Change(a, b, func(st *fault.State) {
				st.Extra += shaping.Duration(rng.Int64N(20_000_000))
				st.Jitter = shaping.Duration(rng.Int64N(20_000_000))
			})
		case 5:
			s.Slow(gpu).Change(a, b, func(st *fault.State) { st.Share = 1 + rng.Int64N(fault.Whole) })
		case 6:
			s.Halt(fault.Stop{At: a, Until: b, GPU: gpu, How: fault.Paused})
		case 7:
			s.Halt(fault.Stop{At: a, Until: shaping.Never, GPU: gpu, How: []fault.How{fault.Lost, fault.Hung}[rng.IntN(2)]})
		case 8:
			s.Kill(f, node, a, 0)
		}
	}
}

func drawBear(rng *rand.Rand) emu.Resilience {
	some := func() shaping.Duration { return shaping.Duration(rng.Int64N(100)) * shaping.Microsecond }
	r := emu.Resilience{IBTimeout: 1 + rng.IntN(6), IBRetry: rng.IntN(8),
		Control: shaping.Duration(1+rng.Int64N(200)) * shaping.Microsecond, Watchdog: 20 * shaping.Millisecond}
	if rng.IntN(2) == 0 {
		r.Failover, r.Failback, r.Probe, r.Recover = true, rng.IntN(2) == 0, some(), some()
	}
	if rng.IntN(2) == 0 {
		r.Sweep = 1 + some()
	}
	return r
}

// faulty is what a host says of a case that faults strike: each batch, and one more
// after a batch that failed.
func (c *Case) faulty(execute func(emu.Batch) (emu.Outcome, error)) (all []emu.Outcome, err error) {
	at := shaping.Time(0)
	for _, b := range c.Batches {
		for i := range b.Runs {
			b.Runs[i].Offset = at.Add(shaping.Duration(i) * shaping.Microsecond)
		}
		out, err := execute(b)
		if err != nil {
			return all, err
		}
		all = append(all, out)
		at = out.Next()
	}
	return all, nil
}

// TestFaultsKeepTheLaw draws states of ports and GPUs for the cases of TestSim, which
// no scenario file could ask for: slices, offsets, hosts that wait. Predict and the virtual clock
// agree on every record, end and failure, on any number of participants.
func TestFaultsKeepTheLaw(t *testing.T) {
	failed, redone := 0, 0
	for i := range *simN {
		seed := *simSeed + uint64(i)
		out, err := lawful(seed)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for _, o := range out {
			if o.Failure != nil {
				failed++
			}
			if o.Redone > 0 {
				redone++
			}
		}
	}
	t.Logf("%d cases: %d batches failed, %d sent something again", *simN, failed, redone)
}

func lawful(seed uint64) (want []emu.Outcome, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	c := Draw(seed)
	rng := rand.New(rand.NewPCG(seed, 77))
	f, err := fabric.New(c.Cluster)
	if err != nil {
		return nil, err
	}
	s, bear := drawFaults(rng, f), drawBear(rng)
	p := predict.NewFaulty(f, true, s, bear)
	var ref Run
	p.Visit = func(e *kernel.Effects) error {
		ref.Records = append(ref.Records, e.Records...)
		return nil
	}
	if want, err = c.faulty(p.Execute); err != nil {
		return want, fmt.Errorf("predict: %w", err)
	}
	for _, o := range want {
		if o.Failure == nil {
			continue
		}
		if o.Failure.Text == "" || o.Failure.Cause == "" {
			return want, fmt.Errorf("a failure without a cause: %+v", o.Failure)
		}
	}
	for _, n := range []int{1, 2, 5} {
		n = min(n, c.Cluster.Nodes())
		v := NewFaulty(f, c.Host(n, seed+uint64(n)), seed+uint64(n), true, s, bear)
		got, err := c.faulty(v.Execute)
		if err != nil {
			return want, fmt.Errorf("%d participants: %w", n, err)
		}
		run := Run{Records: v.Records()}
		if err := Compare(Run{Records: ref.Records}, run); err != nil {
			return want, fmt.Errorf("%d participants: %w", n, err)
		}
		for i := range want {
			if err := alike(&want[i], &got[i], s.Deadly()); err != nil {
				return want, fmt.Errorf("%d participants, batch %d: %w", n, i, err)
			}
		}
	}
	return want, nil
}
