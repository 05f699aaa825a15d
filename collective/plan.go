package collective

import (
	"fmt"
	"math/bits"
)

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
	// SHARP: some blocks are in the switches of the fabric. Who runs a part of
	// the plan must know, and cannot look at every rank.
	SHARP bool
	// Depth is how many steps the longest chain from one rank to another has.
	// Algorithms that pipeline many small chunks set it; Size shrinks chunks
	// until the pipeline is full. Zero: chunks are as large as they may be.
	Depth int
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

// MaxPeers is how many peers a block can send to, and receive from: as many as
// a Mask has bits.
const MaxPeers = 64

// Mask picks peers of a block: bit i is the i-th of its list.
type Mask uint64

// Bit returns the mask of the i-th peer.
func Bit(i int) Mask { return 1 << i }

// FirstPeers returns the mask of the first n peers.
func FirstPeers(n int) Mask { return 1<<n - 1 }

// Lowest returns the position of the lowest peer in the mask, which is not
// empty. Loops over a mask take it, then clear it with m &= m - 1.
func (m Mask) Lowest() int { return bits.TrailingZeros64(uint64(m)) }

// Len returns one more than the highest position in the mask.
func (m Mask) Len() int { return bits.Len64(uint64(m)) }

// Count returns how many peers the mask picks.
func (m Mask) Count() int { return bits.OnesCount64(uint64(m)) }

// Unit is what carries a block out.
type Unit uint8

// The units of a cluster that move data.
const (
	// SM is a streaming multiprocessor of the block's rank.
	SM Unit = iota
	// NVSwitch is the reduction engine of the switch between the GPUs of the
	// rank's node: its blocks only Forward what several GPUs send to one.
	NVSwitch
	// Multicast is the same switch's multicast engine: its blocks only Forward
	// what one GPU sends to several. Together the two are NVLS.
	Multicast
	// SHARP is the tree of fabric switches between the nodes: it reduces and
	// multicasts. The rank that has the block is the one at whose process the
	// payload meets; its GPU has no part in it.
	SHARP
	numUnits
)

// String returns the unit's name.
func (u Unit) String() string {
	return name([]string{"SM", "NVSwitch", "Multicast", "SHARP"}, int(u))
}

// At names a rank, or the switch's block that it has.
func At(rank int, u Unit) string {
	if u == SM {
		return fmt.Sprintf("rank %d", rank)
	}
	return fmt.Sprintf("rank %d's %s", rank, u)
}

// Block is a thread block: a list of steps carried out one after the other, on
// one channel. Blocks of a rank run at the same time.
type Block struct {
	Channel  int
	SendTo   []int // ranks, at most MaxPeers
	RecvFrom []int // ranks, at most MaxPeers
	Window   Window
	Unit     Unit
	// ToUnits and FromUnits say which unit of each peer it is; nil: SMs. They
	// tell the connections between two ranks apart, and let a rank's SM send to
	// a switch's block that is the rank's own.
	ToUnits, FromUnits []Unit
	Steps              []Step
}

// To returns the unit of the i-th peer that the block sends to.
func (b *Block) To(i int) Unit { return unitAt(b.ToUnits, i) }

// From returns the unit of the i-th peer that the block receives from.
func (b *Block) From(i int) Unit { return unitAt(b.FromUnits, i) }

func unitAt(units []Unit, i int) Unit {
	if units == nil {
		return SM
	}
	return units[i]
}

// Window says which chunks the indices in a block's steps mean, so that all
// ranks and channels of a ring share one list of steps: index i is chunk
// First + Stride × Order[(i + Shift) mod Count]. The zero Window is the
// identity.
type Window struct {
	First, Stride, Count, Shift int
	// Order says whose part each of Count positions is, where parts belong to
	// ranks and a ring does not visit these in order; nil is 0, 1, 2 …
	Order []int
}

// Own is the index that means chunk First itself, outside the circle: an
// all-gather has one chunk a channel in its input, and Count in its output.
const Own = -1

// Chunk returns the chunk that index i of a step means.
func (w Window) Chunk(i int) int {
	if i == Own {
		return w.First
	}
	if w.Count == 0 {
		return i
	}
	i += w.Shift
	if i >= w.Count {
		i -= w.Count // the common case: both below Count
		if i >= w.Count {
			i %= w.Count
		}
	}
	if w.Order != nil {
		i = w.Order[i]
	}
	return w.First + w.Stride*i
}

// StepKind says what a step does. See Step for what it reads and writes.
type StepKind uint8

// The kinds of step, a superset of MSCCL's.
const (
	Nop                StepKind = iota // nothing; carries dependencies
	Send                               // send src
	Recv                               // dst = received
	RecvCopySend                       // dst = received; send it on
	RecvReduceCopy                     // dst = src ⊕ received
	RecvReduceSend                     // send src ⊕ received; store nothing
	RecvReduceCopySend                 // dst = src ⊕ received; send it on
	Copy                               // dst = src
	ReduceLocal                        // dst = dst ⊕ src
	Forward                            // send received; store nothing. Src only says how long it is
	numStepKinds
)

var stepNames = [numStepKinds]string{
	Nop: "nop", Send: "send", Recv: "recv", RecvCopySend: "recv-copy-send",
	RecvReduceCopy: "recv-reduce-copy", RecvReduceSend: "recv-reduce-send",
	RecvReduceCopySend: "recv-reduce-copy-send", Copy: "copy", ReduceLocal: "reduce",
	Forward: "forward",
}

// String returns the kind's name as timelines print it.
func (k StepKind) String() string { return name(stepNames[:], int(k)) }

// Receives reports whether the step takes a message from its receive peers.
func (k StepKind) Receives() bool {
	return k >= Recv && k <= RecvReduceCopySend || k == Forward
}

// Sends reports whether the step puts a message on its send connections.
func (k StepKind) Sends() bool {
	return k == Send || k == RecvCopySend || k == RecvReduceSend || k == RecvReduceCopySend || k == Forward
}

// ReadsSrc reports whether the step reads its Src chunks.
func (k StepKind) ReadsSrc() bool {
	return k == Send || (k >= RecvReduceCopy && k <= RecvReduceCopySend) || k == Copy || k == ReduceLocal
}

// WritesDst reports whether the step writes its Dst chunks.
func (k StepKind) WritesDst() bool {
	return k == Recv || k == RecvCopySend || k == RecvReduceCopy || k == RecvReduceCopySend ||
		k == Copy || k == ReduceLocal
}

// Buffer is one of a rank's three buffers.
type Buffer uint8

// The buffers of a rank.
const (
	Input Buffer = iota
	Output
	Scratch
)

// String returns the buffer's name.
func (b Buffer) String() string { return name([]string{"input", "output", "scratch"}, int(b)) }

// Ref names the first of a run of chunks: an index of the block's Window for
// input and output, a plain chunk index for scratch.
type Ref struct {
	Buffer Buffer
	Index  int
}

// Step is one instruction over Count consecutive chunks.
type Step struct {
	Kind     StepKind
	Src, Dst Ref
	Count    int // chunks; 0 means 1
	// Recv and Send pick the peers of this step: bit i is the block's
	// RecvFrom[i] or SendTo[i]. Several received messages are reduced in one
	// pass, in the order of their bits.
	Recv, Send Mask
	// Deps must be done before the step begins, in the same loop.
	Deps []Dep
}

// Chunks returns the number of chunks the step works on.
func (s *Step) Chunks() int { return max(s.Count, 1) }

// Dep waits until another block of the same rank has finished a step.
type Dep struct{ Block, Step int }

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
