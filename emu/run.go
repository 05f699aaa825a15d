package emu

import (
	"fmt"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/shaping"
)

// Run is one execution of one plan at one size, on a communicator.
type Run struct {
	Op        collective.Op
	Algorithm string // a registry name
	// Plan, when set, is carried out instead of what the algorithm builds; then
	// Algorithm names it. File is the text it was read from, by which other
	// processes get it; a plan made in Go has none and stays in this process.
	Plan    *collective.Plan
	File    []byte
	Options collective.Options
	// Comm lists, for each rank, the index of its GPU in the cluster.
	Comm []int
	// Count is the number of elements of one part of the buffers (see
	// collective.Op.Parts).
	Count   int64
	DType   collective.DType
	RedOp   collective.RedOp
	InPlace bool
	// Real is the number of elements a part really has: Count when every
	// byte is moved, fewer for a scale model, 0 for headers alone.
	Real int64
	// Seed of the run's test data.
	Seed uint64
	// Iterations are issued back to back, each rank's next one beginning when
	// its last one has ended. Only the first carries payload.
	Iterations int
	// Launch is the host's issue interval; with Sync the host waits for each
	// iteration to end before it issues the next (nccl-tests -z 1).
	Launch shaping.Duration
	Sync   bool
	// Offset is the session's instant at which iteration 0 is issued.
	Offset shaping.Time

	// First is the number of iteration 0 on its communicator, for reports, and Number
	// among all operations of a scenario. No kernel looks at either.
	First  int64
	Number int
	// Absent lists ranks that never call.
	Absent []int
	// Late lists ranks that call later than the others.
	Late []Late
	// Odd lists ranks that call otherwise than the others: with another size, type,
	// reduction, root or operation.
	Odd []Odd
	// After says for each rank, where it is not empty, after which run of the batch
	// its process issues this one; -1 for at once. One process waits for one
	// operation before it issues the next.
	After []int32
}

// Late is a rank that calls so long after the others.
type Late struct {
	Rank int
	By   shaping.Duration
}

// Odd is a rank's call that does not match those of the others.
type Odd struct {
	Rank int
	Says string // how it differs: "8 elements where others have 4"
}

// Build returns the plan that the run carries out on a shape, or why there is
// none: an algorithm that may not be used so, or a plan for another number of
// ranks, another operation, or other counts.
func (r *Run) Build(s collective.Shape) (*collective.Plan, error) {
	if r.Plan != nil {
		if n := s.NRanks(); r.Plan.Ranks != n || r.Plan.Op != r.Op {
			return nil, fmt.Errorf("plan %s does %s on %d ranks; asked for is %s on %d", r.Plan.Algorithm, r.Plan.Op, r.Plan.Ranks, r.Op, n)
		}
		return r.Plan, r.Plan.Fits(r.Count)
	}
	a, err := collective.Lookup(r.Algorithm)
	if err != nil {
		return nil, err
	}
	if err := a.Check(collective.Use{Op: r.Op, DType: r.DType, RedOp: r.RedOp, Protocol: r.Options.Protocol}, s); err != nil {
		return nil, err
	}
	return collective.Build(r.Algorithm, r.Op, s, r.Options)
}

// Batch is a set of runs that are in flight together. A session's batches
// follow one another: each begins when nothing of the one before is pending.
type Batch struct {
	Runs []Run
	// Watchdog ends an operation of the batch that makes no progress, so long after
	// its start. 0: the session's.
	Watchdog shaping.Duration
}

// Offset returns when the batch begins: the earliest offset of its runs.
func (b *Batch) Offset() shaping.Time {
	at := shaping.Never
	for i := range b.Runs {
		at = min(at, b.Runs[i].Offset)
	}
	return at
}

// End is the instant at which a rank finished an iteration of a run.
type End struct {
	Run, Rank, Iteration int
	At                   shaping.Time
}
