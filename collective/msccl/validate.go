package msccl

import (
	"cmp"
	"slices"

	"github.com/railyard/railyard/collective"
)

// validate sees that the parts of a file fit together, so that a plan of them
// can be laid out, carried out and checked.
func (f *File) validate() error {
	if err := f.order(); err != nil {
		return err
	}
	if f.Coll == "" {
		f.guessOp()
	}
	if err := f.sizes(); err != nil {
		return err
	}
	moves := 0
	for r := range f.GPUs {
		g := &f.GPUs[r]
		for i := range g.Copies {
			if err := f.checkCopy(&g.Copies[i]); err != nil {
				return err
			}
		}
		for i := range g.Blocks {
			if err := f.checkBlock(g, &g.Blocks[i]); err != nil {
				return err
			}
			for k := range g.Blocks[i].Steps {
				if moves += g.Blocks[i].Steps[k].Count; moves > maxMoves {
					return bad(g.Blocks[i].Steps[k].Line, "all steps together work on more than %d chunks", maxMoves)
				}
			}
		}
	}
	_, err := f.connect()
	return err
}

// order sorts gpus and blocks by their ids, which must leave no gap.
func (f *File) order() error {
	if len(f.GPUs) != f.Ranks {
		return bad(0, "%d <gpu> elements; ngpus is %d", len(f.GPUs), f.Ranks)
	}
	slices.SortStableFunc(f.GPUs, func(a, b GPU) int { return cmp.Compare(a.ID, b.ID) })
	widest := 0
	for r := range f.GPUs {
		g := &f.GPUs[r]
		if g.ID != r {
			return bad(g.Line, "gpu %d is there twice", g.ID)
		}
		slices.SortStableFunc(g.Blocks, func(a, b Block) int { return cmp.Compare(a.ID, b.ID) })
		for i := range g.Blocks {
			if id := g.Blocks[i].ID; id != i {
				return bad(g.Blocks[i].Line, "gpu %d: tb %d where %d is due; ids are 0, 1, 2 …, each once", r, id, i)
			}
			f.Channels = max(f.Channels, g.Blocks[i].Channel+1)
		}
		widest = max(widest, len(g.Blocks))
	}
	if slots := f.Ranks * (widest + 1); slots > maxSlots {
		return bad(0, "%d ranks of up to %d blocks; their product is at most %d", f.Ranks, widest, maxSlots)
	}
	return nil
}

// guessOp names the operation of a file without coll: early compilers left it
// out of broadcasts, which show by the one rank that has an input.
func (f *File) guessOp() {
	f.Op = collective.Custom
	if len(f.owners(func(g *GPU) int { return g.Input })) == 1 {
		f.Op = collective.Broadcast
	}
	f.note("coll is missing; read as %s", f.Op)
}

// owners returns the ranks of which something is above zero.
func (f *File) owners(of func(*GPU) int) (ranks []int) {
	for r := range f.GPUs {
		if of(&f.GPUs[r]) > 0 {
			ranks = append(ranks, r)
		}
	}
	return ranks
}

// parts returns how many chunks input and output have by the operation.
func (f *File) parts() (in, out int) {
	in, out = f.Op.Parts(f.Ranks)
	part := f.part()
	return in * part, out * part
}

// part returns how many chunks a part has.
func (f *File) part() int {
	in, out := f.Op.Parts(f.Ranks)
	return f.Chunks / max(in, out)
}

// sizes compares the sizes of buffers with what the operation makes of them. A
// size of 0 is one that an alias, or nothing, stands in for.
func (f *File) sizes() error {
	if in, out := f.Op.Parts(f.Ranks); f.Chunks%max(in, out) != 0 {
		return bad(0, "nchunksperloop %d does not divide among the %d parts of %s", f.Chunks, max(in, out), f.Op)
	}
	in, out := f.parts()
	cells := 0
	for r := range f.GPUs {
		g := &f.GPUs[r]
		if g.Input != 0 && g.Input != in {
			return bad(g.Line, "gpu %d: i_chunks %d; the input of %s with nchunksperloop %d has %d", r, g.Input, f.Op, f.Chunks, in)
		}
		if g.Output != 0 && g.Output != out {
			return bad(g.Line, "gpu %d: o_chunks %d; the output of %s with nchunksperloop %d has %d", r, g.Output, f.Op, f.Chunks, out)
		}
		cells = max(cells, in+out+g.Scratch)
	}
	if cells *= f.Ranks; cells > maxCells {
		return bad(0, "%d chunks in the buffers of all ranks; at most %d are allowed", cells, maxCells)
	}
	return nil
}

func (f *File) checkCopy(c *Copy) error {
	if in, out := f.parts(); c.From >= in || c.To >= out {
		return bad(c.Line, "copies input %d to output %d; they have %d and %d chunks", c.From, c.To, in, out)
	}
	return nil
}

func (f *File) checkBlock(g *GPU, b *Block) error {
	if b.Send == g.ID || b.Recv == g.ID {
		return bad(b.Line, "gpu %d tb %d: its peer is its own rank", g.ID, b.ID)
	}
	chain := 0 // nops before the step
	for k := range b.Steps {
		s := &b.Steps[k]
		if err := f.checkStep(g, b, k); err != nil {
			return err
		}
		switch {
		case s.Kind == collective.Nop && s.DepBlock >= 0:
			chain++
		case s.Kind != collective.Nop && chain > 0 && s.DepBlock < 0:
			return bad(s.Line, "gpu %d tb %d step %d: follows %s with dependencies and has none itself; the last one of a chain stands on the step", g.ID, b.ID, k, plural(chain, "nop"))
		case s.Kind != collective.Nop:
			chain = 0
		}
	}
	return nil
}

func (f *File) checkStep(g *GPU, b *Block, k int) error {
	s := &b.Steps[k]
	refuse := func(format string, args ...any) error {
		return bad(s.Line, "gpu %d tb %d step %d: "+format, append([]any{g.ID, b.ID, k}, args...)...)
	}
	switch {
	case s.Kind.Sends() && b.Send < 0:
		return refuse("%s in a block without a send peer", s.Kind)
	case s.Kind.Receives() && b.Recv < 0:
		return refuse("%s in a block without a receive peer", s.Kind)
	case s.DepBlock >= len(g.Blocks):
		return refuse("depid %d; the gpu has blocks 0 to %d", s.DepBlock, len(g.Blocks)-1)
	}
	if s.Kind.ReadsSrc() {
		if n := f.chunks(g, s.Src.Buffer); s.Src.Index+s.Count > n {
			return refuse("reads %s from %d on of the %s, which has %d", plural(s.Count, "chunk"), s.Src.Index, s.Src.Buffer, n)
		}
	}
	if s.Kind.WritesDst() {
		if n := f.chunks(g, s.Dst.Buffer); s.Dst.Index+s.Count > n {
			return refuse("writes %s from %d on of the %s, which has %d", plural(s.Count, "chunk"), s.Dst.Index, s.Dst.Buffer, n)
		}
	}
	return nil
}

// chunks returns how many chunks a buffer has on a gpu.
func (f *File) chunks(g *GPU, b collective.Buffer) int {
	in, out := f.parts()
	switch b {
	case collective.Input:
		return in
	case collective.Output:
		return out
	default:
		return g.Scratch
	}
}
