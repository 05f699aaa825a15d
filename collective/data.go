package collective

import (
	"bytes"
	"fmt"
)

// Test data: what each rank puts in, and what must come out.
//
// Element i of rank r's input depends on (seed, r, i, type, reduction) alone,
// so any process can say what any other put in. The values are such that
//
//   - every order of reduction gives the same bits, on up to MaxRanks ranks, so
//     answers are compared bit for bit and ranks must agree;
//   - no expected element is zero, so memory that nobody wrote is seen;
//   - a contribution that is missing, twice there, or another's is seen, see the
//     table of symbols for how surely.
//
// An input of several parts (reduce_scatter, alltoall, scatter) is one sequence:
// element i of part p has the index p × count + i.

// MaxRanks is how many ranks the test data are exact for: the sum of 2^17
// inputs still fits the 24 bits of a float's significand.
const MaxRanks = 1 << 17

// Fill writes the elements first, first+1, … of a rank's input to dst. A type or
// reduction that is not implemented panics, as does a length that is no whole
// number of elements.
func Fill(dst []byte, d DType, op RedOp, seed uint64, rank int, first int64) {
	expectation{d, op, seed}.fill(dst, ranks{rank, rank + 1}, first)
}

// Expect writes to dst what the elements first, first+1, … of a rank's output
// must be after op over n ranks with count elements a part. It follows the
// definition of the operation, knows no plan and does not use Combine.
//
// Elements beyond Checked(op, n, rank, root, count) have no defined value; to
// ask for them panics.
func Expect(dst []byte, op Op, d DType, redop RedOp, seed uint64, n, rank, root int, count, first int64) {
	elems := int64(len(dst)) / d.Size()
	if end, all := first+elems, Checked(op, n, rank, root, count); first < 0 || end > all {
		panic(fmt.Sprintf("collective: expectation of elements %d to %d of %s on rank %d of %d, which has %d", first, end, op, rank, n, all))
	}
	e := expectation{d, redop, seed}
	for len(dst) > 0 {
		part, i := int(first/count), first%count
		k := min(int64(len(dst))/d.Size(), count-i)
		from, input := source(op, n, rank, root, part)
		e.fill(dst[:k*d.Size()], from, int64(input)*count+i)
		dst, first = dst[k*d.Size():], first+k
	}
}

// Checked returns how many elements of a rank's output have a defined value:
// all, or none on the ranks that a reduce or gather gives nothing, and none
// after a custom operation.
func Checked(op Op, n, rank, root int, count int64) int64 {
	if (op == Reduce || op == Gather) && rank != root || op == Custom {
		return 0
	}
	_, parts := op.Parts(n)
	return int64(parts) * count
}

// Uniform reports whether the operation leaves the same output on every rank.
func (o Op) Uniform() bool { return o == AllReduce || o == AllGather || o == Broadcast || o == Barrier }

// CountWrong returns how many elements of got differ from want. It compares
// bits, which is right because expectations are exact.
func CountWrong(got, want []byte, d DType) int64 {
	if len(got) != len(want) {
		panic(fmt.Sprintf("collective: comparing %d bytes with %d", len(got), len(want)))
	}
	if bytes.Equal(got, want) {
		return 0
	}
	wrong, size := int64(0), int(d.Size())
	for i := 0; i < len(got); i += size {
		if !bytes.Equal(got[i:i+size], want[i:i+size]) {
			wrong++
		}
	}
	return wrong
}

// ranks is the range of ranks [from, to).
type ranks struct{ from, to int }

// source says, for a part of a rank's output, which ranks' inputs it is reduced
// or copied from, and which part of those inputs. This is the definition of
// every operation.
func source(op Op, n, rank, root, part int) (from ranks, input int) {
	one := func(r int) ranks { return ranks{r, r + 1} }
	switch op {
	case AllReduce, Reduce, Barrier:
		return ranks{0, n}, 0
	case ReduceScatter:
		return ranks{0, n}, rank
	case AllGather, Gather:
		return one(part), 0
	case Broadcast:
		return one(root), 0
	case Scatter:
		return one(root), rank
	case AllToAll, AllToAllV:
		return one(part), rank
	case SendRecv: // each rank sends to the next, as nccl-tests does
		return one((rank + n - 1) % n), 0
	}
	panic(fmt.Sprintf("collective: operation %d has no definition", op))
}
