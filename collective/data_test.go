package collective

import (
	"bytes"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

func eachKind(t *testing.T, f func(t *testing.T, d DType, op RedOp)) {
	for _, d := range DTypes() {
		for _, op := range RedOps() {
			t.Run(fmt.Sprintf("%v/%v", d, op), func(t *testing.T) { f(t, d, op) })
		}
	}
}

func data(d DType, op RedOp, n int) Data {
	return Data{Op: AllReduce, DType: d, RedOp: op, Seed: 7, Ranks: n}
}

func (d Data) input(rank int, first, elems int64) []byte {
	b := make([]byte, elems*d.DType.Size())
	d.Fill(b, rank, first)
	return b
}

// prepared is what of a rank's input is combined.
func (d Data) prepared(rank int, first, elems int64) []byte {
	b := d.input(rank, first, elems)
	Prepare(b, d.DType, d.RedOp, rank, d.Ranks)
	return b
}

func (d Data) expected(first, elems int64) []byte {
	b := make([]byte, elems*d.DType.Size())
	d.Expect(b, 0, first+elems, first)
	return b
}

// Whatever the order in which ranks are combined, the bits are those expected.
// The expectation works on symbols and never calls Combine: that the two agree
// is the point.
func TestEveryOrderGivesTheExpectedBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	eachKind(t, func(t *testing.T, d DType, op RedOp) {
		for _, n := range []int{1, 2, 3, 7, 16, 17, 33, 50, 65, 130} {
			data, first := data(d, op, n), int64(rng.IntN(1<<20))
			want := data.expected(first, 37)
			for try := range 3 {
				if w := CountWrong(data.reduceAnyhow(rng, first, 37), want, d); w != 0 {
					t.Errorf("%d ranks, order %d: %d of 37 elements differ", n, try, w)
				}
			}
		}
	})
}

// reduceAnyhow combines all ranks' inputs, two at a time, in a random tree.
func (d Data) reduceAnyhow(rng *rand.Rand, first, elems int64) []byte {
	var parts [][]byte
	for r := range d.Ranks {
		parts = append(parts, d.prepared(r, first, elems))
	}
	for len(parts) > 1 {
		i := rng.IntN(len(parts) - 1)
		j := i + 1 + rng.IntN(len(parts)-1-i)
		Combine(parts[i], parts[i], parts[j], d.DType, d.RedOp)
		parts = slices.Delete(parts, j, j+1)
	}
	Finish(parts[0], d.DType, d.RedOp, d.Ranks)
	return parts[0]
}

// A switch, too, gives the expected bits: no order, no accumulator changes them.
func TestSwitchGivesTheExpectedBits(t *testing.T) {
	eachKind(t, func(t *testing.T, d DType, op RedOp) {
		for _, n := range []int{1, 2, 8, 50} {
			data, in := data(d, op, n), make([][]byte, n)
			for r := range in {
				in[r] = data.prepared(r, 3, 1100)
			}
			CombineAll(in[0], in, d, op)
			Finish(in[0], d, op, n)
			if w := CountWrong(in[0], data.expected(3, 1100), d); w != 0 {
				t.Errorf("%d ranks: %d of 1100 elements differ", n, w)
			}
		}
	})
}

// The bounds that make floats exact, at the largest symbols hashing could give.
func TestLargestSymbolsFitAFloat(t *testing.T) {
	var sum, exponent uint64
	for r := range MaxRanks {
		sum += sumBits(r) + 1
		exponent += exponentBits(r)
		if r%batch != 0 && (sumBits(r) != sumBits(r-1) || exponentBits(r) != exponentBits(r-1)) {
			t.Errorf("the range of symbols changes at rank %d, inside a batch", r)
		}
	}
	if sum > 1<<24 {
		t.Errorf("sums reach %d, more than the 2^24 a float counts to", sum)
	}
	if exponent > 127 {
		t.Errorf("products reach 2^%d, more than the 2^127 a float holds", exponent)
	}
}

// Sums and float products at full size, one element each, in rank order.
func TestExactOnMaxRanks(t *testing.T) {
	if testing.Short() {
		t.Skip("131,072 ranks")
	}
	for _, c := range []struct {
		d  DType
		op RedOp
	}{{Float32, Sum}, {Float32, Prod}, {Float32, Max}, {BFloat16, Sum}, {Float8E5M2, Prod}, {Int8, Min}} {
		data := data(c.d, c.op, MaxRanks)
		acc, in := data.input(0, 5, 2), make([]byte, 2*c.d.Size())
		for r := 1; r < MaxRanks; r++ {
			data.Fill(in, r, 5)
			Combine(acc, acc, in, c.d, c.op)
		}
		if CountWrong(acc, data.expected(5, 2), c.d) != 0 {
			t.Errorf("%v %v of %d ranks differs", c.d, c.op, MaxRanks)
		}
	}
}

// Any window of the data, at any address, equals the same part of the whole.
func TestWindowsAgreeWithTheWhole(t *testing.T) {
	eachKind(t, func(t *testing.T, d DType, op RedOp) {
		size, data := d.Size(), data(d, op, 37)
		whole := data.expected(0, 2*blockElems+9)
		for _, first := range []int64{0, 1, 2, 3, 4, blockElems - 1, blockElems} {
			for _, n := range []int64{0, 1, 2, 5, blockElems, blockElems + 3} {
				for shift := range 2 {
					got := make([]byte, n*size+1)[shift:][:n*size]
					data.Expect(got, 0, 1<<20, first)
					if !bytes.Equal(got, whole[first*size:][:n*size]) {
						t.Errorf("elements %d to %d, address off by %d, differ", first, first+n, shift)
					}
				}
			}
		}
	})
}

// Each operation against its definition, written out once more by hand.
func TestExpectFollowsTheDefinitions(t *testing.T) {
	const n, count, root = 5, 7, 3
	data := data(Int64, Sum, n)
	data.Root = root
	in := func(rank, index int) []byte { return data.input(rank, int64(index), 1) }
	all := func(index int) []byte { return data.expected(int64(index), 1) }
	defs := map[Op]func(rank, e int) []byte{
		AllReduce:     func(_, e int) []byte { return all(e) },
		Reduce:        func(_, e int) []byte { return all(e) },
		ReduceScatter: func(rank, e int) []byte { return all(rank*count + e) },
		AllGather:     func(_, e int) []byte { return in(e/count, e%count) },
		Gather:        func(_, e int) []byte { return in(e/count, e%count) },
		Broadcast:     func(_, e int) []byte { return in(root, e) },
		Scatter:       func(rank, e int) []byte { return in(root, rank*count+e) },
		AllToAll:      func(rank, e int) []byte { return in(e/count, rank*count+e%count) },
		AllToAllV:     func(rank, e int) []byte { return unlike(rank, e, n, count, in) },
		Barrier:       func(_, e int) []byte { return all(e) },
		SendRecv:      func(rank, e int) []byte { return in((rank+n-1)%n, e) },
	}
	for _, op := range Ops() {
		for rank := range n {
			elems := int(Checked(op, n, rank, root, count))
			got := make([]byte, elems*8)
			of := data
			of.Op = op
			of.Expect(got, rank, count, 0)
			for e := range elems {
				if !bytes.Equal(got[e*8:][:8], defs[op](rank, e)) {
					t.Errorf("%v: element %d of rank %d's output", op, e, rank)
				}
			}
		}
	}
}

// unlike is the definition of alltoallv, part by part.
func unlike(rank, e, n, count int, in func(rank, index int) []byte) []byte {
	from := 0
	for ; e >= partOf(rank, from, n, count); from++ {
		e -= partOf(rank, from, n, count)
	}
	for q := range rank {
		e += partOf(from, q, n, count)
	}
	return in(from, e)
}

// partOf is how much rank r sends to q: a share of twice the average for every
// step round the circle, and where that is none, what is left.
func partOf(r, q, n, count int) int {
	share, left := 2*count/n, n*count
	if (r+q)%n > 0 {
		return (r + q) % n * share
	}
	for i := range n {
		left -= i * share
	}
	return left
}

func TestCheckedAndUniform(t *testing.T) {
	var b strings.Builder
	for _, op := range Ops() {
		fmt.Fprintf(&b, "%v %d %d %v\n", op, Checked(op, 4, 0, 0, 10), Checked(op, 4, 1, 0, 10), op.Uniform())
	}
	const want = `all_reduce 10 10 true
all_gather 40 40 true
reduce_scatter 10 10 false
broadcast 10 10 true
reduce 10 0 false
alltoall 40 40 false
sendrecv 10 10 false
gather 40 0 false
scatter 10 10 false
alltoallv 40 40 false
barrier 10 10 true
`
	if b.String() != want {
		t.Errorf("elements of root, of another rank, and uniform:\n%s", b.String())
	}
}

func TestDataRefuseBugs(t *testing.T) {
	b := make([]byte, 16)
	two, reduce := data(Float32, Sum, 2), data(Float32, Sum, 2)
	reduce.Op = Reduce
	for name, f := range map[string]func(){
		"beyond the output": func() { two.Expect(b, 0, 3, 0) },
		"before it":         func() { two.Expect(b, 0, 9, -1) },
		"no defined value":  func() { reduce.Expect(b, 1, 9, 0) },
		"too many ranks":    func() { two.Fill(b, MaxRanks, 0) },
		"negative rank":     func() { two.Fill(b, -1, 0) },
		"half an element":   func() { two.Fill(b[:6], 0, 0) },
		"type":              func() { data(numDTypes, Sum, 2).Fill(b, 0, 0) },
		"reduction":         func() { data(Float32, numRedOps, 2).Fill(b, 0, 0) },
		"lengths":           func() { CountWrong(b, b[:8], Float32) },
	} {
		if !panics(f) {
			t.Errorf("%s: no panic", name)
		}
	}
}

// How surely a fault is seen, counted over every rank and many elements: the
// figures of the comment in data_symbol.go.
func TestFaultsAreSeen(t *testing.T) {
	const n, elems = 32, 512
	eachKind(t, func(t *testing.T, d DType, op RedOp) {
		data := data(d, op, n)
		want, share := data.expected(0, elems), data.recipe(true).share
		idempotent := op == Min || op == Max
		missing, twice, moved := 0, 0, 0
		var inputs [][]byte
		for r := range n {
			inputs = append(inputs, data.prepared(r, 0, elems))
		}
		for r, own := range inputs {
			w := CountWrong(data.altered(inputs, r, 0), want, d)
			if missing += elems - int(w); idempotent && w == 0 {
				t.Errorf("rank %d could be left out of %d elements", r, elems)
			}
			twice += elems - int(CountWrong(data.altered(inputs, r, 2), want, d))
			cut := int(d.Size()) * share.groups // the next element it has a say in
			moved += elems - share.groups - int(CountWrong(own[cut:], own[:len(own)-cut], d))
		}
		// Of n × elems = 2^14 trials; the seed is fixed.
		silent := n * elems * (share.groups - 1) / share.groups // no say in them
		limit := silent + 8 + n*elems/share.groups>>share.bits*3/2
		if op == Prod && d.float() {
			limit = silent + n*elems/share.groups/8*3/2
			missing = min(missing, limit)
		}
		if op == Prod {
			limit += n * elems >> share.bits
		}
		if !idempotent && (missing > limit || twice > limit) || moved > limit || idempotent && twice < n*elems {
			t.Errorf("unseen of %d: missing %d, twice %d, moved %d; at most %d", n*elems, missing, twice, moved, limit)
		}
		if w := CountWrong(make([]byte, len(want)), want, d); w != elems {
			t.Errorf("%d expected elements are zero", elems-w)
		}
	})
}

// altered is the reduction with one rank's contribution some other number of
// times than once.
func (d Data) altered(inputs [][]byte, rank, times int) []byte {
	rest := slices.Concat(inputs[:rank], inputs[rank+1:])
	for range times {
		rest = append(rest, inputs[rank])
	}
	acc := slices.Clone(rest[0])
	for _, in := range rest[1:] {
		Combine(acc, acc, in, d.DType, d.RedOp)
	}
	Finish(acc, d.DType, d.RedOp, d.Ranks)
	return acc
}

// In every 2^⌈log2 n⌉ consecutive elements each rank is, somewhere, alone the
// extreme one: nobody can be left out of such a slice.
func TestEveryRankIsExtremeSomewhere(t *testing.T) {
	for _, op := range []RedOp{Min, Max} {
		for n := 2; n <= 70; n++ {
			window := int64(1) << bits.Len(uint(n-1))
			for _, first := range []int64{0, 3, 1<<33 + 5} {
				want := data(Int32, op, n).expected(first, window)
				alone := make([]bool, n)
				for i := range window {
					if r, ties := holder(op, n, first+i, want[i*4:][:4]); ties == 1 {
						alone[r] = true
					}
				}
				if r := slices.Index(alone, false); r >= 0 {
					t.Errorf("%v of %d ranks, %d elements from %d on: rank %d can be left out", op, n, window, first, r)
				}
			}
		}
	}
}

func holder(op RedOp, n int, i int64, want []byte) (rank, ties int) {
	for r := range n {
		if bytes.Equal(data(Int32, op, n).input(r, i, 1), want) {
			rank = r
			ties++
		}
	}
	return rank, ties
}

func TestCountWrongCountsElements(t *testing.T) {
	a := make([]byte, 64)
	b := slices.Clone(a)
	b[0], b[1], b[31], b[63] = 1, 1, 1, 1
	if got := [3]int64{CountWrong(a, a, Float64), CountWrong(a, b, Float64), CountWrong(a, b, Int32)}; got != [3]int64{0, 3, 3} {
		t.Errorf("wrong elements %v; want 0, 3, 3", got)
	}
	if CountWrong(nil, nil, Float32) != 0 {
		t.Error("nothing differs from nothing")
	}
}

func TestFillAllocatesNothing(t *testing.T) {
	b := make([]byte, 8192)
	for _, op := range realRedOps {
		if n := testing.AllocsPerRun(5, func() { data(Float32, op, 4).Fill(b, 2, 0) }); n != 0 {
			t.Errorf("%v: %v allocations", op, n)
		}
	}
}

// The values themselves: processes of different builds must draw the same.
func TestGoldenData(t *testing.T) {
	datadriven.RunTest(t, "testdata/data.txt", func(t *testing.T, td *datadriven.TestData) string {
		var typ, red string
		var n int
		td.ScanArgs(t, "type", &typ)
		td.ScanArgs(t, "redop", &red)
		td.ScanArgs(t, "ranks", &n)
		d, err1 := ParseDType(typ)
		op, err2 := ParseRedOp(red)
		if err1 != nil || err2 != nil {
			return fmt.Sprint(err1, err2)
		}
		var b strings.Builder
		for r := range n {
			fmt.Fprintf(&b, "rank %d  %s\n", r, show(data(d, op, n).input(r, 0, 6), d))
		}
		fmt.Fprintf(&b, "all     %s\n", show(data(d, op, n).expected(0, 6), d))
		return b.String()
	})
}

func show(b []byte, d DType) string {
	var out []string
	switch d {
	case Float32:
		out = printed[float32](b)
	case Float64:
		out = printed[float64](b)
	case Int32:
		out = printed[int32](b)
	case Int64:
		out = printed[int64](b)
	case Int8:
		out = printed[int8](b)
	case Uint8:
		out = printed[uint8](b)
	case Uint32:
		out = printed[uint32](b)
	case Uint64:
		out = printed[uint64](b)
	default:
		for size := int(d.Size()); len(b) > 0; b = b[size:] {
			out = append(out, fmt.Sprint(d.narrow().value(element(b, size))))
		}
	}
	return strings.Join(out, " ")
}

func printed[T number](b []byte) (out []string) {
	v := make([]T, len(b)/sizeOf[T]())
	decode(v, b)
	for _, x := range v {
		out = append(out, fmt.Sprint(x))
	}
	return out
}

func BenchmarkFill(b *testing.B) {
	dst := make([]byte, 1<<20)
	for _, d := range DTypes() {
		for _, op := range RedOps() {
			b.Run(fmt.Sprintf("%v/%v", d, op), func(b *testing.B) {
				b.SetBytes(int64(len(dst)))
				for b.Loop() {
					data(d, op, 32).Fill(dst, 3, 0)
				}
			})
		}
	}
}

// BenchmarkExpect reports the time for each element of each rank.
func BenchmarkExpect(b *testing.B) {
	const n, elems = 32, 1 << 16
	dst := make([]byte, elems*8)
	for _, d := range DTypes() {
		for _, op := range RedOps() {
			b.Run(fmt.Sprintf("%v/%v", d, op), func(b *testing.B) {
				for b.Loop() {
					data(d, op, n).Expect(dst[:elems*d.Size()], 0, elems, 0)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n/elems, "ns/rank-element")
			})
		}
	}
}
