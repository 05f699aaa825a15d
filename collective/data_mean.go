package collective

import "math"

// Averages. One rank has a say in an element, the others put in zero, so that
// any order of adding is exact. The elements that come out are scaled as NCCL
// does it, see Prepare and Finish, by arithmetic of their own.

// meanExponents is the binary exponent of inputs: so large that their product
// with 1/n is a normal value if 1/n is no zero.
var meanExponents = [numDTypes]uint32{Float16: 14, Float8E4M3: 7, Float8E5M2: 14}

// meanFraction returns how many random bits the fraction of an input has.
func meanFraction(d DType) int {
	if f := d.narrow(); f != nil {
		return int(f.frac)
	}
	return signAt
}

// signAt is the place of the sign in a symbol; the bits below are the fraction.
const signAt = 15

// meanNarrow returns the bits of the narrow float that a symbol stands for.
func (r recipe) meanNarrow(k uint32, f *format) uint32 {
	if k == 0 {
		return 0
	}
	e := meanExponents[r.d]
	code := (e+f.bias)<<f.frac | uint32(uint64(k&(signBit-1))<<f.frac>>signAt)
	if !r.raw {
		n := f.nearest(float64(float32(1 / float64(r.ranks))))
		code = f.nearest(f.exactly(code) * f.exactly(n))
	}
	return k&signBit>>signAt*f.sign | code
}

// meanFloats is meanNarrow for floats and doubles.
func meanFloats[T number](dst []T, s []uint32, r recipe) {
	factor := T(1)
	if !r.raw {
		factor = T(1 / float64(r.ranks))
	}
	for i, k := range s {
		x := 1 + float64(k&(signBit-1))/signBit
		if k&signBit != 0 {
			x = -x
		}
		if k == 0 {
			x = 0
		}
		dst[i] = T(x) * factor
	}
}

// meanInt returns the integer that a symbol stands for: a multiple of n with a
// remainder that the division drops.
func (r recipe) meanInt(k uint32) int64 {
	if k == 0 {
		return 0
	}
	n, many := uint64(r.ranks), multiples(r.d, r.ranks)
	code := uint64(k & (signBit - 1))
	var quotient, rest uint64
	switch {
	case many == 0: // every average is zero
		rest = 1 + code%uint64(limits[r.d]-1)
	case many == 1:
		quotient = 1 // no room for a remainder
	default:
		quotient = 1 + code%min(many-1, signBit)
		rest = code * 40503 % n // 2^16 over the golden ratio, to mix
	}
	x := quotient
	if r.raw {
		x = quotient*n + rest
	}
	if k&signBit != 0 && r.d.signed() {
		return -int64(x)
	}
	return int64(x)
}

// limits is the largest value of each integer type.
var limits = [numDTypes]uint64{
	Int8: math.MaxInt8, Uint8: math.MaxUint8, Int32: math.MaxInt32, Uint32: math.MaxUint32,
	Int64: math.MaxInt64, Uint64: math.MaxUint64,
}

// multiples returns how many positive multiples of n an integer type has.
func multiples(d DType, n int) uint64 { return limits[d] / uint64(n) }

// signed reports whether the type is an integer with a sign.
func (d DType) signed() bool { return d == Int8 || d == Int32 || d == Int64 }
