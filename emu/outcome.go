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
	// Failure says why the batch was ended early; nil when it was not.
	Failure *Failure
	// Progress is how far each rank came, run by run, where the batch failed.
	Progress []Progress
	// Perturbed is when a process died that no fault was to kill; 0: none did. From
	// then on the outcome is not a matter of the declared faults alone.
	Perturbed shaping.Time
	// WrongRanks lists the ranks whose results are wrong, where they were looked at.
	WrongRanks []WrongRank
	// Redone is how many bytes transports sent again.
	Redone shaping.Bytes
}

// gap separates batches, so that the next one's first event lies after
// everything of the one before, whatever is still on its way.
const gap = 10 * shaping.Microsecond

// Next returns the offset at which the batch after this one begins.
func (o *Outcome) Next() shaping.Time {
	at := o.Now
	if o.Failure != nil {
		at = o.Failure.Abort // what was pending then is gone
	}
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
// iterations and those ranks that wait for others, and rounded down to a
// picosecond. A rank that only sends, as all but the root do in a gather, is
// ahead of its receivers by up to what FIFOs hold, which for small messages is
// many iterations: it says nothing yet of the steady state. Without a warm-up
// the time counts from the issue of the first iteration. The host's issue
// interval is a floor under it.
func (o *Outcome) Period(run int, r *Run, warmup int) shaping.Duration {
	timed := r.Iterations - warmup
	if timed <= 0 {
		return 0
	}
	// Sums of instants could leave int64: take them relative to the offset.
	var sum shaping.Duration
	var ranks int64
	for _, e := range o.Ends {
		if e.Run != run || !r.waits(e.Rank) {
			continue
		}
		if e.Iteration == r.Iterations-1 {
			sum += e.At.Sub(r.Offset)
			ranks++
		}
		if warmup > 0 && e.Iteration == warmup-1 {
			sum -= e.At.Sub(r.Offset)
		}
	}
	return max(sum/shaping.Duration(max(ranks, 1)*int64(timed)), r.Launch)
}

// waits reports whether a rank takes part in an operation by receiving.
func (r *Run) waits(rank int) bool {
	root := r.Options.Root
	if r.Plan != nil {
		root = r.Plan.Root
	}
	switch r.Op {
	case collective.Gather, collective.Reduce:
		return rank == root
	case collective.Broadcast, collective.Scatter:
		return rank != root || len(r.Comm) == 1
	default:
		return true
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

// WrongRank is a rank with a wrong result.
type WrongRank struct {
	Run, Rank int
	Elements  int64   // how many are wrong
	First     []int64 // the first of them, a few
}
