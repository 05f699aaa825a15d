package emu

import (
	"slices"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/shaping"
)

// Outcome is what the kernels say of a batch that ran to its end.
type Outcome struct {
	Ends []End
	// Now is the instant of the last event of the batch.
	Now shaping.Time
	// Events is the number of events of the batch.
	Events uint64
}

// gap separates batches, so that the next one's first event lies after
// everything of the one before, whatever is still on its way.
const gap = 10 * shaping.Microsecond

// Next returns the offset at which the batch after this one begins.
func (o *Outcome) Next() shaping.Time {
	at := o.Now
	for _, e := range o.Ends {
		at = max(at, e.At)
	}
	const us = shaping.Time(shaping.Microsecond)
	return ((at/us + 1) * us).Add(gap)
}

// Done reports whether every rank ended every iteration of a run.
func (o *Outcome) Done(run int, r *Run) bool {
	n := 0
	for _, e := range o.Ends {
		if e.Run == run {
			n++
		}
	}
	return n == len(r.Comm)*max(r.Iterations, 1)
}

// Period returns the time of one iteration of a run in the steady state: from
// the end of the warm-up to the end of the last iteration, averaged over
// iterations and ranks and rounded down to a picosecond. Without a warm-up it
// counts from the issue of the first iteration. The host's issue interval is a
// floor under it.
//
// Where an operation has a root, ranks that only send to it run ahead until the
// FIFOs are full, which takes many iterations. In the end all go at the root's
// pace: there Period counts from when the last rank has ended the one to when
// the last has ended the other.
func (o *Outcome) Period(run int, r *Run, warmup int) shaping.Duration {
	timed := r.Iterations - warmup
	if timed <= 0 {
		return 0
	}
	// Sums of instants could leave int64: take them relative to the offset.
	var sum, from, to shaping.Duration
	for _, e := range o.Ends {
		if e.Run != run {
			continue
		}
		after := e.At.Sub(r.Offset)
		if e.Iteration == r.Iterations-1 {
			sum += after
			to = max(to, after)
		}
		if warmup > 0 && e.Iteration == warmup-1 {
			sum -= after
			from = max(from, after)
		}
	}
	if rooted(r.Op) {
		return max((to-from)/shaping.Duration(timed), r.Launch)
	}
	return max(sum/shaping.Duration(len(r.Comm)*timed), r.Launch)
}

func rooted(op collective.Op) bool {
	switch op {
	case collective.Broadcast, collective.Reduce, collective.Gather, collective.Scatter:
		return true
	default:
		return false
	}
}

// SortEnds puts ends in the order of run, iteration and rank, so that reports
// do not depend on which process told first.
func SortEnds(ends []End) {
	slices.SortFunc(ends, func(a, b End) int {
		if a.Run != b.Run {
			return a.Run - b.Run
		}
		if a.Iteration != b.Iteration {
			return a.Iteration - b.Iteration
		}
		return a.Rank - b.Rank
	})
}
