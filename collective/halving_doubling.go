package collective

// Recursive halving and doubling: a reduce-scatter in which every round swaps
// half of what the one before did, then an all-gather back the same way. For n
// ranks, P = 2^k the largest power of two up to n, buffers of S bytes:
//
//	steps                 4k − 1, and one more where P < n
//	bytes all ranks send  2(n − 1) × S
//	bytes a rank sends    2(P − 1)/P × S, and S more to a mate
//
// As few bytes as a ring, in a logarithmic number of steps: between the two in
// size. The buffer is cut into P pieces; a message is a run of them.
//
// On n = 4, pieces 0 … 3; each line is what a rank still adds up:
//
//	rank            0      1      2      3
//	               0123   0123   0123   0123
//	distance 1     01     23     01     23      half the buffer, inside the node
//	distance 2     0      2      1      3       a quarter, farther away
//	distance 2     01     23     01     23      and back, gathering
//	distance 1     0123   0123   0123   0123
//
// Ranks are taken in node order and the nearest partner comes first, when
// messages are longest: half of the bytes stay at distance 1 and, on nodes of a
// power of two g of ranks, (P − P/g)/(P − 1) of them inside the node. The far
// rounds then join ranks at the same place of their nodes, on one rail.
//
// Where n is not a power of two, n − P ranks are folded in before and out
// after (fold.go). Their mate sends the half that it gives away on to its first
// partner as it comes in.
//
// R. Rabenseifner: Optimization of collective reduction operations, ICCS 2004.
var halvingDoubling = Algorithm{
	Name:  "halving-doubling",
	Ops:   []Op{AllReduce},
	About: "halve towards the far ranks, double back; as few bytes as a ring in 4 log2 n steps; for middle sizes",
	Paper: "Rabenseifner: Optimization of collective reduction operations, ICCS 2004",
	Steps: func(_ Op, s Shape) int {
		n := s.NRanks()
		switch k := log2down(n); {
		case n == 1:
			return 0
		case n == 1<<k:
			return 4*k - 1
		default:
			return 4 * k
		}
	},
	StepsText: "4k − 1, k = ⌊log2 n⌋; 4k where n is no power of 2",
	Wire:      func(_ Op, s Shape, bytes int64) int64 { return 2 * int64(s.NRanks()-1) * bytes },
	WireText:  "2(n − 1) S",
	Build:     buildHalvingDoubling,
}

func buildHalvingDoubling(op Op, s Shape, o Options) (*Plan, error) {
	p, err := draft("halving-doubling", op, s, o, ringChunk, ringSlices)
	if err != nil {
		return nil, err
	}
	if p.Ranks == 1 {
		return alonePlan(p), nil
	}
	f := newFold(s)
	pieces := 1 << f.k
	p.Chunks, p.Widest = p.Channels*pieces, pieces/2
	return NewPlan(p, func(rank int) []Block {
		r := f.role(rank)
		h := halving{k: f.k, role: r}
		steps := h.folded
		if !r.folded {
			steps = h.participant
		}
		peers := f.peers(r)
		return everyChannel(p.Channels, pieces, peers, peers, steps())
	}), nil
}

// halving makes the steps of one rank. Peer j is the partner of round j, peer
// k the mate.
type halving struct {
	role
	k     int
	steps []Step
}

func (h *halving) add(s Step) { h.steps = append(h.steps, s) }

// halves returns the half of 2n pieces from lo on that the participant keeps in
// round j, and the one it gives away.
func (h *halving) halves(j, lo, n int) (keep, give int) {
	if h.number>>j&1 == 0 {
		return lo, lo + n
	}
	return lo + n, lo
}

func (h *halving) participant() []Step {
	h.steps = make([]Step, 0, 4*h.k)
	lo := h.halve()
	h.double(lo)
	return h.steps
}

// halve adds the steps of the reduce-scatter, and returns the piece that is
// left. The last step sends it off again: that is the first half of the
// all-gather's first round.
func (h *halving) halve() (lo int) {
	from := Input
	for j, n := 0, 1<<h.k/2; j < h.k; j, n = j+1, n/2 {
		keep, give := h.halves(j, lo, n)
		if j == 0 && h.mate >= 0 {
			h.add(Step{Kind: RecvReduceSend, Src: Ref{Input, give}, Count: n, Recv: Bit(h.k), Send: Bit(0)})
			h.add(Step{Kind: RecvReduceCopy, Src: Ref{Input, keep}, Dst: Ref{Output, keep}, Count: n, Recv: Bit(h.k)})
			from = Output
		} else {
			h.add(Step{Kind: Send, Src: Ref{from, give}, Count: n, Send: Bit(j)})
		}
		last := Step{Kind: RecvReduceCopy, Src: Ref{from, keep}, Dst: Ref{Output, keep}, Count: n, Recv: Bit(j)}
		if j == h.k-1 {
			last.Kind, last.Send = RecvReduceCopySend, h.back(j)
		}
		h.add(last)
		from, lo = Output, keep
	}
	return lo
}

// double adds the steps of the all-gather, from one piece on: what is missing
// is where the partner's bit differs.
func (h *halving) double(lo int) {
	for j, n := h.k-1, 1; j >= 0; j, n = j-1, 2*n {
		if j < h.k-1 {
			h.add(Step{Kind: Send, Src: Ref{Output, lo}, Count: n, Send: h.back(j)})
		}
		other := lo ^ n
		last := Step{Kind: Recv, Dst: Ref{Output, other}, Count: n, Recv: Bit(j)}
		if j == 0 && h.mate >= 0 {
			last.Kind, last.Send = RecvCopySend, Bit(h.k)
		}
		h.add(last)
		lo = min(lo, other)
	}
}

// back returns who gets what is gathered before round j: the partner, and in
// the last round the mate, to whom both halves go.
func (h *halving) back(j int) Mask {
	if j == 0 && h.mate >= 0 {
		return Bit(0) | Bit(h.k)
	}
	return Bit(j)
}

// folded returns the steps of a rank that its mate stands in for: halves in the
// order in which the mate wants them, and has them.
func (h *halving) folded() []Step {
	n := 1 << h.k / 2
	keep, give := h.halves(0, 0, n)
	return []Step{
		{Kind: Send, Src: Ref{Input, give}, Count: n, Send: 1},
		{Kind: Send, Src: Ref{Input, keep}, Count: n, Send: 1},
		{Kind: Recv, Dst: Ref{Output, keep}, Count: n, Recv: 1},
		{Kind: Recv, Dst: Ref{Output, give}, Count: n, Recv: 1},
	}
}
