package collective

import (
	"bytes"
	"fmt"
)

// Test data: what each rank puts in, and what must come out.
//
// Element i of rank r's input depends on Data, r and i alone, so any process can
// say what any other put in. The values are such that
//
//   - every order of reduction gives the same bits, on up to MaxRanks ranks, so
//     answers are compared bit for bit and ranks must agree;
//   - no expected element is zero, so memory that nobody wrote is seen (but an
//     average that its type rounds to zero always, see data_value.go);
//   - a contribution that is missing, twice there, or another's is seen, see the
//     table of symbols for how surely.
//
// An input of several parts (reduce_scatter, alltoall, scatter) is one sequence:
// element i of part p has the index p × count + i; alltoallv's parts follow one
// another likewise, each with its own length.

// MaxRanks is how many ranks the test data are exact for: the sum of 2^17
// inputs still fits the 24 bits of a float's significand.
const MaxRanks = 1 << 17

// Data is the test data of one operation.
type Data struct {
	Op    Op
	DType DType
	RedOp RedOp // of no consequence where Op does not reduce
	Seed  uint64
	Ranks int // of the communicator, at most MaxRanks
	Root  int
}

// Fill writes the elements first, first+1, … of a rank's input to dst. A length
// that is no whole number of elements panics, as does a rank beyond MaxRanks.
func (d Data) Fill(dst []byte, rank int, first int64) {
	d.recipe(true).fill(dst, ranks{rank, rank + 1}, first)
}

// Expect writes to dst what the elements first, first+1, … of a rank's output
// must be with count elements a part. It follows the definition of the operation,
// knows no plan and does not use Combine.
//
// Elements beyond Checked(op, n, rank, root, count) have no defined value; to
// ask for them panics.
func (d Data) Expect(dst []byte, rank int, count, first int64) {
	size := d.DType.Size()
	elems := int64(len(dst)) / size
	if end, all := first+elems, Checked(d.Op, d.Ranks, rank, d.Root, count); first < 0 || end > all {
		panic(fmt.Sprintf("collective: expectation of elements %d to %d of %s on rank %d of %d, which has %d", first, end, d.Op, rank, d.Ranks, all))
	}
	r := d.recipe(false)
	for len(dst) > 0 {
		part, i, left := locate(d.Op, d.Ranks, rank, count, first)
		k := min(int64(len(dst))/size, left)
		from, input := source(d.Op, d.Ranks, rank, d.Root, part)
		r.fill(dst[:k*size], from, partOffset(d.Op, d.Ranks, from.from, input, count)+i)
		dst, first = dst[k*size:], first+k
	}
}

// SameInputs reports whether all ranks' inputs are the same, element by element,
// even where the operations differ.
func (d Data) SameInputs(o Data) bool { return d.recipe(true) == o.recipe(true) }

// locate says in which part of a rank's output element e lies, at which place in
// it, and how many of the part's elements there are from there on.
func locate(op Op, n, rank int, count, e int64) (part int, i, left int64) {
	if op != AllToAllV {
		return int(e / count), e % count, count - e%count
	}
	l := lengths{int64(n), count}
	part = l.at(rank, e)
	i = e - l.before(rank, part)
	return part, i, l.of(rank, part) - i
}

// partOffset returns where a part of a rank's input begins.
func partOffset(op Op, n, rank, part int, count int64) int64 {
	if op != AllToAllV {
		return int64(part) * count
	}
	return lengths{int64(n), count}.before(rank, part)
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
