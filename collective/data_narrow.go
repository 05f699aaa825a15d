package collective

import (
	"math"
	"math/bits"
)

// Elements of 8 and 16 bits. Floats are put together by hand: the conversions
// that Combine uses must not hide a fault of theirs.

// small returns the integer of 8 bits that a symbol stands for.
func (r recipe) small(k uint32) int64 {
	switch r.kind {
	case powers5:
		return int64(fives[0][k&63]) // 5^64 is 1 modulo 2^8
	case meanInt:
		return r.meanInt(k)
	case largest, smallest:
		switch x := level(k, rooms[r.d].step) + 1; {
		case r.d == Int8:
			return r.extreme(k)
		case r.kind == smallest:
			return math.MaxUint8 + 1 - x
		default:
			return x
		}
	default:
		return int64(k) * scales[r.d].sum
	}
}

// narrow returns the bits of the narrow float that a symbol stands for.
func (r recipe) narrow(k uint32) uint32 {
	f := r.d.narrow()
	switch r.kind {
	case exponents:
		return k&signBit/signBit*f.sign | (f.bias+k&(signBit-1))<<f.frac
	case largest, smallest:
		if x := r.extreme(k); x < 0 {
			return f.sign | uint32(-x)
		} else {
			return uint32(x)
		}
	case meanFloat:
		return r.meanNarrow(k, f)
	default:
		return f.whole(k)
	}
}

// level counts the symbols of an extreme in order, each level of agreement having
// 2^step of them.
func level(k uint32, step int) int64 {
	return int64(k>>16<<step | k&0xffff>>(16-step))
}

// below is how many levels of extremes are negative, so that 15 levels of
// positive ones end below the largest number of each type.
const below = 3

// extreme returns a symbol of max or min as a number that is not zero: the bits
// of a float, with the sign apart, which are ordered as integers are.
func (r recipe) extreme(k uint32) int64 {
	step := rooms[r.d].step
	x := level(k, step) - below<<step
	if x >= 0 {
		x++
	}
	if r.kind == smallest {
		return -x
	}
	return x
}

// whole returns the bits of an integer that the format holds exactly.
func (f *format) whole(k uint32) uint32 {
	if k == 0 {
		return 0
	}
	e := uint32(bits.Len32(k)) - 1
	return (e+f.bias)<<f.frac | k<<f.frac>>e&(1<<f.frac-1)
}

// nearest returns the bits of the value nearest to a positive number.
func (f *format) nearest(x float64) uint32 {
	_, e := math.Frexp(x) // x in [2^(e−1), 2^e)
	low := max(e-1, 1-int(f.bias))
	m := math.RoundToEven(math.Ldexp(x, int(f.frac)-low))
	return uint32(low+int(f.bias)-1)<<f.frac + uint32(m)
}

// exactly returns the number that bits of a finite value stand for.
func (f *format) exactly(code uint32) float64 {
	e, m := int(code&(f.sign-1)>>f.frac), code&(1<<f.frac-1)
	if e > 0 {
		m |= 1 << f.frac
	}
	return math.Ldexp(float64(m), max(e, 1)-int(f.bias+f.frac))
}
