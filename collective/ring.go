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
//
// One rank alone copies, in one step. The number of bytes is the least
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
// P. Patarasuk, X. Yuan: Bandwidth optimal all-reduce algorithms for clusters
// of workstations, JPDC 69 (2009). Steps as in NCCL 2.30, src/device/
// all_reduce.h, all_gather.h, reduce_scatter.h (runRing).
var ring = Algorithm{
	Name:  "ring",
	Ops:   []Op{AllReduce, AllGather, ReduceScatter},
	About: "one ring a channel, rail-aligned; fewest bytes, 2n-1 steps; for long messages",
	Build: buildRing,
}

// A ring's chunk takes half of a connection's 8 FIFO steps, in two slices
// (NCCL 2.30 src/include/device.h: ALLREDUCE_CHUNKSTEPS, ALLREDUCE_SLICESTEPS,
// NCCL_STEPS).
const (
	fifoSlots  = 8
	ringChunk  = fifoSlots / 2 // FIFO steps
	ringSlices = 2
)

func buildRing(op Op, s Shape, o Options) (*Plan, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	chunkSteps, sliceSteps, err := o.fifoSteps(ringChunk, ringSlices)
	if err != nil {
		return nil, err
	}
	p := Plan{
		Op: op, Algorithm: "ring", Protocol: o.Protocol, Ranks: s.NRanks(), Channels: o.Channels,
		Blocks: o.Channels, Chunks: o.Channels,
		Slots: fifoSlots, ChunkSteps: chunkSteps, SliceSteps: sliceSteps,
	}
	if op == AllReduce {
		p.Chunks *= p.Ranks
	}
	steps := ringSteps(op, p.Ranks)
	circles := make([]circle, o.Channels)
	for c := range circles {
		circles[c] = newCircle(s, c)
	}
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

func newCircle(s Shape, channel int) circle {
	o := circle{order: make([]int, 0, s.NRanks()), at: make([]int, s.NRanks())}
	for _, g := range s.Nodes {
		head := slices.Index(g.Ranks, g.Head(channel))
		o.order = append(o.order, g.Ranks[head:]...)
		o.order = append(o.order, g.Ranks[:head]...)
	}
	for i, r := range o.order {
		o.at[r] = i
	}
	return o
}

// block returns what a rank does on a channel: the steps that all share, seen
// from the rank's position.
func (o circle) block(op Op, rank, channel, channels int, steps []Step) Block {
	n, at := len(o.order), o.at[rank]
	b := Block{Channel: channel, Steps: steps}
	if op == AllReduce {
		b.Window = Window{First: channel * n, Stride: 1, Count: n, Shift: at}
	} else {
		b.Window = Window{First: channel, Stride: channels, Count: n, Shift: at, Order: o.order}
	}
	if n > 1 {
		b.SendTo, b.RecvFrom = o.rank(at+1), o.rank(at+n-1)
	}
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
	switch {
	case n == 1:
		return ringAlone(op)
	case op == AllGather:
		return ringAllGather(n)
	case op == ReduceScatter:
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

func ringAlone(op Op) []Step {
	src, dst := Ref{Input, 0}, Ref{Output, 0}
	switch op {
	case AllGather:
		src.Index = Own
	case ReduceScatter:
		dst.Index = Own
	}
	return []Step{{Kind: Copy, Src: src, Dst: dst}}
}
