package report

import (
	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu/sweep"
)

// Row is one line of the table: one operation at one size.
type Row struct {
	Size  int64 // bytes, as sweep.Message counts them
	Count int64 // elements, as sweep.Message counts them
	Type  string
	RedOp string // "none" for operations that do not reduce
	Root  int    // -1 for operations without a root

	OutOfPlace, InPlace Cell

	// Iterations is how many were really run for a cell: emulated time is
	// exact, so no more than its steady state needs. It goes into JSON alone.
	Iterations int
}

// Cell is one half of a row.
type Cell struct {
	TimePs int64 // emulated time of one iteration, in picoseconds
	Wrong  int64 // elements that are not what they must be, over all ranks
	// Checked says that the elements were looked at. As in nccl-tests, nobody
	// looks at the in-place half of alltoall and sendrecv.
	Checked bool
	NA      bool // not run at all: a barrier has no in-place half
}

// NewRow returns a row without results, labelled as nccl-tests labels it.
func NewRow(op collective.Op, d collective.DType, r collective.RedOp, root int, bytes int64, n int) Row {
	row := Row{Type: d.String(), RedOp: "none", Root: -1}
	row.Count, row.Size = sweep.Message(op, bytes, d.Size(), n)
	if op.Reduces() && op != collective.Barrier {
		row.RedOp = r.String()
	}
	if sweep.Rooted(op) {
		row.Root = root
	}
	return row
}

// Bandwidth returns what nccl-tests calls algorithm and bus bandwidth, in GB/s
// (10^9 B/s), of an operation over n ranks that moved size bytes in timePs
// picoseconds. The bus bandwidth is the rate of the busiest link in the best
// case, whatever algorithm ran. No time gives zero, as does a single rank where
// ranks exchange parts, and a barrier, which moves no data.
func Bandwidth(op collective.Op, n int, size, timePs int64) (alg, bus float64) {
	if timePs <= 0 || op == collective.Barrier {
		return 0, 0
	}
	num, den := factor(op, int64(n))
	alg = 1000 * float64(size) / float64(timePs)
	// The conversion keeps processors that can from fusing the product with a
	// sum at the caller, which would round differently.
	return alg, float64(alg * float64(num) / float64(den))
}

// factor returns busbw / algbw (nccl-tests, doc/PERFORMANCE.md).
func factor(op collective.Op, n int64) (num, den int64) {
	switch op {
	case collective.AllReduce:
		return 2 * (n - 1), n
	case collective.AllGather, collective.ReduceScatter, collective.AllToAll, collective.AllToAllV,
		collective.Gather, collective.Scatter:
		return n - 1, n
	default:
		return 1, 1
	}
}
