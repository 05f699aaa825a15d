package collective

import "slices"

// proof is a plan laid out for checking: the blocks of all ranks in one list,
// the steps of all blocks under one numbering.
type proof struct {
	plan    *Plan
	inPlace bool
	root    int
	// input and output are the numbers of chunks in a rank's buffers.
	input, output int

	blocks  []provenBlock
	first   []int   // position in blocks of each rank's first, and the total
	blockOf []int32 // position in blocks of each step
	links   []link
	// origin[s] … origin[s+1] bound, in origins, the sending steps whose
	// messages step s receives, in the order of its Recv bits.
	origin  []int32
	origins []int32
}

// provenBlock is a block and its place in the numbering.
type provenBlock struct {
	rank, index int
	*Block
	base         int32 // id of step 0
	sends, recvs []int // positions in links, parallel to SendTo and RecvFrom
}

func (b *provenBlock) place(step int) Place { return Place{b.rank, b.index, step} }

// whole stands for a plan as a place.
var whole = Place{-1, -1, -1}

func newProof(p *Plan, inPlace bool) (*proof, error) {
	if err := checkHead(p, inPlace); err != nil {
		return nil, err
	}
	f := &proof{plan: p, inPlace: inPlace, root: p.Root, first: make([]int, 1, p.Ranks+1)}
	in, out := p.Op.Parts(p.Ranks)
	f.input, f.output = in*p.Chunks, out*p.Chunks
	for r := range p.Ranks {
		blocks := p.Rank(r)
		if len(blocks) > p.Blocks {
			return nil, problem(Place{r, -1, -1}, Malformed, "%d blocks; the plan says at most %d", len(blocks), p.Blocks)
		}
		for i := range blocks {
			f.add(provenBlock{rank: r, index: i, Block: &blocks[i]})
		}
		f.first = append(f.first, len(f.blocks))
	}
	for i := range f.blocks {
		if err := f.checkBlock(&f.blocks[i]); err != nil {
			return nil, err
		}
	}
	return f, nil
}

func (f *proof) add(b provenBlock) {
	b.base = int32(len(f.blockOf))
	f.blockOf = slices.Grow(f.blockOf, len(b.Steps))
	for range b.Steps {
		f.blockOf = append(f.blockOf, int32(len(f.blocks)))
	}
	f.blocks = append(f.blocks, b)
}

// at returns the block of a step and the step's index in it.
func (f *proof) at(id int32) (*provenBlock, int) {
	b := &f.blocks[f.blockOf[id]]
	return b, int(id - b.base)
}

// place returns where a step is.
func (f *proof) place(id int32) Place {
	b, i := f.at(id)
	return b.place(i)
}

func checkHead(p *Plan, inPlace bool) error {
	switch {
	case p.Op >= numOps:
		return problem(whole, Malformed, "operation %d is unknown", p.Op)
	case p.Ranks < 1 || p.Channels < 1 || p.Chunks < 1 || p.Scratch < 0:
		return problem(whole, Malformed, "%d ranks, %d channels, %d chunks, %d scratch chunks; ranks, channels and chunks are at least 1, scratch at least 0",
			p.Ranks, p.Channels, p.Chunks, p.Scratch)
	case p.Root < 0 || p.Root >= p.Ranks:
		return problem(whole, Malformed, "root %d; allowed are the ranks 0 to %d", p.Root, p.Ranks-1)
	case p.SliceSteps < 1 || p.ChunkSteps < p.SliceSteps || p.ChunkSteps%p.SliceSteps != 0:
		return problem(whole, Malformed, "a chunk of %d FIFO steps in slices of %d; slices are at least 1 step and divide the chunk", p.ChunkSteps, p.SliceSteps)
	case p.Ports < 0 || p.Ports > MaxPorts:
		return problem(whole, Malformed, "switches of %d ports; allowed are 0 to %d", p.Ports, MaxPorts)
	case p.Slots < p.SliceSteps:
		return problem(whole, Malformed, "%s; a slice alone takes %d", count(p.Slots, "slot"), p.SliceSteps)
	case p.Op == AllToAllV && p.Scratch > 0:
		return problem(whole, Malformed, "%d scratch chunks; the parts of %s are of unlike length, so none would fit", p.Scratch, p.Op)
	case inPlace && !p.Imported && !p.Op.InPlace():
		return problem(whole, Malformed, "%s has no in-place form", p.Op)
	}
	return nil
}

func (f *proof) checkBlock(b *provenBlock) error {
	here := b.place(-1)
	switch w := b.Window; {
	case b.Channel < 0 || b.Channel >= f.plan.Channels:
		return problem(here, Malformed, "channel %d; the plan has 0 to %d", b.Channel, f.plan.Channels-1)
	case max(len(b.SendTo), len(b.RecvFrom)) > f.plan.peers(b.Unit):
		return problem(here, Malformed, "%d send and %d receive peers; at most %d each", len(b.SendTo), len(b.RecvFrom), f.plan.peers(b.Unit))
	case b.Unit >= numUnits:
		return problem(here, Malformed, "unit %d is unknown", b.Unit)
	case b.Unit == SHARP && !f.plan.SHARP:
		return problem(here, Malformed, "is in a switch of the fabric, and the plan does not say that it has such blocks")
	case w.Count < 0 || w.Shift < 0 || w.Shift > maxIndex || (w.Order != nil && len(w.Order) != w.Count):
		return problem(here, Malformed, "window of %d chunks shifted by %d, with %d in its order; none is negative, and an order lists every chunk", w.Count, w.Shift, len(w.Order))
	}
	if err := f.checkPeers(b, b.SendTo, b.ToUnits); err != nil {
		return err
	}
	if err := f.checkPeers(b, b.RecvFrom, b.FromUnits); err != nil {
		return err
	}
	for i := range b.Steps {
		if err := f.checkStep(b, i); err != nil {
			return err
		}
	}
	return nil
}

// checkPeers looks at one of a block's lists of peers. A switch has to do with
// SMs alone, and only with a switch's block of its own can a rank be its peer.
func (f *proof) checkPeers(b *provenBlock, ranks []int, units []Unit) error {
	here := b.place(-1)
	if units != nil && len(units) != len(ranks) {
		return problem(here, Malformed, "%d units for %d peers; each peer has one", len(units), len(ranks))
	}
	for i, r := range ranks {
		u := unitAt(units, i)
		switch {
		case u >= numUnits:
			return problem(here, Malformed, "unit %d of peer %d is unknown", u, r)
		case u != SM && b.Unit != SM:
			return problem(here, Malformed, "a block of %s has peer %d in %s; allowed is SM", b.Unit, r, u)
		case r < 0 || r >= f.plan.Ranks || r == b.rank && u == b.Unit:
			return problem(here, Malformed, "peer %d; allowed are the other ranks of 0 to %d", r, f.plan.Ranks-1)
		}
	}
	return nil
}

func (f *proof) checkStep(b *provenBlock, i int) error {
	s, here := &b.Steps[i], b.place(i)
	switch {
	case s.Kind >= numStepKinds:
		return problem(here, Malformed, "step kind %d is unknown", s.Kind)
	case s.Count < 0 || s.Count > maxIndex:
		return problem(here, Malformed, "count %d; allowed are 0 to %d chunks", s.Count, maxIndex)
	case b.Unit != SM && s.Kind != Forward && s.Kind != Nop:
		return problem(here, Malformed, "%s in a block of %s, which only forwards", s.Kind, b.Unit)
	case f.plan.Op == AllToAllV && (s.Kind == ReduceLocal || s.Kind.Receives() && s.Kind != Recv && s.Kind != RecvCopySend):
		return problem(here, Malformed, "%s; the parts of %s are of unlike length, and not to be reduced", s.Kind, f.plan.Op)
	case s.Kind.Receives() != (s.Recv != 0) || s.Recv.Len() > len(b.RecvFrom):
		return problem(here, Malformed, "%s receives from peers %08b; the block has %d", s.Kind, s.Recv, len(b.RecvFrom))
	case s.Kind.Sends() != (s.Send != 0) || s.Send.Len() > len(b.SendTo):
		return problem(here, Malformed, "%s sends to peers %08b; the block has %d", s.Kind, s.Send, len(b.SendTo))
	}
	for _, d := range s.Deps {
		if d.Block < 0 || d.Block >= f.blocksOf(b.rank) || d.Step < 0 || d.Step >= len(f.sibling(b, d.Block).Steps) {
			return problem(here, Malformed, "depends on block %d step %d, which the rank does not have", d.Block, d.Step)
		}
	}
	return f.checkRefs(b, i)
}

func (f *proof) checkRefs(b *provenBlock, i int) error {
	s, here := &b.Steps[i], b.place(i)
	if s.Kind == Forward && !f.inside(b, s.Src, s.Chunks()) {
		return problem(here, Malformed, "is as long as %d chunks from index %d of the %s on, which has %d", s.Chunks(), s.Src.Index, s.Src.Buffer, f.size(s.Src.Buffer))
	}
	if s.Kind.ReadsSrc() && !f.inside(b, s.Src, s.Chunks()) {
		return problem(here, Malformed, "reads %d chunks from index %d of the %s on, which has %d", s.Chunks(), s.Src.Index, s.Src.Buffer, f.size(s.Src.Buffer))
	}
	if !s.Kind.WritesDst() {
		return nil
	}
	if !f.inside(b, s.Dst, s.Chunks()) {
		return problem(here, Malformed, "writes %d chunks from index %d of the %s on, which has %d", s.Chunks(), s.Dst.Index, s.Dst.Buffer, f.size(s.Dst.Buffer))
	}
	if s.Dst.Buffer == Input && !f.inPlace && !f.plan.Imported {
		return problem(here, Malformed, "writes the input, which is not its to change unless the run is in place")
	}
	if s.Kind.ReadsSrc() {
		src, dst := f.cell(b, s.Src), f.cell(b, s.Dst)
		if src != dst && src < dst+s.Chunks() && dst < src+s.Chunks() {
			return problem(here, Malformed, "reads and writes %d chunks that overlap, but not one to one", s.Chunks())
		}
	}
	return nil
}

// maxIndex bounds indices, so that no sum of two leaves an int.
const maxIndex = 1<<31 - 1

// inside reports whether n chunks from a reference on lie in their buffer.
func (f *proof) inside(b *provenBlock, r Ref, n int) bool {
	if r.Buffer > Scratch || r.Index < Own || r.Index > maxIndex || (r.Index == Own && r.Buffer == Scratch) {
		return false
	}
	k := b.chunk(r)
	return k >= 0 && k <= f.size(r.Buffer)-n
}

func (f *proof) blocksOf(rank int) int { return f.first[rank+1] - f.first[rank] }

// sibling returns a block of the same rank.
func (f *proof) sibling(b *provenBlock, index int) *provenBlock {
	return &f.blocks[f.first[b.rank]+index]
}
