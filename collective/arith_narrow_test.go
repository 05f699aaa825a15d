package collective

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

var narrowTypes = []DType{Float16, BFloat16, Float8E4M3, Float8E5M2}

// magnitude is what the bits of a format mean, from the definition: no shifts of
// float bits, no float32.
func magnitude(d DType, bits uint32) *big.Float {
	frac := map[DType]int{Float16: 10, BFloat16: 7, Float8E4M3: 3, Float8E5M2: 2}[d]
	bias := map[DType]int{Float16: 15, BFloat16: 127, Float8E4M3: 7, Float8E5M2: 15}[d]
	exp, m := int(bits>>frac), int64(bits&(1<<frac-1))
	if exp > 0 {
		m += 1 << frac
	} else {
		exp = 1
	}
	x := new(big.Float).SetPrec(600).SetInt64(m)
	return x.SetMantExp(x, exp-bias-frac)
}

// largestOf is the bits of the largest finite value; above it the specifications
// give infinity and NaN.
func largestOf(d DType) uint32 {
	return map[DType]uint32{Float16: 0x7bff, BFloat16: 0x7f7f, Float8E4M3: 0x7e, Float8E5M2: 0x7b}[d]
}

// reference rounds an exact number by looking for its neighbours: slow, and alike
// to nothing in the package. Of two as near, the one with an even last bit.
func reference(d DType, x *big.Float) uint32 {
	sign := uint32(0)
	if x.Signbit() {
		sign = 1 << (8*d.Size() - 1)
	}
	abs := new(big.Float).SetPrec(600).Abs(x)
	lo, hi := uint32(0), largestOf(d)+1 // hi: where the next value would be
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; magnitude(d, mid).Cmp(abs) <= 0 {
			lo = mid
		} else {
			hi = mid
		}
	}
	below := new(big.Float).SetPrec(600).Sub(abs, magnitude(d, lo))
	above := new(big.Float).SetPrec(600).Sub(magnitude(d, lo+1), abs)
	if d == Float8E4M3 && lo == largestOf(d) {
		return sign | lo // no next value: all above saturates
	}
	if c := below.Cmp(above); c > 0 || c == 0 && lo&1 == 1 {
		lo++
	}
	if d.Size() == 1 {
		lo = min(lo, largestOf(d))
	}
	return sign | lo
}

func codes(d DType) uint32 { return 1 << (8 * d.Size()) }

func finite(d DType, bits uint32) bool { return bits&(codes(d)/2-1) <= largestOf(d) }

func exact(d DType, bits uint32) *big.Float {
	x := magnitude(d, bits&(codes(d)/2-1))
	if bits >= codes(d)/2 {
		x.Neg(x)
	}
	return x
}

// Every value of every narrow type: to float32 it is what the definition says,
// and back it is itself.
func TestAllNarrowValuesConvertBothWays(t *testing.T) {
	for _, d := range narrowTypes {
		f := d.narrow()
		for bits := range codes(d) {
			x := f.value(bits)
			m := bits & (codes(d)/2 - 1)
			if fast, ok := fastValue(d, bits); ok && math.Float32bits(fast) != math.Float32bits(x) && (fast == fast || x == x) {
				t.Fatalf("%v %#x is %v; the kernel has %v", d, bits, x, fast)
			}
			switch inf := uint32(largestOf(d) + 1); {
			case finite(d, bits):
				if want := exact(d, bits); want.Cmp(big.NewFloat(float64(x))) != 0 || math.Signbit(float64(x)) != (bits >= codes(d)/2) {
					t.Fatalf("%v %#x is %v; got %v", d, bits, want, x)
				}
				if got := f.round(x); got != bits {
					t.Fatalf("%v %#x comes back as %#x", d, bits, got)
				}
			case m == inf && d != Float8E4M3:
				if !math.IsInf(float64(x), 0) || math.Signbit(float64(x)) != (bits >= codes(d)/2) {
					t.Fatalf("%v %#x is infinite; got %v", d, bits, x)
				}
			default:
				if x == x || f.round(x) != f.nan {
					t.Fatalf("%v %#x is NaN; got %v, and %#x back", d, bits, x, f.round(x))
				}
			}
		}
	}
}

// fastValue and fastRound are what the kernels have in place of format's methods.
func fastValue(d DType, bits uint32) (x float32, ok bool) {
	switch d {
	case Float16:
		return halfValue(uint16(bits)), true
	case BFloat16:
		return bfloatValue(uint16(bits)), true
	}
	return 0, false
}

func fastRound(d DType, x float32) uint32 {
	switch d {
	case Float16:
		return uint32(roundHalf(x))
	case BFloat16:
		return uint32(roundBFloat(x))
	}
	return d.narrow().round(x)
}

// Rounding, at every value, at every midpoint, and a hair to either side of it.
func TestNarrowRoundsToNearestEven(t *testing.T) {
	for _, d := range narrowTypes {
		f := d.narrow()
		for bits := range largestOf(d) + 1 {
			lo, hi := magnitude(d, bits), magnitude(d, bits+1)
			mid := new(big.Float).Add(lo, hi)
			m64, _ := mid.SetMantExp(mid, -1).Float64()
			m := float32(m64) // exact: one bit more than the type has
			for _, c := range []struct {
				x    float32
				want uint32
			}{{math.Nextafter32(m, 0), bits}, {m, bits + bits&1}, {math.Nextafter32(m, float32(math.Inf(1))), bits + 1}} {
				if d.Size() == 1 {
					c.want = min(c.want, largestOf(d)) // saturates
				}
				if up, down := f.round(c.x), f.round(-c.x); up != c.want || down != c.want|f.sign {
					t.Fatalf("%v: ±%v become %#x and %#x; want %#x", d, c.x, up, down, c.want)
				}
				if up, down := fastRound(d, c.x), fastRound(d, -c.x); up != c.want || down != c.want|f.sign {
					t.Fatalf("%v: the kernel makes ±%v %#x and %#x; want %#x", d, c.x, up, down, c.want)
				}
			}
		}
		inf := f.round(float32(math.Inf(-1)))
		if want := (codes(d)/2 | uint32(map[bool]uint32{true: largestOf(d), false: largestOf(d) + 1}[d.Size() == 1])); inf != want {
			t.Errorf("%v: −∞ becomes %#x; want %#x", d, inf, want)
		}
	}
}

// combineExactly is x op y, rounded once from the exact result.
func combineExactly(d DType, x, y uint32, op RedOp) uint32 {
	a, b := exact(d, x), exact(d, y)
	z := new(big.Float).SetPrec(600)
	if op == Sum {
		z.Add(a, b)
	} else {
		z.Mul(a, b)
	}
	return reference(d, z)
}

// All pairs of 8-bit floats, sums and products, against exact arithmetic.
func TestAllPairsOfFP8(t *testing.T) {
	for _, d := range []DType{Float8E4M3, Float8E5M2} {
		ref, numbers := roundings(d), fp8Numbers(d)
		for x := range uint32(256) {
			for y := range uint32(256) {
				for _, op := range realRedOps {
					if got, want := combined(d, x, y, op), fp8Result(d, numbers[x], numbers[y], op, ref); got != want {
						t.Fatalf("%v: %#x %v %#x is %#x; want %#x", d, x, op, y, got, want)
					}
				}
			}
		}
	}
}

// roundings remembers what reference says: the exact sums and products of 8-bit
// floats fit a double.
func roundings(d DType) func(x float64) uint32 {
	known := map[float64]uint32{}
	return func(x float64) uint32 {
		if x == 0 {
			return uint32(math.Float64bits(x)>>63) << 7
		}
		bits, ok := known[x]
		if !ok {
			bits = reference(d, big.NewFloat(x))
			known[x] = bits
		}
		return bits
	}
}

// fp8Numbers are the values of a type, by the definition.
func fp8Numbers(d DType) (all [256]float64) {
	for bits := range uint32(256) {
		switch {
		case finite(d, bits):
			x, _ := magnitude(d, bits&0x7f).Float64()
			all[bits] = math.Copysign(x, 1-2*float64(bits>>7))
		case d == Float8E5M2 && bits&0x7f == 0x7c:
			all[bits] = math.Inf(1 - int(bits>>7)*2)
		default:
			all[bits] = math.NaN()
		}
	}
	return all
}

func fp8Result(d DType, a, b float64, op RedOp, round func(float64) uint32) uint32 {
	z := a + b
	switch op {
	case Prod:
		z = a * b
	case Min, Max:
		z = extreme(a, b, op)
	}
	switch {
	case math.IsNaN(z):
		return 0x7f
	case math.IsInf(z, 0):
		return uint32(math.Float64bits(z)>>63)<<7 | largestOf(d)
	}
	return round(z)
}

func combined(d DType, x, y uint32, op RedOp) uint32 {
	var a, b [2]byte
	a[0], a[1], b[0], b[1] = byte(x), byte(x>>8), byte(y), byte(y>>8)
	n := d.Size()
	Combine(a[:n], a[:n], b[:n], d, op)
	return uint32(a[0]) | uint32(a[1])<<8&(codes(d)-1)
}

// Pairs of 16-bit floats, where rounding twice is most likely to show: random
// ones, ones of like magnitude, and products around the smallest values.
func TestPairsOfHalves(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	for _, d := range []DType{Float16, BFloat16} {
		frac := map[DType]uint32{Float16: 10, BFloat16: 7}[d]
		bias := map[DType]uint32{Float16: 15, BFloat16: 127}[d]
		for i := range 30000 {
			x, y := rng.Uint32N(1<<16), rng.Uint32N(1<<16)
			op := []RedOp{Sum, Prod}[i/8%2]
			switch i % 8 {
			case 0, 1, 2: // y within reach of x
				y = (x + uint32(rng.IntN(26<<frac)) - 13<<frac) & 0xffff
			case 3, 4: // a product near the smallest normal value
				x = x&0x8000 | (1+rng.Uint32N(bias))<<frac | x&(1<<frac-1)
				e := int(bias) + 1 - int(x>>frac&(2*bias+1)) + rng.IntN(int(frac)+8) - int(frac) - 4
				y = y&0x8000 | uint32(max(0, e))<<frac | y&(1<<frac-1)
			}
			if !finite(d, x) || !finite(d, y) {
				continue
			}
			got, want := combined(d, x, y, op), combineExactly(d, x, y, op)
			if want&0x7fff == 0 { // the sign of zero: big.Float has it too
				want = want&0x8000 | got&0x7fff
			}
			if got != want || got != combined(d, y, x, op) {
				t.Fatalf("%v: %#x %v %#x is %#x; want %#x", d, x, op, y, got, want)
			}
		}
	}
}

// Subnormal products of bfloat16: all significands, at the exponents at which
// float32 rounds first.
func TestSubnormalProductsOfBFloat16(t *testing.T) {
	for x := uint32(0x80); x < 0x100; x++ {
		for y := uint32(0x80); y < 0x100; y++ {
			for shift := uint32(0); shift < 24; shift++ {
				a, b := x&0x7f|60<<7, y&0x7f|(68-shift)<<7
				// a × b = x × y × 2^(60+68−shift−2×134), and subnormals count in 2^−133.
				e := 60 + 68 - int(shift) - 2*134 + 133
				p, down := uint64(x*y), uint(-e)
				if e >= 0 {
					t.Fatal("not subnormal")
				}
				want := p >> down
				if rest, half := p&(1<<down-1), uint64(1)<<(down-1); rest > half || rest == half && want&1 == 1 {
					want++
				}
				if got := combined(BFloat16, a, b, Prod); want < 0x80 && uint64(got) != want {
					t.Fatalf("%#x × %#x is %#x; want %#x", a, b, got, want)
				}
			}
		}
	}
}

// The table of special cases: infinities, NaNs, zeros, overflow.
func TestNarrowSpecialCases(t *testing.T) {
	for _, c := range []struct {
		d       DType
		x, y, z uint32
		op      RedOp
	}{
		{Float16, 0x7bff, 0x7bff, 0x7c00, Sum}, {Float16, 0x7c00, 0xfc00, 0x7fff, Sum},
		{Float16, 0x7e00, 0x3c00, 0x3c00, Max}, {Float16, 0x3c00, 0xfe01, 0x3c00, Min},
		{Float16, 0x7e00, 0xfe01, 0x7fff, Min}, {Float16, 0x8000, 0x0000, 0x8000, Min},
		{Float16, 0x8000, 0x0000, 0x0000, Max}, {Float16, 0x7c00, 0x0000, 0x7fff, Prod},
		{BFloat16, 0x7f7f, 0x7f7f, 0x7f80, Sum}, {BFloat16, 0x7f80, 0xff80, 0x7fff, Sum},
		{Float8E4M3, 0x7e, 0x7e, 0x7e, Sum}, {Float8E4M3, 0xfe, 0x7e, 0xfe, Prod}, {Float8E4M3, 0x7f, 0x38, 0x7f, Sum},
		{Float8E5M2, 0x7b, 0x7b, 0x7b, Sum}, {Float8E5M2, 0x7c, 0x3c, 0x7b, Sum}, {Float8E5M2, 0x7c, 0xfc, 0x7f, Sum},
		{Float8E5M2, 0xfc, 0x3c, 0xfb, Min},
	} {
		for _, xy := range [][2]uint32{{c.x, c.y}, {c.y, c.x}} {
			if got := combined(c.d, xy[0], xy[1], c.op); got != c.z {
				t.Errorf("%v: %#x %v %#x is %#x; want %#x", c.d, xy[0], c.op, xy[1], got, c.z)
			}
		}
	}
}
