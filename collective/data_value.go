package collective

import (
	"encoding/binary"
	"math"
)

// blockElems is how many elements are made at a time: their symbols stay in the
// first cache.
const blockElems = 1024

// fill writes elements first, first+1, … of the reduction of the given ranks'
// inputs.
func (r recipe) fill(dst []byte, from ranks, first int64) {
	size := int(r.d.Size())
	wholeElements(dst, size)
	var symbols [blockElems]uint32
	for len(dst) > 0 {
		skip := int(first % lanes) // words of hash begin at multiples of lanes
		n := min(len(dst)/size, blockElems-skip)
		s := symbols[:(skip+n+lanes-1)/lanes*lanes]
		r.symbols(s, from, first-int64(skip))
		s = s[skip : skip+n]
		if r.kind == premul && r.raw && from.from%2 == 1 {
			for i := range s { // of which MulSumFactor makes the symbol
				s[i] >>= 1
			}
		}
		r.values(dst[:n*size], s)
		dst, first = dst[n*size:], first+int64(n)
	}
}

// values writes the elements that symbols stand for.
func (r recipe) values(dst []byte, s []uint32) {
	switch r.d {
	case Float32:
		write[float32](dst, s, r)
	case Float64:
		write[float64](dst, s, r)
	case Int32:
		write[int32](dst, s, r)
	case Uint32:
		write[uint32](dst, s, r)
	case Int64:
		write[int64](dst, s, r)
	case Uint64:
		write[uint64](dst, s, r)
	case Int8, Uint8:
		for i, k := range s {
			dst[i] = uint8(r.small(k))
		}
	case Float16, BFloat16:
		for i, k := range s {
			binary.LittleEndian.PutUint16(dst[2*i:], uint16(r.narrow(k)))
		}
	default:
		for i, k := range s {
			dst[i] = uint8(r.narrow(k))
		}
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
	Uint32:  {sum: 0x9e37_79b1, extreme: 509, unit: 1},                       // and 2^23 × 509 < 2^32
	Int64:   {sum: 0x1e37_79b9_7f4a_7c15, extreme: 0x1f3_5179_41bd, unit: 1}, // extremes: 2^22 × 2^41 = 2^63
	Uint64:  {sum: 0x1e37_79b9_7f4a_7c15, extreme: 0x1f3_5179_41bd, unit: 1},
	Int8:    {sum: 0x4d},
	Uint8:   {sum: 0x4d},
}

func write[T number](dst []byte, s []uint32, r recipe) {
	v, seen := view[T](dst)
	if !seen {
		var elsewhere [blockElems]T
		v = elsewhere[:len(s)]
	}
	// Symbols of max and min are below 2^21.2, half of them below 2^16: from
	// 2k+1−2^17 come odd numbers of both signs, below 2^22. The minimum of
	// unsigned types counts down from 2^23.
	c := scales[r.d]
	middle, top := c.extreme*(1-1<<17), c.extreme*(1<<17-1)
	if r.d == Uint32 || r.d == Uint64 {
		middle, top = c.extreme, c.extreme<<23
	}
	switch r.kind {
	case additive, premul:
		linear(v, s, c.sum, 0, T(c.unit))
	case largest:
		linear(v, s, 2*c.extreme, middle, T(c.unit))
	case smallest:
		linear(v, s, -2*c.extreme, top, T(c.unit))
	case exponents:
		signedPowers(v, s)
	case powers5:
		powersOfFive(v, s)
	case meanFloat:
		meanFloats(v, s, r)
	case meanInt:
		for i, k := range s {
			v[i] = T(r.meanInt(k))
		}
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
