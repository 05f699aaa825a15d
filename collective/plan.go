package collective

import "fmt"

// Plan is an algorithm made definite: for each rank, blocks of steps over
// chunks. It is independent of message size: a Geometry says, for a size, how
// long the chunks are and how often the whole plan is looped over.
type Plan struct {
	Op        Op
	Algorithm string // name of the registry, or of the file it was read from
	Protocol  Protocol
	Ranks     int
	Channels  int
	// Blocks is the largest number of blocks any rank has; it numbers them.
	Blocks int
	// Chunks is how many chunks one part of a buffer is cut into a loop. An
	// all-reduce has one part; the output of an all-gather has Ranks parts,
	// and chunk k of part p has the index p × Chunks + k.
	Chunks int
	// Scratch is how many chunks of scratch buffer each rank needs. Scratch
	// chunk i is as long as chunk i mod Chunks of a part, and like a part each
	// loop has elements of its own, so that loops do not race for them.
	Scratch int
	// Slots is the number of steps a connection's FIFO holds (NCCL_STEPS, 8).
	Slots int
	// ChunkSteps and SliceSteps say how many FIFO steps the largest chunk and
	// slice take. A chunk is at most half the slots: a ring whose step sends as
	// many slices as there are slots before it receives any stops for ever.
	ChunkSteps, SliceSteps int
	// Root is the rank that a rooted operation starts from or ends at.
	Root int
	// Widest is the most chunks any step works on, when a message as long as
	// that must still fit the FIFO steps of one chunk: Size cuts chunks down to
	// it. Zero: messages are as long as their steps say.
	Widest int
	// StepBytes is how much data a step of a FIFO holds; zero: what the
	// protocol's default buffer gives (Protocol.StepBytes). ChunkBytes caps the
	// chunk, below what ChunkSteps hold; zero: no cap.
	StepBytes, ChunkBytes int64
	// Heads is how many heads a channel of NCCL's has for each of the plan's, where
	// a chunk size is said for one of NCCL's heads (Options.ChunkBytes): a chunk of
	// the plan stands for as many. Zero means 1.
	Heads int
	// Ports is the most peers that a switch's block sends to, or receives from;
	// up to MaxPeers it need not be said. It numbers connections.
	Ports int
	// SHARP: some blocks are in the switches of the fabric. Who runs a part of
	// the plan must know, and cannot look at every rank.
	SHARP bool
	// Depth is how many steps the longest chain from one rank to another has.
	// Algorithms that pipeline many small chunks set it; Size shrinks chunks
	// until the pipeline is full. Zero: chunks are as large as they may be.
	Depth int
	// OwnNICs: what goes from node to node leaves by the sender's own NIC and enters
	// by the receiver's, whatever rail the channel has.
	OwnNICs bool
	// Imported: the plan was read from a file. Its messages may join chunks of
	// any index, so chunks must all be of one length, and Fits says which
	// counts make them so. Check judges it by its results alone.
	Imported bool

	blocks func(rank int) []Block
}

// NewPlan returns the plan that p describes, with the blocks of each rank made
// on demand, so that no process needs the whole plan of a large cluster.
func NewPlan(p Plan, blocks func(rank int) []Block) *Plan {
	p.blocks = blocks
	return &p
}

// Rank returns the blocks of a rank. Step lists may be shared between blocks
// and ranks: callers read only.
func (p *Plan) Rank(rank int) []Block {
	if rank < 0 || rank >= p.Ranks {
		panic(fmt.Sprintf("collective: rank %d of a plan for %d", rank, p.Ranks))
	}
	return p.blocks(rank)
}

// peers returns how many peers a block of a unit may have on either side.
func (p *Plan) peers(u Unit) int {
	if u == SM {
		return MaxPeers
	}
	return max(MaxPeers, p.Ports)
}

// SameInPlace reports whether two references of a rank's block name the same
// memory when input and output are one buffer, as nccl-tests lays it out: an
// all-gather's input is the rank's part of the output, a reduce-scatter's
// output the rank's part of the input, any other op's input is its output.
func (p *Plan) SameInPlace(rank int, w Window, a, b Ref) bool {
	return p.inPlace(rank, w, a) == p.inPlace(rank, w, b)
}

// inPlace returns the buffer and chunk that a reference means when input and
// output are one.
func (p *Plan) inPlace(rank int, w Window, r Ref) Ref {
	if r.Buffer == Scratch {
		return r
	}
	in, out := p.Op.Parts(p.Ranks)
	chunk := w.Chunk(r.Index)
	if (r.Buffer == Input && out > in) || (r.Buffer == Output && in > out) {
		chunk += rank * p.Chunks
	}
	return Ref{Output, chunk}
}
