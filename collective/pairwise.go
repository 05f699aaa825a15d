package collective

import "math/bits"

// The pairwise exchange: an all-to-all in n − 1 rounds, in each of which every
// rank talks to one other. For n ranks and buffers of S bytes:
//
//	messages of a rank, a channel   2(n − 1): one sent, one received a round
//	bytes on all links              (n − 1) × S
//
// A round begins when the rank has sent and received what the one before had
// for it. So at any time a rank has one partner, whose messages it takes on all
// channels: few connections are busy, and no receiver has two senders. The
// price is the latency of every round; direct pays it once.
//
// For n a power of two the partner of round k is the rank at position p XOR k,
// and pairs exchange; else a rank sends to the k-th after it and receives from
// the k-th before it. Positions are in node order.
//
//	n = 4       round 1  round 2  round 3
//	position 0     1        2        3
//	position 1     0        3        2
//	position 2     3        0        1
//	position 3     2        1        0
//
// A rank's peers fall to blocks of at most 64; each begins where the one before
// ended.
//
// R. Thakur, R. Rabenseifner, W. Gropp: Optimization of collective communication
// operations in MPICH, IJHPCA 19 (2005), section 4.3.
var pairwise = Algorithm{
	Name:      "pairwise",
	Ops:       []Op{AllToAll, AllToAllV},
	About:     "n-1 rounds, one partner at a time; for long messages where receivers must not be crowded",
	Protocols: []Protocol{Simple, LL},
	Paper:     "Thakur, Rabenseifner, Gropp, IJHPCA 19 (2005)",
	Steps:     func(_ Op, s Shape) int { return 2 * min(s.NRanks()-1, MaxPeers) },
	Wire:      func(_ Op, s Shape, bytes int64) int64 { return int64(s.NRanks()-1) * bytes },
	StepsText: "2(n − 1), at most 64 peers a block",
	WireText:  "(n − 1) S",
	Build:     buildPairwise,
}

func buildPairwise(op Op, s Shape, o Options) (*Plan, error) {
	p, err := draft("pairwise", op, s, o, ringChunk, ringSlices)
	if err != nil {
		return nil, err
	}
	r := &turns{circle: seated(newSeats(s)), channels: o.Channels}
	r.groups = max(1, (s.NRanks()-1+MaxPeers-1)/MaxPeers)
	p.Blocks = o.Channels * r.groups
	for i := range p.Blocks {
		r.steps = append(r.steps, r.list(i))
	}
	return NewPlan(p, r.blocks), nil
}

// turns makes the blocks: those of channel 0 first, groups in order.
type turns struct {
	circle           circle
	channels, groups int
	steps            [][]Step // by block
}

// pairs reports whether partners exchange: index k of a window is then the
// partner of round k, sent to and received from.
func (r *turns) pairs() bool { return bits.OnesCount(uint(len(r.circle.order))) == 1 }

// span returns the rounds of a block: from … to−1.
func (r *turns) span(block int) (from, to int) {
	group := block % r.groups
	return 1 + group*MaxPeers, min(1+(group+1)*MaxPeers, len(r.circle.order))
}

// list returns the steps of a block. Round 0 is with oneself.
func (r *turns) list(block int) []Step {
	n := len(r.circle.order)
	var steps []Step
	if block%r.groups == 0 {
		steps = append(steps, Step{Kind: Copy, Src: Ref{Input, 0}, Dst: Ref{Output, 0}})
	}
	from, to := r.span(block)
	for k := from; k < to; k++ {
		source := n - k
		if r.pairs() {
			source = k
		}
		steps = append(steps,
			Step{Kind: Send, Src: Ref{Input, k}, Send: Bit(k - from)},
			Step{Kind: Recv, Dst: Ref{Output, source}, Recv: Bit(k - from)})
	}
	if block%r.groups > 0 {
		steps[0].Deps = []Dep{{Block: block - 1, Step: len(r.steps[block-1]) - 1}}
	}
	return steps
}

func (r *turns) blocks(rank int) []Block {
	partners := r.partners(rank)
	at, n := r.circle.at[rank], len(r.circle.order)
	w := Window{Stride: r.channels, Count: n, Shift: at, Order: r.circle.order}
	if r.pairs() {
		w.Shift, w.Order = 0, partners
	}
	blocks := make([]Block, len(r.steps))
	for i := range blocks {
		b := &blocks[i]
		b.Channel, b.Window, b.Steps = i/r.groups, w, r.steps[i]
		b.Window.First = b.Channel
		from, to := r.span(i)
		b.SendTo = partners[from:to:to]
		b.RecvFrom = b.SendTo
		if !r.pairs() {
			b.RecvFrom = nil
			for k := from; k < to; k++ {
				b.RecvFrom = append(b.RecvFrom, r.circle.order[(at+n-k)%n])
			}
		}
	}
	return blocks
}

// partners returns to whom a rank sends in each round, itself first.
func (r *turns) partners(rank int) []int {
	at, n := r.circle.at[rank], len(r.circle.order)
	partners := make([]int, n)
	for k := range partners {
		partners[k] = r.circle.order[(at+k)%n]
		if r.pairs() {
			partners[k] = r.circle.order[at^k]
		}
	}
	return partners
}
