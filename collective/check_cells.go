package collective

// A rank's memory is a row of cells, one a chunk: input, output, scratch. In
// place, the smaller of input and output lies inside the larger.
//
//	           apart                 in place
//	all_reduce i i i i o o o o s s   io io io io s s
//	all_gather i o o o s             o io o s          (rank 1 of 3)

// chunk returns the first chunk that a reference of the block means.
func (b *Block) chunk(r Ref) int {
	if r.Buffer == Scratch {
		return r.Index
	}
	return b.Window.Chunk(r.Index)
}

// size returns how many chunks a buffer has.
func (f *proof) size(b Buffer) int {
	switch b {
	case Input:
		return f.input
	case Output:
		return f.output
	case Scratch:
		return f.plan.Scratch
	default:
		return 0
	}
}

// cells returns how many cells a rank has. In place some are not used.
func (f *proof) cells() int { return f.input + f.output + f.plan.Scratch }

// cell returns the cell of the first chunk that a reference means.
func (f *proof) cell(b *provenBlock, r Ref) int { return f.base(b.rank, r.Buffer) + b.chunk(r) }

// base returns the cell of a buffer's first chunk.
func (f *proof) base(rank int, b Buffer) int {
	own := rank * f.plan.Chunks
	switch {
	case b == Scratch:
		return f.input + f.output
	case b == Input && f.inPlace && f.input < f.output:
		return f.input + own
	case b == Output && f.inPlace && f.input == f.output:
		return 0
	case b == Output && f.inPlace && f.input > f.output:
		return own
	case b == Output:
		return f.input
	default:
		return 0
	}
}

// buffer returns the name and index of the chunk in a rank's cell. Where
// buffers share the cell it names the larger, or the output.
func (f *proof) buffer(rank, cell int) (Buffer, int) {
	for _, b := range []Buffer{Output, Input, Scratch} {
		k := cell - f.base(rank, b)
		if k >= 0 && k < f.size(b) && (b != Output || f.output >= f.input || !f.inPlace) {
			return b, k
		}
	}
	panic("collective: a cell of no buffer")
}
