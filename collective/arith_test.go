package collective

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

var (
	realTypes  = []DType{Float32, Float64, Int8, Uint8, Int32, Uint32, Int64, Uint64}
	realRedOps = []RedOp{Sum, Prod, Min, Max}
)

// combineOne is what Combine must do to one element, told in the plainest way.
func combineOne(dst, a, b []byte, d DType, op RedOp) {
	switch le := binary.LittleEndian; d {
	case Float32:
		x, y := math.Float32frombits(le.Uint32(a)), math.Float32frombits(le.Uint32(b))
		z := float32(0)
		if op == Sum {
			z = x + y
		} else if op == Prod {
			z = x * y
		} else {
			z = float32(extreme(float64(x), float64(y), op))
		}
		le.PutUint32(dst, math.Float32bits(z))
	case Float64:
		x, y := math.Float64frombits(le.Uint64(a)), math.Float64frombits(le.Uint64(b))
		z := extreme(x, y, op)
		if op == Sum {
			z = x + y
		} else if op == Prod {
			z = x * y
		}
		le.PutUint64(dst, math.Float64bits(z))
	case Int8:
		dst[0] = byte(wholeOf(int64(int8(a[0])), int64(int8(b[0])), op))
	case Uint8:
		dst[0] = byte(wholeOf(int64(a[0]), int64(b[0]), op))
	case Int32:
		le.PutUint32(dst, uint32(wholeOf(int64(int32(le.Uint32(a))), int64(int32(le.Uint32(b))), op)))
	case Uint32:
		le.PutUint32(dst, uint32(wholeOf(int64(le.Uint32(a)), int64(le.Uint32(b)), op)))
	case Uint64:
		x, y := le.Uint64(a), le.Uint64(b)
		switch op {
		case Min:
			x = min(x, y)
		case Max:
			x = max(x, y)
		default:
			x = uint64(wholeOf(int64(x), int64(y), op))
		}
		le.PutUint64(dst, x)
	case Int64:
		le.PutUint64(dst, uint64(wholeOf(int64(le.Uint64(a)), int64(le.Uint64(b)), op)))
	}
}

func extreme(x, y float64, op RedOp) float64 {
	switch {
	case math.IsNaN(x):
		return y
	case math.IsNaN(y):
		return x
	case op == Min:
		return math.Min(x, y)
	default:
		return math.Max(x, y)
	}
}

func wholeOf(x, y int64, op RedOp) int64 {
	switch {
	case op == Sum:
		return x + y
	case op == Prod:
		return x * y
	case (op == Min) == (x < y):
		return x
	default:
		return y
	}
}

// pick returns elements of which every third is a value that often goes wrong.
func pick(rng *rand.Rand, b []byte, d DType) {
	odd := map[DType][]uint64{
		Float32: {0, 1 << 31, 0x7f800000, 0xff800000, 1, 0x7f7fffff},
		Float64: {0, 1 << 63, 0x7ff0 << 48, 0xfff0 << 48, 1, 0x7fefffffffffffff},
		Int8:    {0, 0x80, 0x7f, 0xff, 1, 2},
		Uint8:   {0, 0x80, 0x7f, 0xff, 1, 2},
		Int32:   {0, 1 << 31, 0x7fffffff, 0xffffffff, 1, 2},
		Uint32:  {0, 1 << 31, 0x7fffffff, 0xffffffff, 1, 2},
		Int64:   {0, 1 << 63, 0x7fffffffffffffff, 0xffffffffffffffff, 1, 2},
		Uint64:  {0, 1 << 63, 0x7fffffffffffffff, 0xffffffffffffffff, 1, 2},
	}[d]
	for size := int(d.Size()); len(b) > 0; b = b[size:] {
		u := rng.Uint64()
		if u%3 == 0 {
			u = odd[u/3%uint64(len(odd))]
		}
		var all [8]byte
		binary.LittleEndian.PutUint64(all[:], u)
		copy(b[:size], all[:])
	}
}

// Every length around the unrolled loops, every alignment, every aliasing.
func TestCombineEqualsOneElementAtATime(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, d := range realTypes {
		for _, op := range realRedOps {
			for n := range 600 / int(max(4, d.Size())) {
				for shift := range 3 {
					combineCase(t, rng, d, op, n, shift, n%3)
				}
			}
		}
	}
}

func combineCase(t *testing.T, rng *rand.Rand, d DType, op RedOp, n, shift, alias int) {
	t.Helper()
	size := int(d.Size())
	a, b := make([]byte, n*size+8)[shift:][:n*size], make([]byte, n*size)
	pick(rng, a, d)
	pick(rng, b, d)
	want := make([]byte, n*size)
	for i := 0; i < len(want); i += size {
		combineOne(want[i:], a[i:], b[i:], d, op)
	}
	dst := [][]byte{make([]byte, n*size), a, b}[alias]
	Combine(dst, a, b, d, op)
	if w := countUnlike(dst, want, d); w != 0 {
		t.Errorf("%v %v of %d elements, address off by %d, aliasing %d: %d wrong", d, op, n, shift, alias, w)
	}
}

// countUnlike is CountWrong with all NaNs alike: which NaN an operation on two
// of them gives is the processor's choice.
func countUnlike(got, want []byte, d DType) (wrong int) {
	for i := 0; i < len(got); i += int(d.Size()) {
		g, w := toFloat(got[i:], d), toFloat(want[i:], d)
		if CountWrong(got[i:i+int(d.Size())], want[i:i+int(d.Size())], d) != 0 && !(math.IsNaN(g) && math.IsNaN(w)) {
			wrong++
		}
	}
	return wrong
}

func toFloat(b []byte, d DType) float64 {
	switch d {
	case Float32:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	case Float64:
		return math.Float64frombits(binary.LittleEndian.Uint64(b))
	}
	return 0
}

func TestNaNLosesAndZerosAreOrdered(t *testing.T) {
	nan, negZero := math.NaN(), math.Copysign(0, -1)
	for _, c := range []struct {
		op      RedOp
		x, y, z float64
	}{
		{Min, nan, 3, 3}, {Min, 3, nan, 3}, {Max, nan, 3, 3}, {Max, 3, nan, 3},
		{Min, 0, negZero, negZero}, {Min, negZero, 0, negZero}, {Max, 0, negZero, 0}, {Max, negZero, 0, 0},
		{Min, nan, nan, nan}, {Max, nan, nan, nan}, {Min, math.Inf(-1), nan, math.Inf(-1)},
	} {
		// Once in the unrolled loop and once in its rest.
		x, y, z := fill64(c.x, 5), fill64(c.y, 5), fill64(c.z, 5)
		Combine(x, x, y, Float64, c.op)
		if countUnlike(x, z, Float64) != 0 {
			t.Errorf("%v(%v, %v) is not %v", c.op, c.x, c.y, c.z)
		}
	}
}

func fill64(x float64, n int) []byte {
	var b []byte
	for range n {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
	}
	return b
}

func TestCombineRefusesBugs(t *testing.T) {
	for name, f := range map[string]func(){
		"lengths differ":  func() { Combine(make([]byte, 8), make([]byte, 8), make([]byte, 4), Float32, Sum) },
		"half an element": func() { Combine(make([]byte, 6), make([]byte, 6), make([]byte, 6), Float32, Sum) },
		"half a half":     func() { Combine(make([]byte, 5), make([]byte, 5), make([]byte, 5), Float16, Sum) },
		"no reduction":    func() { Combine(make([]byte, 8), make([]byte, 8), make([]byte, 8), Float32, numRedOps) },
		"nor of halves":   func() { Combine(make([]byte, 8), make([]byte, 8), make([]byte, 8), Float16, numRedOps) },
		"nor of 8 bits":   func() { Combine(make([]byte, 8), make([]byte, 8), make([]byte, 8), Float8E4M3, numRedOps) },
		"no type":         func() { Combine(make([]byte, 8), make([]byte, 8), make([]byte, 8), numDTypes, Sum) },
		"sources differ":  func() { CombineAll(make([]byte, 8), [][]byte{make([]byte, 8), make([]byte, 4)}, Float32, Sum) },
	} {
		if !panics(f) {
			t.Errorf("%s: no panic", name)
		}
	}
}

func panics(f func()) (did bool) {
	defer func() { did = recover() != nil }()
	f()
	return false
}

// With vectors and without, sums have the same bits, at every length and address.
func TestVectorsAndScalarsAgree(t *testing.T) {
	if !vector {
		t.Skip("this processor has no vectors that we use")
	}
	defer func() { vector = true }()
	rng := rand.New(rand.NewPCG(31, 32))
	for _, d := range []DType{Float32, Float16, BFloat16} {
		for n := range 200 {
			size, shift := int(d.Size()), n%7
			a, b := make([]byte, n*size+8)[shift:][:n*size], make([]byte, n*size)
			for i := range a {
				a[i], b[i] = byte(rng.Uint32()), byte(rng.Uint32())
				if rng.IntN(3) == 0 && i%size == size-1 { // infinities, NaNs and subnormals
					a[i], b[i] = a[i]|0x7f, b[i]&0x80
				}
			}
			fast, slow := make([]byte, n*size), make([]byte, n*size)
			vector = true
			Combine(fast, a, b, d, Sum)
			vector = false
			Combine(slow, a, b, d, Sum)
			if w := countUnlike(fast, slow, d); w != 0 {
				t.Errorf("%v: %d of %d elements differ", d, w, n)
			}
		}
	}
}

// All pairs in which vectors and scalars round alike: every half with a few.
func TestVectorsRoundEveryHalf(t *testing.T) {
	if !vector {
		t.Skip("this processor has no vectors that we use")
	}
	defer func() { vector = true }()
	const n = 1 << 16
	a, b, fast, slow := make([]byte, 2*n), make([]byte, 2*n), make([]byte, 2*n), make([]byte, 2*n)
	for _, d := range []DType{Float16, BFloat16} {
		for _, y := range []uint32{0, 1, 0x8001, 0x3c01, 0xbc00, 0x7bff, 0x7c00, 0xfc00, 0x7f80, 0x7e01, 0x0403, 0x8412} {
			for x := range uint32(n) {
				binary.LittleEndian.PutUint16(a[2*x:], uint16(x))
				binary.LittleEndian.PutUint16(b[2*x:], uint16(y+x>>3&7))
			}
			vector = true
			Combine(fast, a, b, d, Sum)
			vector = false
			Combine(slow, a, b, d, Sum)
			if w := CountWrong(fast, slow, d); w != 0 {
				t.Errorf("%v + about %#x: %d of all values differ", d, y, w)
			}
		}
	}
}

func TestCombineAllocatesNothing(t *testing.T) {
	a, b := make([]byte, 4096), make([]byte, 4097)[1:]
	if n := testing.AllocsPerRun(10, func() { Combine(a, a, b, Float32, Sum) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// BenchmarkCombine reports, beside its own speed, how many times longer it
// takes than to copy the same slice.
func BenchmarkCombine(b *testing.B) {
	for _, d := range DTypes() {
		for _, op := range realRedOps {
			b.Run(fmt.Sprintf("%v/%v", d, op), func(b *testing.B) { overCopy(b, 256<<10, d, op) })
		}
	}
}

// BenchmarkSumOverCopy is the sum that matters, in each cache and in memory. A
// sum moves three streams where a copy moves two: 1.5 is memory speed.
func BenchmarkSumOverCopy(b *testing.B) {
	was := vector
	defer func() { vector = was }()
	for _, vector = range []bool{was, false} {
		for _, d := range []DType{Float32, Float16, BFloat16} {
			for _, size := range []int{32 << 10, 1 << 20, 64 << 20} {
				b.Run(fmt.Sprintf("%v/%dK/vector=%v", d, size>>10, vector), func(b *testing.B) { overCopy(b, size, d, Sum) })
			}
		}
	}
}

func overCopy(b *testing.B, size int, d DType, op RedOp) {
	x, y, z := make([]byte, size), make([]byte, size), make([]byte, size)
	data(d, op, 2).Fill(x, 0, 0)
	data(d, op, 2).Fill(y, 1, 0)
	Combine(z, x, y, d, op)
	for b.Loop() {
		Combine(z, x, y, d, op)
	}
	combined := b.Elapsed()
	b.StartTimer()
	for range b.N {
		copy(z, x)
	}
	b.StopTimer()
	copied := b.Elapsed() - combined
	b.ReportMetric(float64(combined)/float64(copied), "x-copy")
	b.ReportMetric(float64(size)*float64(b.N)/float64(combined.Nanoseconds()), "GB/s")
	b.ReportMetric(float64(combined)/float64(b.N), "ns/op")
}
