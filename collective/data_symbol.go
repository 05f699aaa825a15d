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
//	sum, mulsum    k × a constant             adding
//	prod of ints   5^k mod 2^w                adding
//	prod of floats (−1)^s × 2^e               xor of s (bit 15), adding e (bits 0–14)
//	max            increasing in k            maximum
//	min            decreasing in k            maximum
//	avg            any of the type's          one rank has a say in an element
//
// How surely are errors seen? A contribution that is missing or doubled shows in
// every element in which its rank has a say (see share), but for products and
// extremes; one of a wrong rank or element but for one in 2^bits of those. Bits
// are 16 for sums and integer products of 32 and 64 bits (10 from rank 64 on, 6
// from 4096 on), and share.bits else. A float product has room for 2^127 in all:
// one wrong element in eight may pass (one in four from rank 32 on, one in two
// from 48 on; of types of less room, one in eight, in shared elements). Max and
// min show a missing rank in any 2^⌈log2 n⌉ consecutive elements, for there each
// rank is extreme at least once. So a slice of Spread elements shows all, and one
// of fewer elements than groups may hold nothing of some ranks.
//
// Two things no data could show: averages of 8-bit integers over more ranks than
// the type counts to are zero, and so are those of f8e4m3 from 1024 ranks on, of
// f8e5m2 on 2^17, where 1/n rounds to zero. And averages of uint8 over 86 to 255
// ranks can only be 1, so that one rank's pass for another's.

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

// symbols writes the combined symbols of the given ranks for elements first,
// first+1, …, of which the first belongs to lane 0 of a word.
func (r recipe) symbols(s []uint32, from ranks, first int64) {
	clear(s)
	if r.share.groups > 1 || r.kind == meanFloat || r.kind == meanInt {
		for rank := from.from; rank < from.to; rank++ {
			r.scatter(s, rank, first)
		}
		return
	}
	for rank := from.from; rank < from.to; {
		b := newRanked(r.seed, rank, from.to)
		b.symbols(s, uint64(first/lanes), r)
		rank += b.n
	}
}

// symbols combines the symbols of a batch of ranks into s.
func (b *ranked) symbols(s []uint32, word uint64, r recipe) {
	switch r.kind {
	case largest, smallest:
		b.maximize(s, word)
	case exponents:
		b.multiply(s, word)
	case powers5:
		b.add(s, word, powerBits(r.d, b.first), b.keys[:b.n])
	case premul:
		b.addEven(s, word, r.sumMask(b.first))
	default:
		b.add(s, word, r.sumMask(b.first), b.keys[:b.n])
	}
}

// scatter adds the symbols of a rank to the elements in which it has a say.
func (r recipe) scatter(s []uint32, rank int, first int64) {
	key, groups := newRanked(r.seed, rank, rank+1).keys[0], int64(r.share.groups)
	mask := uint32(r.sumMask(rank))
	even := uint32(rank%2) & uint32(lost(r.kind))
	for i := (groups - (int64(rank)+first)%groups) % groups; i < int64(len(s)); i += groups {
		switch h := uint32(mix(key + uint64(first+i)*weyl)); r.kind {
		case exponents:
			s[i] = (s[i] + h&3) ^ h&signBit
		case meanFloat, meanInt:
			s[i] = drawn | h&0xffff
		default:
			s[i] += 1 + even + h&mask&^even
		}
	}
}

// drawn marks the symbol of an element of which a rank is the only one to have a
// say, so that no 16 random bits look like nobody's.
const drawn = 1 << 16

// sumMask returns which of its 16 bits a rank's symbol of a sum uses.
func (r recipe) sumMask(rank int) uint64 {
	if rooms[r.d].sum == 0 {
		return sumBits(rank)
	}
	return 1<<(r.share.bits+lost(r.kind)) - 1
}

// powerBits is sumBits for products of integers: 5^k repeats after 2^6 in 8 bits.
func powerBits(d DType, rank int) uint64 {
	if d.Size() == 1 {
		return 0x1f
	}
	return sumBits(rank)
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

// addEven is for mulsum: what odd ranks contribute is even, so that they can put
// in half of it.
func (b *ranked) addEven(s []uint32, word uint64, mask uint64) {
	var byParity [2][batch]uint64
	var n [2]int
	for i, key := range b.keys[:b.n] {
		p := (b.first + i) % 2
		byParity[p][n[p]] = key
		n[p]++
	}
	b.add(s, word, mask, byParity[0][:n[0]])
	b.add(s, word, mask&^1, byParity[1][:n[1]])
	b.add(s, word, 0, byParity[1][:n[1]])
}

// add is for sums and integer products. Each rank adds 1 + its bits, so
// no contribution is nothing.
func (b *ranked) add(s []uint32, word uint64, mask uint64, keys []uint64) {
	mask *= everyOther
	step, ones := word*weyl, uint64(len(keys))*everyOther
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
