package collective

import "fmt"

// Geometry says, for one message size, which elements the chunks and slices of
// a plan are. Everything is cut evenly: parts into loops, loops into chunks,
// messages into slices, each piece at most one element longer than another, so
// every count works, zero included. The parts of an AllToAllV are not of one
// length (see lengths); each is cut as the others are. Imported plans differ: see
// Equal.
//
//	part p │ loop 0              │ loop 1              │ …
//	       │ chunk 0 │ chunk 1 … │ chunk 0 │ chunk 1 … │
type Geometry struct {
	// Count is the number of elements of one part; of AllToAllV's on average.
	Count int64
	// Ranks is 0 where all parts are alike. Else there is a part for each, whose
	// length depends on Rank, the one that has the buffer: see For.
	Ranks, Rank int
	// Chunks is the plan's number of chunks a part.
	Chunks int
	// Loops is how often the plan runs over the buffers.
	Loops int
	// Slices is how many slices a message is cut into. A slice of a short
	// message may be empty; it is sent all the same, as on hardware.
	Slices int
	// SlotsPerSlice is how many FIFO slots a slice takes.
	SlotsPerSlice int
	// Equal: all chunks are of one length, and a loop takes a piece of each.
	// Chunk k of a part is its elements from k × Count/Chunks on, as in MSCCL.
	Equal bool
}

// minSliceBytes is the least data worth a second slice: NCCL makes a slice at
// least 1/32 of its largest size (2.30 src/device/prims_simple.h).
const minSliceBytes = 32 << 10

// Size returns the geometry of p for count elements of elemSize bytes a part.
func (p *Plan) Size(count, elemSize int64) Geometry {
	g := Geometry{Count: count, Chunks: p.Chunks, Loops: 1, Slices: 1, SlotsPerSlice: p.SliceSteps}
	if p.Op == AllToAllV {
		g.Ranks = p.Ranks
		count = g.lengths().longest()
	}
	chunk := max(p.largestChunk()/elemSize, 1)
	if p.Imported {
		return p.sizeEven(g, chunk)
	}
	if p.Depth > 0 {
		chunk = p.pipelined(count, elemSize, chunk)
	}
	if per := chunk * int64(p.Chunks); count > per {
		g.Loops = int((count + per - 1) / per)
	}
	largest := (count + int64(g.Loops*p.Chunks) - 1) / int64(g.Loops*p.Chunks) * elemSize
	if s := p.ChunkSteps / p.SliceSteps; s > 1 && largest > minSliceBytes {
		g.Slices = int(min(int64(s), (largest+minSliceBytes-1)/minSliceBytes))
	}
	return g
}

// sizeEven completes the geometry of an imported plan, none of whose messages
// is cut. The count is one that Fits.
func (p *Plan) sizeEven(g Geometry, chunk int64) Geometry {
	g.Equal = true
	if each := g.Count / int64(g.Chunks); each > chunk {
		g.Loops = int((each + chunk - 1) / chunk)
	}
	return g
}

// Fits says why a plan cannot be used for count elements a part; nil: it can.
// Only an imported plan asks for more than that there be any.
func (p *Plan) Fits(count int64) error {
	if !p.Imported || count%int64(p.Chunks) == 0 {
		return nil
	}
	return fmt.Errorf("plan %s: %d elements do not fall into its %d equal chunks; the count must be a multiple of %d",
		p.Algorithm, count, p.Chunks, p.Chunks)
}

// largestChunk returns the most bytes a chunk may have: messages of the widest
// step still fit the FIFO steps of a chunk.
func (p *Plan) largestChunk() int64 {
	step := p.StepBytes
	if step == 0 {
		step = p.Protocol.StepBytes()
	}
	most := step * int64(p.ChunkSteps) / int64(max(p.Widest, 1))
	if p.ChunkBytes > 0 {
		most = min(most, p.ChunkBytes)
	}
	return most
}

// leastChunk is the least that a pipelined chunk is cut down to, in bytes: a
// FIFO of 8 shorter ones would not fill a link for as long as a credit travels.
const leastChunk = 64 << 10

// pipelined halves the chunk until each channel has at least two for every step
// of the chain. NCCL does the like for most of its trees, with thresholds of
// its own for each (2.30 src/enqueue.cc); ours are where neither a long
// pipeline nor many small slots cost the most, at 2 to 16 nodes.
func (p *Plan) pipelined(count, elemSize, chunk int64) int64 {
	for chunk*elemSize > leastChunk && count < chunk*int64(p.Chunks)*2*int64(p.Depth) {
		chunk /= 2
	}
	return max(chunk, 1)
}

// Scale returns g for a scale model of count elements: as many loops and
// slices as the real thing, every non-empty piece with at least one element.
// A count that is not smaller than g's own returns g itself.
func (g Geometry) Scale(count int64) Geometry {
	s := g
	pieces := int64(g.Loops) * int64(g.Chunks) * int64(g.Slices)
	if g.Ranks > 0 {
		pieces = g.lengths().least(pieces)
	}
	s.Count = max(count, pieces)
	if over := s.Count % int64(g.Chunks); g.Equal && over > 0 {
		s.Count += int64(g.Chunks) - over
	}
	if s.Count >= g.Count {
		return g
	}
	return s
}

// For returns g for the buffers of a rank. Where parts are alike, that is g.
func (g Geometry) For(rank int) Geometry {
	g.Rank = rank
	return g
}

// Even returns whether all slices of all chunks of every rank are equally long,
// and the length in elements of the shortest: what most sizes need to know.
func (g *Geometry) Even() (even bool, least int64) {
	pieces := int64(g.Loops) * int64(g.Chunks) * int64(g.Slices)
	if g.Ranks > 0 {
		return false, g.lengths().shortest() / pieces
	}
	return g.Count%pieces == 0, g.Count / pieces
}

// Chunk returns the offset in elements and the length of a chunk of a buffer
// in a loop.
func (g *Geometry) Chunk(index, loop int) (off, n int64) {
	part, k := index/g.Chunks, index%g.Chunks
	if g.Equal {
		each := g.Count / int64(g.Chunks)
		lo, hi := cut(each, loop, g.Loops)
		return int64(part)*g.Count + int64(k)*each + lo, hi - lo
	}
	start, count := int64(part)*g.Count, g.Count
	if g.Ranks > 0 {
		l := g.lengths()
		start, count = l.before(g.Rank, part), l.of(g.Rank, part)
	}
	lo, hi := cut(count, loop, g.Loops)
	a, b := cut(hi-lo, k, g.Chunks)
	return start + lo + a, b - a
}

func (g *Geometry) lengths() lengths { return lengths{int64(g.Ranks), g.Count} }

// Message returns the number of elements of count consecutive chunks.
func (g *Geometry) Message(index, count, loop int) int64 {
	if count == 1 {
		_, n := g.Chunk(index, loop)
		return n
	}
	var sum int64
	for i := range count {
		_, n := g.Chunk(index+i, loop)
		sum += n
	}
	return sum
}

// Slice returns the bounds, within a message of n elements, of slice s.
func (g *Geometry) Slice(n int64, s int) (lo, hi int64) { return cut(n, s, g.Slices) }

// Pieces calls f with the offset and length of every contiguous piece of
// elements [lo, hi) of the message made of count chunks from index on.
func (g *Geometry) Pieces(index, count, loop int, lo, hi int64, f func(off, n int64)) {
	for i := range count {
		off, n := g.Chunk(index+i, loop)
		if a, b := max(lo, 0), min(hi, n); a < b {
			f(off+a, b-a)
		}
		lo, hi = lo-n, hi-n
	}
}

// cut returns the bounds of piece i when n elements are cut into k even pieces.
func cut(n int64, i, k int) (lo, hi int64) {
	if k == 1 {
		return 0, n
	}
	// n×i/k, but n×i could leave int64: 16 TiB in a million loops would.
	q, r := n/int64(k), n%int64(k)
	if r == 0 {
		return q * int64(i), q * int64(i+1)
	}
	return q*int64(i) + r*int64(i)/int64(k), q*int64(i+1) + r*int64(i+1)/int64(k)
}
