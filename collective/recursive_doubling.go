package collective

// Recursive doubling: in round j every rank swaps all it has with the rank at
// distance 2^j and adds up, so that after log2 n rounds all have everything.
// For n ranks, P = 2^k the largest power of two up to n, buffers of S bytes:
//
//	op          steps   bytes all ranks send     bytes a rank sends
//	all_reduce  k + 1   (k × P + 2(n − P)) × S   k × S
//	barrier     k + 1   the same
//
// The number of rounds is the least possible and each carries the whole
// buffer: for the shortest messages. A step receives what one round brings and
// sends the sum on in the next, slice by slice.
//
// On n = 4; a letter is a rank's contribution:
//
//	rank        0       1       2       3
//	           a ←───→ b       c ←───→ d        distance 1
//	          ab ←──────────→ cd                distance 2
//	                  ab ←──────────→ cd
//	         abcd    abcd    abcd    abcd
//
// Both partners compute the same sum, one as x + y and one as y + x. Reductions
// commute, bit for bit, so all ranks end with identical bits.
//
// Where n is not a power of two, n − P ranks are folded in before and out
// after (fold.go): the mate's first step receives theirs, its last sends them
// the result. Ranks are taken in node order: the first rounds stay inside the
// node.
//
// R. Thakur, R. Rabenseifner, W. Gropp: Optimization of collective
// communication operations in MPICH, IJHPCA 19 (2005).
var recursiveDoubling = Algorithm{
	Name:  "recursive-doubling",
	Ops:   []Op{AllReduce, Barrier},
	About: "swap everything at distances 1, 2, 4 …; fewest steps, most bytes; for the shortest messages",
	Paper: "Thakur, Rabenseifner, Gropp: Optimization of collective communication operations in MPICH, IJHPCA 19 (2005)",
	Steps: func(_ Op, s Shape) int {
		if s.NRanks() == 1 {
			return 0
		}
		return log2down(s.NRanks()) + 1
	},
	StepsText: "k + 1, k = ⌊log2 n⌋",
	Wire: func(_ Op, s Shape, bytes int64) int64 {
		n, k := s.NRanks(), log2down(s.NRanks())
		return int64(k<<k+2*(n-1<<k)) * bytes
	},
	WireText: "(k 2^k + 2(n − 2^k)) S",
	Build:    buildRecursiveDoubling,
}

func buildRecursiveDoubling(op Op, s Shape, o Options) (*Plan, error) {
	p, err := draft("recursive-doubling", op, s, o, ringChunk, ringSlices)
	if err != nil {
		return nil, err
	}
	if p.Ranks == 1 {
		return alonePlan(p), nil
	}
	f := newFold(s)
	folded, plain, mated := doublingFolded(), doubling(f.k, false), doubling(f.k, true)
	return NewPlan(p, func(rank int) []Block {
		r := f.role(rank)
		steps := plain
		switch {
		case r.folded:
			steps = folded
		case r.mate >= 0:
			steps = mated
		}
		peers := f.peers(r)
		return everyChannel(p.Channels, 1, peers, peers, steps)
	}), nil
}

// doubling returns the steps of a participant in k rounds. Peer j is the
// partner of round j, peer k the mate.
func doubling(k int, mated bool) []Step {
	sum, src := Ref{Output, 0}, Ref{Input, 0}
	steps := make([]Step, 0, k+1)
	if mated {
		steps = append(steps, Step{Kind: RecvReduceCopySend, Src: src, Dst: sum, Recv: Bit(k), Send: Bit(0)})
		src = sum
	} else {
		steps = append(steps, Step{Kind: Send, Src: src, Send: Bit(0)})
	}
	for j := range k - 1 {
		steps = append(steps, Step{Kind: RecvReduceCopySend, Src: src, Dst: sum, Recv: Bit(j), Send: Bit(j + 1)})
		src = sum
	}
	last := Step{Kind: RecvReduceCopy, Src: src, Dst: sum, Recv: Bit(k - 1)}
	if mated {
		last.Kind, last.Send = RecvReduceCopySend, Bit(k)
	}
	return append(steps, last)
}

// doublingFolded returns the steps of a rank that its mate stands in for.
func doublingFolded() []Step {
	return []Step{
		{Kind: Send, Src: Ref{Input, 0}, Send: 1},
		{Kind: Recv, Dst: Ref{Output, 0}, Recv: 1},
	}
}
