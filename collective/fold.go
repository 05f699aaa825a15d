package collective

// A fold makes any number of ranks fit algorithms for a power of two. With
// P = 2^k the largest that is not above n, the first n − P pairs of neighbours
// become one participant each: the even one hands its data to the odd one, its
// mate, and gets the result from it at the end.
//
//	position     0   1   2   3   4   5       n = 6, P = 4
//	             └─→ 0   └─→ 1   2   3       participant
//
// Positions are in node order, so that pairs, and participants at a distance of
// 1, 2, 4 …, are on one node as far as its size allows.
type fold struct {
	order, at []int // rank at a position, position of a rank
	k         int   // log2 of the participants
	pairs     int   // n − P
}

func newFold(s Shape) fold {
	t, n := newSeats(s), s.NRanks()
	k := log2down(n)
	return fold{order: t.order, at: t.at, k: k, pairs: n - 1<<k}
}

// role is what a rank is in a fold.
type role struct {
	// number is that of the participant that the rank is, or is folded into.
	number int
	// mate is the other rank of the pair; −1 if it is not in one.
	mate int
	// folded: the rank hands over and waits.
	folded bool
}

func (f fold) role(rank int) role {
	at := f.at[rank]
	if at >= 2*f.pairs {
		return role{number: at - f.pairs, mate: -1}
	}
	return role{number: at / 2, mate: f.order[at^1], folded: at%2 == 0}
}

// rank returns the rank that is a participant.
func (f fold) rank(number int) int {
	if number < f.pairs {
		return f.order[2*number+1]
	}
	return f.order[number+f.pairs]
}

// peers lists a participant's partners at distances 1, 2, 4 …, and then its
// mate, if it has one. A folded rank has its mate alone.
func (f fold) peers(r role) []int {
	if r.folded {
		return []int{r.mate}
	}
	list := make([]int, f.k, f.k+1)
	for j := range list {
		list[j] = f.rank(r.number ^ 1<<j)
	}
	if r.mate >= 0 {
		list = append(list, r.mate)
	}
	return list
}
