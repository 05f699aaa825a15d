package collective

import "math/bits"

// recipe is how the elements of test data are made: what decides them, and no
// more.
type recipe struct {
	d    DType
	kind kind
	// raw elements are those that a rank puts in; the others are as they come
	// out of a reduction. The two differ where a reduction scales.
	raw   bool
	seed  uint64
	ranks int // that reduce together
	share share
}

// kind is how elements follow from symbols, and symbols combine. Where nothing
// is reduced, elements are those of a sum of one rank.
type kind uint8

const (
	additive  kind = iota // sum
	premul                // mulsum
	exponents             // product of floats
	powers5               // product of integers
	largest               // max
	smallest              // min
	meanFloat             // avg of floats
	meanInt               // avg of integers
)

// share says which ranks have a say in an element, for types too narrow for the
// sum of all: rank r in element i when r + i is a multiple of groups. All others
// put in what changes nothing, 0 or 1.
type share struct {
	groups int // 1: every rank in every element
	bits   int // random bits that a contribution has, at least
}

// room is what the elements of a type have room for, exactly and in every order.
type room struct {
	// sum is the binary logarithm of the largest sum of symbols; integers wrap,
	// but no sum may be zero. adders is how many ranks at most share it.
	sum, adders int
	// factors is how many ranks have a say in a float's product, of up to 2^3
	// each. 0: all, see exponentBits.
	factors int
	// step is how many symbols of an extreme each level has, as a binary
	// logarithm, see ordered.
	step int
}

var rooms = [numDTypes]room{
	Float32:    {step: 16},
	Float64:    {step: 16},
	Int32:      {step: 16},
	Uint32:     {step: 16},
	Int64:      {step: 16},
	Uint64:     {step: 16},
	Float16:    {sum: 11, adders: 32, factors: 4, step: 11}, // 2^(3·4) < 65504
	BFloat16:   {sum: 8, adders: 8, step: 11},
	Float8E4M3: {sum: 4, adders: 4, factors: 2, step: 3}, // 2^(3·2) < 448
	Float8E5M2: {sum: 3, adders: 2, factors: 4, step: 3},
	Int8:       {sum: 7, adders: 8, step: 3},
	Uint8:      {sum: 7, adders: 8, step: 3},
}

func (d Data) recipe(raw bool) recipe {
	r := recipe{d: d.DType, seed: d.Seed, ranks: 1}
	if d.Op.Reduces() {
		r.kind, r.raw, r.ranks = kindOf(d.DType, d.RedOp), raw, d.Ranks
	}
	r.share = shareOf(d.DType, r.kind, r.ranks)
	return r
}

// shareOf spreads n ranks over elements so that what they put in has room.
func shareOf(d DType, k kind, n int) share {
	room := rooms[d]
	switch k {
	case additive, premul:
		if room.sum == 0 {
			return share{1, bits.Len64(sumBits(n-1)) - lost(k)}
		}
		adders := min(1<<bits.Len(uint(n-1)), room.adders)
		return share{(n + adders - 1) / adders, room.sum + 1 - bits.Len(uint(adders)) - lost(k)}
	case exponents:
		if room.factors == 0 {
			return share{1, 1 + bits.Len64(exponentBits(n-1))}
		}
		return share{(n + room.factors - 1) / room.factors, 3}
	case powers5:
		return share{1, bits.Len64(powerBits(d, n-1))}
	case meanFloat:
		return share{n, meanFraction(d) + 1}
	case meanInt:
		return share{n, min(sure, max(1, bits.Len64(multiples(d, n))-1))}
	default:
		return share{1, room.step}
	}
}

// lost is the random bit that a premultiplied contribution of an odd rank lacks:
// it is even.
func lost(k kind) int {
	if k == premul {
		return 1
	}
	return 0
}

// sure is how many random bits a contribution must show for errors to be as good
// as certain to be seen: one in 2^16 may pass.
const sure = 16

// Spread returns how many consecutive elements of a slice it takes until a
// contribution of any rank that is missing, twice there, or another's is seen but
// for one case in 2^16: so many that each rank shows 16 random bits.
func (d Data) Spread() int {
	r := d.recipe(true)
	window := r.share.groups
	if r.kind == largest || r.kind == smallest {
		window = 1 << bits.Len(uint(r.ranks-1)) // in which each rank is extreme once
	}
	return window * ((sure + r.share.bits - 1) / r.share.bits)
}

func kindOf(d DType, op RedOp) kind {
	switch op {
	case Sum:
		return additive
	case MulSum:
		return premul
	case Prod:
		if d.float() {
			return exponents
		}
		return powers5
	case Max:
		return largest
	case Min:
		return smallest
	case Avg:
		if d.float() {
			return meanFloat
		}
		return meanInt
	}
	panic("collective: no such reduction")
}
