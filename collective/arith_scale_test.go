package collective

import (
	"bytes"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// Prepare and Finish by numbers worked out by hand, at addresses even and odd.
func TestScalingByHand(t *testing.T) {
	for _, c := range []struct {
		d       DType
		op      RedOp
		rank, n int
		in      []byte
		prep    []byte // after Prepare
		done    []byte // and after Finish
	}{
		// 1/3 as half is 0x3555 = 0.33325; 3 times that is half way between 0x3bff
		// and 1, which is even.
		{Float16, Avg, 0, 3, []byte{0x00, 0x42}, []byte{0x00, 0x3c}, nil},
		{Float16, Avg, 0, 3, []byte{0x00, 0x3c}, []byte{0x55, 0x35}, nil},
		{BFloat16, Avg, 1, 4, []byte{0x80, 0x3f}, []byte{0x80, 0x3e}, nil},
		{Float32, Avg, 0, 3, []byte{0, 0, 0x80, 0x3f}, []byte{0xab, 0xaa, 0xaa, 0x3e}, nil},
		{Float64, Avg, 0, 2, []byte{0, 0, 0, 0, 0, 0, 0xf0, 0x3f}, []byte{0, 0, 0, 0, 0, 0, 0xe0, 0x3f}, nil},
		// 1/1000 as e4m3 is 2^−9, the smallest value; 1/1024 is half of it, and zero.
		{Float8E4M3, Avg, 0, 1000, []byte{0x78}, []byte{0x30}, nil},
		{Float8E4M3, Avg, 0, 1024, []byte{0x78}, []byte{0x00}, nil},
		{Int8, Avg, 0, 2, []byte{0xf9, 7}, []byte{0xf9, 7}, []byte{0xfd, 3}}, // −7/2 is −3
		{Int8, Avg, 0, 200, []byte{0x80, 0x7f}, []byte{0x80, 0x7f}, []byte{0, 0}},
		{Uint8, Avg, 0, 2, []byte{0xf9}, []byte{0xf9}, []byte{0x7c}},
		{Int32, Avg, 0, 3, []byte{0xff, 0xff, 0xff, 0xff}, []byte{0xff, 0xff, 0xff, 0xff}, []byte{0, 0, 0, 0}},
		{Uint32, Avg, 0, 3, []byte{0xff, 0xff, 0xff, 0xff}, []byte{0xff, 0xff, 0xff, 0xff}, []byte{0x55, 0x55, 0x55, 0x55}},
		{Int8, MulSum, 1, 4, []byte{100, 3}, []byte{200, 6}, nil}, // wraps
		{Int8, MulSum, 2, 4, []byte{100, 3}, []byte{100, 3}, nil},
		{Float16, MulSum, 3, 4, []byte{0x00, 0x3c}, []byte{0x00, 0x40}, nil},
		{Float32, Sum, 1, 2, []byte{1, 2, 3, 4}, []byte{1, 2, 3, 4}, nil},
		{Int32, Max, 1, 2, []byte{1, 2, 3, 4}, []byte{1, 2, 3, 4}, nil},
	} {
		for shift := range 2 {
			b := make([]byte, len(c.in)+1)[shift:][:len(c.in)]
			copy(b, c.in)
			if Prepare(b, c.d, c.op, c.rank, c.n); !bytes.Equal(b, c.prep) {
				t.Errorf("%v %v, rank %d of %d: %x is prepared as %x; want %x", c.d, c.op, c.rank, c.n, c.in, b, c.prep)
			}
			want := c.done
			if want == nil {
				want = c.prep
			}
			if Finish(b, c.d, c.op, c.n); !bytes.Equal(b, want) {
				t.Errorf("%v %v of %d: %x is finished as %x; want %x", c.d, c.op, c.n, c.prep, b, want)
			}
		}
	}
}

// The order of two operands shows in no bit, whatever they are, but for the NaN
// that floats and doubles make of two. Recursive doubling rests on it.
func TestCombineIsCommutative(t *testing.T) {
	rng := rand.New(rand.NewPCG(51, 52))
	const elems = 4096
	for _, d := range DTypes() {
		size := int(d.Size())
		a, b := make([]byte, elems*size), make([]byte, elems*size)
		for i := range a {
			a[i], b[i] = byte(rng.Uint32()), byte(rng.Uint32())
			if rng.IntN(4) == 0 && i%size >= size-2 {
				a[i], b[i] = a[i]|0x7f, b[i]|0x7f
			}
		}
		for _, op := range realRedOps {
			ab, ba := make([]byte, len(a)), make([]byte, len(a))
			Combine(ab, a, b, d, op)
			Combine(ba, b, a, d, op)
			wrong := CountWrong(ab, ba, d)
			if d == Float32 || d == Float64 {
				wrong = int64(countUnlike(ab, ba, d))
			}
			if wrong != 0 {
				t.Errorf("%v %v: %d of %d depend on the order", d, op, wrong, elems)
			}
		}
	}
}

// A switch rounds once: its sum is the exact one rounded, where pairwise sums are
// not. Magnitudes are such that the accumulator is exact.
func TestSwitchRoundsOnce(t *testing.T) {
	rng := rand.New(rand.NewPCG(53, 54))
	const n, elems = 16, 500
	for _, d := range []DType{Float32, Float16, BFloat16, Float8E4M3, Float8E5M2} {
		srcs, sums := make([][]byte, n), make([]float64, elems)
		for r := range srcs {
			srcs[r] = make([]byte, elems*int(d.Size()))
			for i := range sums {
				x := float32(math.Ldexp(rng.Float64()-0.5, rng.IntN(6)))
				putFactor(srcs[r][i*int(d.Size()):], d, float64(x))
				sums[i] += numberOf(srcs[r][i*int(d.Size()):], d)
			}
		}
		once, pairwise := make([]byte, len(srcs[0])), bytes.Clone(srcs[0])
		CombineAll(once, srcs, d, Sum)
		for _, s := range srcs[1:] {
			Combine(pairwise, pairwise, s, d, Sum)
		}
		want := make([]byte, len(once))
		for i, x := range sums {
			if f := d.narrow(); f != nil {
				putFactor(want[i*int(d.Size()):], d, numberOfBits(d, reference(d, big.NewFloat(x))))
			} else {
				putFactor(want[i*4:], d, x)
			}
		}
		if w := CountWrong(once, want, d); w != 0 {
			t.Errorf("%v: %d of %d sums are not the exact ones rounded", d, w, elems)
		}
		if CountWrong(pairwise, want, d) == 0 {
			t.Errorf("%v: pairwise sums round nowhere: the test shows nothing", d)
		}
	}
}

func numberOf(b []byte, d DType) float64 {
	if d.narrow() == nil {
		return toFloat(b, d)
	}
	return numberOfBits(d, element(b, int(d.Size())))
}

func numberOfBits(d DType, bits uint32) float64 {
	x, _ := exact(d, bits).Float64()
	return x
}
