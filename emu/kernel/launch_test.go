package kernel_test

import (
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/shaping"
)

// periods returns the time from each end of an iteration of rank 0 to the next.
func (r *rig) periods(iterations int) []shaping.Duration {
	at := make([]shaping.Time, iterations)
	for _, e := range r.outcome.Ends {
		if e.Rank == 0 {
			at[e.Iteration] = e.At
		}
	}
	var all []shaping.Duration
	for i := 1; i < iterations; i++ {
		all = append(all, at[i].Sub(at[i-1]))
	}
	return all
}

// launched runs a few iterations on two GPUs, where each is like the other.
func launched(t *testing.T, launch shaping.Duration, sync bool) (*rig, []shaping.Duration) {
	t.Helper()
	const iterations = 6
	r := newRig(t, servers(1, 2))
	run := allReduce("ring", collective.Options{Channels: 1}, r.fabric.All(), 64<<10)
	run.Iterations, run.Launch, run.Sync = iterations, launch, sync
	r.run(run)
	for warmup := range iterations {
		want := shaping.Duration(0)
		if warmup > 0 {
			want = r.periods(iterations)[0]
		} else if want = r.last(0).Sub(0) / iterations; want < launch {
			want = launch // iterations are issued on time, so the first lasts no longer than a period
		}
		if got := r.outcome.Period(0, &run, warmup); got != want {
			t.Errorf("launch %d ps, sync %v: period after %d warm-ups %d ps, want %d", launch, sync, warmup, got, want)
		}
	}
	return r, r.periods(iterations)
}

// The issue interval is a floor under the period, not an addend: max(interval,
// device). What the device needs from iteration to iteration includes the 5 µs
// from kernel to kernel.
func TestLaunchIsAFloor(t *testing.T) {
	_, free := launched(t, 0, false)
	device := free[0]
	if device <= 5*us {
		t.Fatalf("an iteration takes %d ps, less than its kernel alone", device)
	}
	for _, launch := range []shaping.Duration{0, device / 2, device - 1, device, device + 1, 3 * device} {
		_, got := launched(t, launch, false)
		for i, p := range got {
			if want := max(launch, device); p != want {
				t.Errorf("launch %d ps, iteration %d: period %d ps, want %d", launch, i+1, p, want)
			}
		}
	}
}

// A host that waits for each iteration pays the launch each time.
func TestSynchronisedLaunchAdds(t *testing.T) {
	_, free := launched(t, 0, false)
	for _, launch := range []shaping.Duration{0, 1, 8 * us, 48 * us} {
		_, got := launched(t, launch, true)
		for i, p := range got {
			if want := free[0] + launch; p != want {
				t.Errorf("launch %d ps, iteration %d: period %d ps, want %d", launch, i+1, p, want)
			}
		}
	}
}

// The first iteration is issued at the run's offset and begins a kernel later.
func TestFirstStepIsAKernelAfterTheOffset(t *testing.T) {
	for _, offset := range []shaping.Time{0, 1, shaping.Time(7 * us)} {
		r := newRig(t, servers(1, 2))
		run := allReduce("ring", collective.Options{Channels: 1}, r.fabric.All(), 64<<10)
		run.Offset = offset
		r.run(run)
		if got, want := r.records[0].Start, offset.Add(5*us); got != want {
			t.Errorf("offset %d ps: the first step begins at %d, want %d", offset, got, want)
		}
	}
}
