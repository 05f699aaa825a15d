package collective

import "math/bits"

// This file has what several algorithms share: how they begin a plan, and the
// two ways of using more than one channel.
//
// Lanes: each channel has a range of chunks to itself and does the same as
// every other, so that all share one list of steps. Shares: where a message is
// a run of whole parts, that run is cut evenly, and each channel takes a piece
// of it; the channels then wait for each other's pieces between rounds.

// A ring's chunk takes half of a connection's 8 FIFO steps, in two slices
// (NCCL 2.30 src/include/device.h: ALLREDUCE_CHUNKSTEPS, ALLREDUCE_SLICESTEPS,
// NCCL_STEPS).
const (
	fifoSlots  = 8
	ringChunk  = fifoSlots / 2 // FIFO steps
	ringSlices = 2
)

// draft returns the plan that algorithms fill in: one chunk a channel, one
// block a channel, and in protocol Simple chunks of chunkSteps FIFO steps cut
// in slices. The error says which option or field of the shape cannot be.
func draft(name string, op Op, s Shape, o Options, chunkSteps, slices int) (Plan, error) {
	if err := s.check(); err != nil {
		return Plan{}, err
	}
	chunk, slice, err := o.fifoSteps(chunkSteps, slices)
	if err != nil {
		return Plan{}, err
	}
	return Plan{
		Op: op, Algorithm: name, Protocol: o.Protocol, Ranks: s.NRanks(), Channels: o.Channels,
		Blocks: o.Channels, Chunks: o.Channels,
		Slots: fifoSlots, ChunkSteps: chunk, SliceSteps: slice,
	}, nil
}

// alonePlan is the plan of a rank that is alone: it copies.
func alonePlan(p Plan) *Plan {
	p.Blocks, p.Chunks = p.Channels, p.Channels
	return NewPlan(p, func(int) []Block { return copies(p.Channels) })
}

// copies is the whole work of a rank that is alone.
func copies(channels int) []Block {
	blocks := make([]Block, channels)
	for c := range blocks {
		blocks[c] = Block{Channel: c, Window: only(c), Steps: []Step{
			{Kind: Copy, Src: Ref{Input, 0}, Dst: Ref{Output, 0}},
		}}
	}
	return blocks
}

// only is the window in which index 0 is the given chunk.
func only(chunk int) Window { return Window{First: chunk, Stride: 1, Count: 1} }

// everyChannel returns one block a channel, each with the same peers and steps over
// span chunks of its own.
func everyChannel(channels, span int, sendTo, recvFrom []int, steps []Step) []Block {
	blocks := make([]Block, channels)
	for c := range blocks {
		blocks[c] = Block{
			Channel: c, SendTo: sendTo, RecvFrom: recvFrom, Steps: steps,
			Window: Window{First: c * span, Stride: 1, Count: span},
		}
	}
	return blocks
}

// share returns what a channel does of a step whose references and Count are in
// whole parts: of Count × channels chunks it takes Count in a row.
//
//	parts 4 and 5, 3 channels │ chunks 12 13 14 15 16 17
//	                          │ channel 0  0  1  1  2  2
func (s Step) share(channel, channels int) Step {
	at := channel * s.Chunks()
	s.Src.Index = s.Src.Index*channels + at
	s.Dst.Index = s.Dst.Index*channels + at
	return s
}

// together returns dependencies on a step of n blocks in a row.
func together(first, n, step int) []Dep {
	deps := make([]Dep, n)
	for i := range deps {
		deps[i] = Dep{Block: first + i, Step: step}
	}
	return deps
}

// log2up returns ⌈log2 n⌉, the rounds it takes to double up to n ranks.
func log2up(n int) int { return bits.Len(uint(n - 1)) }

// log2down returns ⌊log2 n⌋.
func log2down(n int) int { return bits.Len(uint(n)) - 1 }

// positions returns the position of each rank in an order of all.
func positions(order []int) []int {
	at := make([]int, len(order))
	for i, r := range order {
		at[r] = i
	}
	return at
}
