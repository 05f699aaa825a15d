package collective

import "slices"

// The ring: every rank receives from one neighbour and sends to the other, and
// all links are busy all the time. For n ranks and buffers of S bytes (the
// larger of input and output):
//
//	op              steps   bytes a rank sends    busbw factor
//	all_reduce      2n − 1  2(n−1)/n × S          2(n−1)/n
//	all_gather      n + 1    (n−1)/n × S           (n−1)/n
//	reduce_scatter  n        (n−1)/n × S           (n−1)/n
//	broadcast       1        S, the last nothing   1
//	reduce          1        S, the root nothing   1
//	barrier         2n − 1   as all_reduce of one element
//
// Of an all_gather's steps one is a copy. Broadcast and reduce are a chain of
// n − 1 links round the ring (ring_chain.go). One rank alone copies, in one step. The number of bytes is the least
// possible, the number of steps is not: long messages like rings, short ones
// on many ranks do not.
//
// all_reduce on n = 4, one channel; the chunk that each position works on,
// step by step. Chunk i is fully reduced at position i, half way through.
//
//	            send  recv-reduce-send  recv-reduce-   recv-copy-send  recv
//	                                     copy-send
//	position 0    3       2     1            0            3     2        1
//	position 1    0       3     2            1            0     3        2
//	position 2    1       0     3            2            1     0        3
//	position 3    2       1     0            3            2     1        0
//
// reduce_scatter is the first half, with whole parts for chunks; all_gather is
// the second.
//
// Each channel is a ring of its own, and its own rail's: on channel c the ring
// comes into a node at Head(c), visits the other ranks in rotated order, and
// goes on to the next node's Head(c).
//
//	channel 1, 2 nodes × 4   ┌→ 1 → 2 → 3 → 0 ─→ 5 → 6 → 7 → 4 ─┐
//	                         └──────────────────────────────────┘
//
// From the last rank of a node (0 above) to the rail that the channel leaves
// by is the fabric's business: it forwards over NVLink to the rail's owner.
//
// Where rings change rails (Shape.Cross) the head before comes last in a node, and
// the ring leaves by that one's own NIC, with no hop over NVLink to the rail's
// owner. The next node is entered by another rail, or, when every second node is
// gone through in reverse, by the same:
//
//	channel 1, alternating   ┌→ 1 → 2 → 3 → 0 ─→ 4 → 7 → 6 → 5 ─┐
//	                         └──────────────────────────────────┘
//
// P. Patarasuk, X. Yuan: Bandwidth optimal all-reduce algorithms for clusters
// of workstations, JPDC 69 (2009). Steps as in NCCL 2.30, src/device/
// all_reduce.h, all_gather.h, reduce_scatter.h (runRing).
var ring = Algorithm{
	Name:      "ring",
	Ops:       []Op{AllReduce, AllGather, ReduceScatter, Broadcast, Reduce, Barrier},
	About:     "one ring a channel, rail-aligned; fewest bytes, 2n-1 steps; for long messages",
	Paper:     "Patarasuk, Yuan: Bandwidth optimal all-reduce algorithms for clusters of workstations, JPDC 69 (2009)",
	Steps:     ringMessages,
	StepsText: "all_reduce, barrier 2n − 1; all_gather, reduce_scatter n; broadcast, reduce 1, in a chain of n − 1",
	Wire: func(op Op, s Shape, bytes int64) int64 {
		if op.reducesForAll() {
			bytes *= 2
		}
		return int64(s.NRanks()-1) * bytes
	},
	WireText: "all_reduce, barrier 2(n − 1) S; others (n − 1) S",
	Build:    buildRing,
}

func ringMessages(op Op, s Shape) int {
	n := s.NRanks()
	switch {
	case n == 1:
		return 0
	case op.reducesForAll():
		return 2*n - 1
	case op == Broadcast || op == Reduce:
		return 1
	default:
		return n
	}
}

func buildRing(op Op, s Shape, o Options) (*Plan, error) {
	if op == Broadcast || op == Reduce {
		return buildChain(op, s, o)
	}
	p, err := draft("ring", op, s, o, ringChunk, ringSlices)
	if err != nil {
		return nil, err
	}
	if p.Ranks == 1 {
		return alonePlan(p), nil
	}
	if op.reducesForAll() {
		p.Chunks *= p.Ranks
	}
	p.OwnNICs = s.Cross != KeepRail
	steps := ringSteps(op, p.Ranks)
	circles := newCircles(s, o.Channels)
	return NewPlan(p, func(rank int) []Block {
		blocks := make([]Block, len(circles))
		for c := range blocks {
			blocks[c] = circles[c].block(op, rank, c, len(circles), steps)
		}
		return blocks
	}), nil
}

// circle is the closed path of one channel.
type circle struct {
	order []int // rank at each position
	at    []int // position of each rank
}

// newCircles returns the circle of each channel.
func newCircles(s Shape, channels int) []circle {
	circles := make([]circle, channels)
	for c := range circles {
		circles[c] = newCircle(s, c)
	}
	return circles
}

func newCircle(s Shape, channel int) circle {
	o := circle{order: make([]int, 0, s.NRanks())}
	for i, g := range s.Nodes {
		ring := g.ring(channel)
		head := slices.Index(ring, g.Head(channel))
		o.order = append(o.order, ring[head:]...)
		o.order = append(o.order, ring[:head]...)
		through := o.order[len(o.order)-len(ring):]
		if s.Cross != KeepRail && len(g.Rings) == 0 {
			leaveBy(through, g.exit(channel))
		}
		if s.Cross == Alternate && i%2 == 1 {
			slices.Reverse(through)
		}
	}
	o.at = positions(o.order)
	return o
}

// exit returns the head before that of a channel, by whose NIC a ring that changes
// rails leaves; the same one, when there is no other.
func (g Group) exit(c int) int {
	for k := 1; k < len(g.Heads); k++ {
		if h := g.Head(c + len(g.Heads) - k); h != g.Head(c) {
			return h
		}
	}
	return g.Head(c)
}

// leaveBy moves a rank to the end of the way through a node, unless the way begins
// with it.
func leaveBy(way []int, rank int) {
	if i := slices.Index(way, rank); i > 0 {
		copy(way[i:], way[i+1:])
		way[len(way)-1] = rank
	}
}

// block returns what a rank does on a channel: the steps that all share, seen
// from the rank's position.
func (o circle) block(op Op, rank, channel, channels int, steps []Step) Block {
	n, at := len(o.order), o.at[rank]
	b := Block{Channel: channel, Steps: steps}
	if op.reducesForAll() {
		b.Window = Window{First: channel * n, Stride: 1, Count: n, Shift: at}
	} else {
		b.Window = Window{First: channel, Stride: channels, Count: n, Shift: at, Order: o.order}
	}
	b.SendTo, b.RecvFrom = o.rank(at+1), o.rank(at+n-1)
	return b
}

// rank returns the rank at a position as a list of one peer.
func (o circle) rank(position int) []int {
	i := position % len(o.order)
	return o.order[i : i+1 : i+1]
}

// ringSteps returns the steps of every rank. Index i is the chunk (or the
// part) that belongs to the i-th position after the rank's own; what arrives
// was last held by the position before, so indices count down.
func ringSteps(op Op, n int) []Step {
	switch op {
	case AllGather:
		return ringAllGather(n)
	case ReduceScatter:
		return ringReduceScatter(n)
	default:
		return ringAllReduce(n)
	}
}

func ringAllReduce(n int) []Step {
	steps := []Step{{Kind: Send, Src: Ref{Input, n - 1}, Send: 1}}
	for i := n - 2; i > 0; i-- {
		steps = append(steps, Step{Kind: RecvReduceSend, Src: Ref{Input, i}, Recv: 1, Send: 1})
	}
	steps = append(steps, Step{Kind: RecvReduceCopySend, Src: Ref{Input, 0}, Dst: Ref{Output, 0}, Recv: 1, Send: 1})
	for i := n - 1; i > 1; i-- {
		steps = append(steps, Step{Kind: RecvCopySend, Dst: Ref{Output, i}, Recv: 1, Send: 1})
	}
	return append(steps, Step{Kind: Recv, Dst: Ref{Output, 1}, Recv: 1})
}

// ringAllGather sends the rank's own part before it copies it, so that the
// wire need not wait for the copy: NCCL does both in one pass.
func ringAllGather(n int) []Step {
	steps := []Step{
		{Kind: Send, Src: Ref{Input, Own}, Send: 1},
		{Kind: Copy, Src: Ref{Input, Own}, Dst: Ref{Output, 0}},
	}
	for i := n - 1; i > 1; i-- {
		steps = append(steps, Step{Kind: RecvCopySend, Dst: Ref{Output, i}, Recv: 1, Send: 1})
	}
	return append(steps, Step{Kind: Recv, Dst: Ref{Output, 1}, Recv: 1})
}

func ringReduceScatter(n int) []Step {
	steps := []Step{{Kind: Send, Src: Ref{Input, n - 1}, Send: 1}}
	for i := n - 2; i > 0; i-- {
		steps = append(steps, Step{Kind: RecvReduceSend, Src: Ref{Input, i}, Recv: 1, Send: 1})
	}
	return append(steps, Step{Kind: RecvReduceCopy, Src: Ref{Input, 0}, Dst: Ref{Output, Own}, Recv: 1})
}
