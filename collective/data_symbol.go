package collective

import (
	"fmt"
	"math/bits"
)

// Values of the test data are made from symbols, small integers drawn by a hash
// of (seed, rank, element), such that reducing values is plain arithmetic on
// their symbols. An expectation over n ranks is then n integer additions and
// one conversion an element, exact by construction, and shares no code with
// Combine.
//
//	reduction      value of symbol k          symbols combine by
//	sum            k × a constant             adding
//	prod of ints   5^k mod 2^w                adding
//	prod of floats (−1)^s × 2^e               xor of s (bit 15), adding e (bits 0–14)
//	max            increasing in k            maximum
//	min            decreasing in k            maximum
//
// How surely are errors seen? A sum or integer product always shows a missing
// or doubled contribution, and one of a wrong rank or element but for one in
// 2^16 elements (2^10 from rank 64 on, 2^6 from 4096 on). A float product has
// room for 2^127 in all: one wrong element in eight may pass (one in four from
// rank 32 on, one in two from 48 on). Max and min show a missing rank in any
// 2^⌈log2 n⌉ consecutive elements, for there each rank is extreme at least once.

// lanes is how many elements share a word of hash: 16 bits each.
const lanes = 4

// batch is how many ranks are combined before symbols go back to memory. The
// tiers below change at multiples of it.
const batch = 16

// ranked is a batch of ranks, each with the key of its hash.
type ranked struct {
	first, n int
	keys     [batch]uint64
}

func newRanked(seed uint64, first, to int) ranked {
	b := ranked{first: first, n: min(to, first/batch*batch+batch) - first}
	if first < 0 || first+b.n > MaxRanks {
		panic(fmt.Sprintf("collective: test data for rank %d; they are exact below %d", first+b.n-1, MaxRanks))
	}
	for i := range b.n {
		b.keys[i] = draw(draw(seed, 0), uint64(first+i))
	}
	return b
}

// symbols combines the symbols of a batch of ranks into s, whose first symbol
// belongs to lane 0 of the given word.
func (b *ranked) symbols(s []uint32, word uint64, d DType, op RedOp) {
	switch {
	case op == Min || op == Max:
		b.maximize(s, word)
	case op == Prod && d.float():
		b.multiply(s, word)
	case op == Prod || op == Sum:
		b.add(s, word)
	default:
		panic(fmt.Sprintf("collective: test data for reduction %s are not implemented", op))
	}
}

// draw returns the hash of a word: the i-th output of the generator wyrand
// whose state is key. wyrand passes BigCrush (Wang Yi, wyhash 4, public domain).
func draw(key, i uint64) uint64 { return mix(key + i*weyl) }

const weyl = 0xa0761d6478bd642f

func mix(x uint64) uint64 {
	hi, lo := bits.Mul64(x, x^0xe7037ed1a0b428db)
	return hi ^ lo
}

// everyOther selects bits 0–15 and 32–47: two lanes with room to add up.
const everyOther = 0x0000_0001_0000_0001

// sumBits returns which of its 16 bits a rank's symbol uses. All sums stay within
// 2^24: 64 × 2^16 + 4032 × 2^10 + 2^17 × 2^6 is a little less.
func sumBits(rank int) uint64 {
	switch {
	case rank < 64:
		return 0xffff
	case rank < 4096:
		return 0x03ff
	default:
		return 0x003f
	}
}

// add is for sums and integer products. Each rank adds 1 + its bits, so
// no contribution is nothing.
func (b *ranked) add(s []uint32, word uint64) {
	mask, keys := sumBits(b.first)*everyOther, b.keys[:b.n]
	step, ones := word*weyl, uint64(b.n)*everyOther
	for len(s) >= lanes {
		even, odd := ones, ones
		for _, key := range keys {
			h := mix(key + step)
			even += h & mask
			odd += h >> 16 & mask
		}
		s[0] += uint32(even)
		s[1] += uint32(odd)
		s[2] += uint32(even >> 32)
		s[3] += uint32(odd >> 32)
		s, step = s[lanes:], step+weyl
	}
}

// signBit is the sign in the symbol of a float product; the bits below it are
// the exponent.
const signBit = 1 << 15

// exponentBits returns which bits of the exponent a rank's symbol uses. All
// exponents add up to at most 32 × 3 + 16 × 1 = 112, and a float has 127.
func exponentBits(rank int) uint64 {
	switch {
	case rank < 32:
		return 3
	case rank < 48:
		return 1
	default:
		return 0
	}
}

// multiply is for float products.
func (b *ranked) multiply(s []uint32, word uint64) {
	mask, keys := exponentBits(b.first)*everyOther, b.keys[:b.n]
	step := word * weyl
	for len(s) >= lanes {
		var even, odd, signs uint64
		for _, key := range keys {
			h := mix(key + step)
			even += h & mask
			odd += h >> 16 & mask
			signs ^= h
		}
		s[0] = (s[0] + uint32(even)) ^ uint32(signs)&signBit
		s[1] = (s[1] + uint32(odd)) ^ uint32(signs>>16)&signBit
		s[2] = (s[2] + uint32(even>>32)) ^ uint32(signs>>32)&signBit
		s[3] = (s[3] + uint32(odd>>32)) ^ uint32(signs>>48)&signBit
		s, step = s[lanes:], step+weyl
	}
}

// levels is how many low bits of rank and element are compared for max and min:
// enough to tell MaxRanks ranks apart.
const levels = 17

// maximize is for max and min. The upper bits of a symbol count in how
// many low bits rank and element agree. Where an element equals rank r in its
// low ⌈log2 n⌉ bits, no other rank below n does, so r alone is extreme there,
// whatever n is.
func (b *ranked) maximize(s []uint32, word uint64) {
	keys, elem := b.keys[:b.n], uint32(word*lanes)
	step := word * weyl
	for len(s) >= lanes {
		s0, s1, s2, s3 := s[0], s[1], s[2], s[3]
		for i, key := range keys {
			h := mix(key + step)
			apart := uint32(b.first+i) ^ elem | 1<<levels
			s0 = max(s0, agreement(apart)|uint32(h&0xffff))
			s1 = max(s1, agreement(apart^1)|uint32(h>>16&0xffff))
			s2 = max(s2, agreement(apart^2)|uint32(h>>32&0xffff))
			s3 = max(s3, agreement(apart^3)|uint32(h>>48))
		}
		s[0], s[1], s[2], s[3] = s0, s1, s2, s3
		s, step, elem = s[lanes:], step+weyl, elem+lanes
	}
}

func agreement(apart uint32) uint32 { return uint32(bits.TrailingZeros32(apart)) << 16 }
