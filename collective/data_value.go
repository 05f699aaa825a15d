package collective

import (
	"fmt"
	"math"
)

// expectation turns symbols into elements of a type under a reduction.
type expectation struct {
	d    DType
	op   RedOp
	seed uint64
}

// blockElems is how many elements are made at a time: their symbols stay in the
// first cache.
const blockElems = 1024

// fill writes elements first, first+1, … of the reduction of the given ranks'
// inputs.
func (e expectation) fill(dst []byte, from ranks, first int64) {
	size := int(e.d.Size())
	if len(dst)%size != 0 {
		panic(fmt.Sprintf("collective: %d bytes are no whole number of %s", len(dst), e.d))
	}
	var symbols [blockElems]uint32
	for len(dst) > 0 {
		skip := int(first % lanes) // words of hash begin at multiples of lanes
		n := min(len(dst)/size, blockElems-skip)
		s := symbols[:(skip+n+lanes-1)/lanes*lanes]
		clear(s)
		for r := from.from; r < from.to; {
			b := newRanked(e.seed, r, from.to)
			b.symbols(s, uint64(first/lanes), e.d, e.op)
			r += b.n
		}
		e.values(dst[:n*size], s[skip:skip+n])
		dst, first = dst[n*size:], first+int64(n)
	}
}

// values writes the elements that symbols stand for.
func (e expectation) values(dst []byte, s []uint32) {
	switch e.d {
	case Float32:
		write[float32](dst, s, e)
	case Float64:
		write[float64](dst, s, e)
	case Int32:
		write[int32](dst, s, e)
	case Int64:
		write[int64](dst, s, e)
	default:
		panic(fmt.Sprintf("collective: test data of %s are not implemented", e.d))
	}
}

// scale is what symbols are multiplied by, so that all bytes of an element are
// used and no two symbols give the same element. Sums of integers may wrap;
// extremes may not, for their order must stay.
type scale struct {
	sum, extreme int64   // both odd
	unit         float64 // a power of two, so that floats have fractions
}

var scales = [numDTypes]scale{
	Float32: {sum: 1, extreme: 1, unit: 1.0 / (1 << 16)},                     // symbols are all that 24 bits hold
	Float64: {sum: 0x13c6_ef37, extreme: 0x13c6_ef37, unit: 1.0 / (1 << 44)}, // 29 bits: sums stay below 2^53
	Int32:   {sum: 0x9e37_79b1, extreme: 509, unit: 1},                       // extremes: 2^22 × 509 < 2^31
	Int64:   {sum: 0x1e37_79b9_7f4a_7c15, extreme: 0x1f3_5179_41bd, unit: 1}, // extremes: 2^22 × 2^41 = 2^63
}

func write[T number](dst []byte, s []uint32, e expectation) {
	v, seen := view[T](dst)
	if !seen {
		var elsewhere [blockElems]T
		v = elsewhere[:len(s)]
	}
	// Symbols of max and min are below 2^21.2, half of them below 2^16: from
	// 2k+1−2^17 come odd numbers of both signs, below 2^22.
	c := scales[e.d]
	switch {
	case e.op == Sum:
		linear(v, s, c.sum, 0, T(c.unit))
	case e.op == Max:
		linear(v, s, 2*c.extreme, c.extreme*(1-1<<17), T(c.unit))
	case e.op == Min:
		linear(v, s, -2*c.extreme, -c.extreme*(1-1<<17), T(c.unit))
	case e.d.float():
		signedPowers(v, s)
	default:
		powersOfFive(v, s)
	}
	if !seen {
		encode(dst, v)
	}
}

func linear[T number](dst []T, s []uint32, mul, add int64, unit T) {
	for i, k := range s {
		dst[i] = T(int64(k)*mul+add) * unit
	}
}

// signedPowers is (−1)^s × 2^e, written into the fields of a double.
func signedPowers[T number](dst []T, s []uint32) {
	for i, k := range s {
		sign, exp := uint64(k&signBit)<<(63-15), uint64(k&(signBit-1))
		dst[i] = T(math.Float64frombits(sign | (1023+exp)<<52))
	}
}

// powersOfFive is 5^k. 5 has the largest order there is, 2^30 modulo 2^32, so
// different symbols of up to 24 bits give different products.
func powersOfFive[T number](dst []T, s []uint32) {
	for i, k := range s {
		dst[i] = T(fives[0][k&255] * fives[1][k>>8&255] * fives[2][k>>16&255])
	}
}

// fives holds 5^(i × 256^j) modulo 2^64 at [j][i].
var fives = powers(5)

func powers(base uint64) (p [3][256]uint64) {
	for j := range p {
		p[j][0] = 1
		for i := 1; i < 256; i++ {
			p[j][i] = p[j][i-1] * base
		}
		base *= p[j][255]
	}
	return p
}
