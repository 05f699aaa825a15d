package experiment

import (
	"math/big"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fault"
	"github.com/railyard/railyard/shaping"
)

// Verdict is how a run ended.
type Verdict string

// The verdicts.
const (
	Done   Verdict = "done"
	Wrong  Verdict = "wrong"
	Failed Verdict = "failed"
)

// Report is what came out of a scenario. All of it is emulated, and the same
// whoever executed the batches.
type Report struct {
	Name    string
	Runs    []Run
	Strikes []fault.Struck // in the order of instants
	Called  []int          // positions of the faults that made a call differ, ascending
	Expect  []Judgement
}

// Passed reports whether every expectation holds. Without any, every run must be
// done.
func (r *Report) Passed() bool {
	for i := range r.Expect {
		if r.Expect[i].State != Held {
			return false
		}
	}
	if len(r.Expect) > 0 {
		return true
	}
	for i := range r.Runs {
		if r.Runs[i].Verdict != Done {
			return false
		}
	}
	return true
}

// Unjudged reports whether no expectation failed, but some could not be judged; or
// whether one failed, but processes had died that no fault was to kill.
func (r *Report) Unjudged() bool {
	if r.Perturbed() {
		return !r.Passed()
	}
	some := false
	for i := range r.Expect {
		if r.Expect[i].State == Broken {
			return false
		}
		some = some || r.Expect[i].State == Unknown
	}
	return some
}

// Perturbed reports whether a process died that no fault was to kill.
func (r *Report) Perturbed() bool {
	for i := range r.Runs {
		if r.Runs[i].Perturbed > 0 {
			return true
		}
	}
	return false
}

// Run is what became of a phase.
type Run struct {
	Index   int
	Verdict Verdict
	// Failure is why the last attempt failed, or where a later one went well why the
	// one before did; nil: nothing failed.
	Failure  *emu.Failure
	Attempts []Attempt
	// GaveUp is why there was no further attempt where the policy is to try again; empty
	// where it went well, or the policy is not that.
	GaveUp string
	// LeftOut are the GPUs that were known to be gone when a communicator was made.
	LeftOut []LeftOut
	// Calls are the phase's, as they were in the final attempt.
	Calls []Result
	// Survivors are the ranks of all communicators that can go on: those of the final
	// attempt, and where it failed those of them that it did not lose.
	Survivors int
	// Checked says whether all elements were compared, which those of a run that failed
	// never are. Wrong counts those that were not
	// what they must be, and Places says where.
	Checked bool
	Wrong   int64
	Places  []Place
	// Total is from the first issue to the end. Detect is from the fault until
	// somebody noticed first, Abort until all ranks knew, Replan until the next attempt
	// began, Finish how long the final attempt took. -1: there was none.
	Total, Detect, Abort, Replan, Finish shaping.Duration
	// Redone are bytes that transports sent again, Repeated those of operations that
	// were begun again, over all ranks.
	Redone, Repeated shaping.Bytes
	// Perturbed is when a process died that no fault was to kill; 0: none did. When that
	// is depends on the host.
	Perturbed shaping.Time
}

// slowest returns the call that took longest in the final attempt.
func (r *Run) slowest() *Result {
	best := &r.Calls[0]
	for i := range r.Calls {
		if r.Calls[i].Time > best.Time {
			best = &r.Calls[i]
		}
	}
	return best
}

// Time is that of an iteration of the slowest call of the final attempt.
func (r *Run) Time() shaping.Duration { return r.slowest().Time }

// BusBW is that of the slowest call of the final attempt; AlgBW likewise.
func (r *Run) BusBW() shaping.Rate { return r.slowest().BusBW }

// AlgBW is see BusBW.
func (r *Run) AlgBW() shaping.Rate { return r.slowest().AlgBW }

// Attempt is one try at a phase.
type Attempt struct {
	// Begin is when it was issued, End when its last rank ended, or all ranks knew
	// that it had failed.
	Begin, End shaping.Time
	Ranks      int
	Failure    *emu.Failure
	Redone     shaping.Bytes
	Spans      []Span
}

// Span is when a rank was in an operation, for timelines.
type Span struct {
	Call, Rank, GPU, Iteration int
	Begin, End                 shaping.Time
}

// Result is what became of a call.
type Result struct {
	Algorithm, Protocol string
	Channels            int
	Comm                []int
	Bytes, Count        int64
	Iterations          int // that the final attempt carried out
	// Time is that of an iteration, a mean from the issue of the first on; 0 where the
	// call did not end.
	Time         shaping.Duration
	AlgBW, BusBW shaping.Rate
}

// Place is where elements are wrong.
type Place struct {
	Call, Rank, GPU int
	Wrong           int64   // how many elements
	First           []int64 // the first of them, a few
}

// bandwidths returns what nccl-tests calls algorithm and bus bandwidth, rounded
// down to a byte a second.
func bandwidths(op collective.Op, n int, bytes int64, t shaping.Duration) (alg, bus shaping.Rate) {
	if t <= 0 || op == collective.Barrier {
		return 0, 0
	}
	num, den := int64(1), int64(1) // nccl-tests, doc/PERFORMANCE.md
	switch op {
	case collective.AllReduce:
		num, den = 2*int64(n-1), int64(n)
	case collective.AllGather, collective.ReduceScatter, collective.AllToAll, collective.AllToAllV,
		collective.Gather, collective.Scatter:
		num, den = int64(n-1), int64(n)
	}
	v := new(big.Int).Mul(big.NewInt(bytes), big.NewInt(int64(shaping.Second)))
	rate := func(num, den int64) shaping.Rate {
		p := new(big.Int).Mul(v, big.NewInt(num))
		return shaping.Rate(p.Div(p, new(big.Int).Mul(big.NewInt(int64(t)), big.NewInt(den))).Int64())
	}
	return rate(1, 1), rate(num, den)
}
