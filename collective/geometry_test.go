package collective

import (
	"math/big"
	"slices"
	"testing"
)

// somePlans are plans whose geometries differ: many and few chunks, slices or
// none, pipelined or not.
func somePlans() []*Plan {
	return []*Plan{
		{Chunks: 1, ChunkSteps: 1, SliceSteps: 1},
		{Chunks: 8, ChunkSteps: 4, SliceSteps: 2},
		{Chunks: 7, ChunkSteps: 4, SliceSteps: 1},
		{Chunks: 130, ChunkSteps: 4, SliceSteps: 4},
		{Chunks: 16, ChunkSteps: 1, SliceSteps: 1, Depth: 9},
		{Chunks: 16, ChunkSteps: 1, SliceSteps: 1, Depth: 3, Protocol: LL},
	}
}

func TestGeometry(t *testing.T) {
	for _, p := range somePlans() {
		for _, count := range []int64{0, 1, 2, 3, 63, 64, 65, 997, 8191, 8192, 100_003, 1 << 20, 5_000_011} {
			for _, size := range []int64{1, 4, 8} {
				holds(t, p, p.Size(count, size), size)
			}
		}
	}
}

// holds checks all that is promised of a geometry.
func holds(t *testing.T, p *Plan, g Geometry, size int64) {
	t.Helper()
	const part = 3 // parts are alike; one that is not the first shows offsets
	end := part * g.Count
	for loop := range g.Loops {
		lo, shortest, longest := end, g.Count, int64(0)
		for k := range g.Chunks {
			off, n := g.Chunk(part*g.Chunks+k, loop)
			if off != end || n < 0 {
				t.Fatalf("%+v: chunk %d of loop %d is [%d, +%d); the one before ends at %d", g, k, loop, off, n, end)
			}
			end += n
			shortest, longest = min(shortest, n), max(longest, n)
			if loop == 0 || loop == g.Loops-1 {
				tiles(t, &g, part*g.Chunks+k, loop, n)
			}
		}
		if longest-shortest > 1 {
			t.Errorf("%+v: chunks of loop %d have %d to %d elements", g, loop, shortest, longest)
		}
		if room := p.Protocol.StepBytes() * int64(p.ChunkSteps); longest*size > room {
			t.Errorf("%+v: a chunk of %d B in a FIFO that holds %d B of it", g, longest*size, room)
		}
		if n := g.Message(part*g.Chunks, g.Chunks, loop); n != end-lo {
			t.Errorf("%+v: all chunks of loop %d make a message of %d, not %d", g, loop, n, end-lo)
		}
	}
	if end != (part+1)*g.Count {
		t.Errorf("%+v: chunks end at %d; the part ends at %d", g, end, (part+1)*g.Count)
	}
}

// tiles checks that the slices of a one-chunk message follow one another, and
// that their pieces are where the chunk is.
func tiles(t *testing.T, g *Geometry, index, loop int, n int64) {
	t.Helper()
	at := int64(0)
	for s := range g.Slices {
		lo, hi := g.Slice(n, s)
		if lo != at || hi < lo {
			t.Fatalf("%+v: slice %d of %d elements is [%d, %d); the one before ends at %d", g, s, n, lo, hi, at)
		}
		at = hi
		start, _ := g.Chunk(index, loop)
		g.Pieces(index, 1, loop, lo, hi, func(off, length int64) {
			if off != start+lo || length != hi-lo {
				t.Errorf("%+v: slice [%d, %d) of the chunk at %d is at [%d, +%d)", g, lo, hi, start, off, length)
			}
		})
	}
	if at != n {
		t.Errorf("%+v: slices end at %d of %d", g, at, n)
	}
}

// The pieces of a message of several chunks, slice by slice, are its chunks.
func TestPieces(t *testing.T) {
	g := Geometry{Count: 101, Chunks: 7, Loops: 3, Slices: 4}
	for loop := range g.Loops {
		for count := 1; count <= 7; count++ {
			var got []int64
			n := g.Message(7-count, count, loop)
			for s := range g.Slices {
				lo, hi := g.Slice(n, s)
				g.Pieces(7-count, count, loop, lo, hi, func(off, n int64) {
					for i := range n {
						got = append(got, off+i)
					}
				})
			}
			var want []int64
			for k := 7 - count; k < 7; k++ {
				off, n := g.Chunk(k, loop)
				for i := range n {
					want = append(want, off+i)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("loop %d, %d chunks: pieces %v, want %v", loop, count, got, want)
			}
		}
	}
}

func TestScaleKeepsEveryPiece(t *testing.T) {
	for _, p := range somePlans() {
		for _, real := range []int64{0, 1, 999, 1 << 20, 5_000_011} {
			g := p.Size(real, 4)
			for _, count := range []int64{0, 1, 1000, 40_009, real} {
				scaled(t, p, g, g.Scale(count))
			}
		}
	}
}

func scaled(t *testing.T, p *Plan, g, s Geometry) {
	t.Helper()
	if s.Loops != g.Loops || s.Slices != g.Slices || s.Chunks != g.Chunks || s.Count > g.Count {
		t.Fatalf("%+v scaled is %+v: another structure", g, s)
	}
	holds(t, p, s, 0)
	for loop := range g.Loops {
		for k := range g.Chunks {
			_, n := g.Chunk(k, loop)
			_, m := s.Chunk(k, loop)
			for i := range g.Slices {
				lo, hi := g.Slice(n, i)
				a, b := s.Slice(m, i)
				if hi > lo && b == a {
					t.Fatalf("%+v scaled to %d: slice %d of chunk %d, loop %d, has lost its elements", g, s.Count, i, k, loop)
				}
			}
		}
	}
}

func FuzzGeometry(f *testing.F) {
	f.Add(int64(1000), uint8(8), uint8(4), uint8(2), uint8(0), int64(10))
	f.Add(int64(0), uint8(1), uint8(1), uint8(1), uint8(5), int64(0))
	f.Fuzz(func(t *testing.T, count int64, chunks, chunkSteps, slices, depth uint8, scale int64) {
		if count < 0 || count > 1<<24 || chunks == 0 || chunkSteps == 0 || chunkSteps > 8 || slices == 0 || chunkSteps%slices != 0 || scale < 0 {
			t.Skip("not a geometry a plan could have")
		}
		p := &Plan{Chunks: int(chunks), ChunkSteps: int(chunkSteps), SliceSteps: int(chunkSteps / slices), Depth: int(depth)}
		g := p.Size(count, 4)
		holds(t, p, g, 4)
		scaled(t, p, g, g.Scale(scale))
	})
}

func TestWindow(t *testing.T) {
	order := []int{4, 2, 0, 3, 1}
	for _, c := range []struct {
		w    Window
		i    int
		want int
	}{
		{Window{}, 7, 7},
		{Window{First: 3, Stride: 1, Count: 1}, 0, 3},
		{Window{First: 10, Stride: 1, Count: 5, Shift: 3}, 1, 14},
		{Window{First: 10, Stride: 1, Count: 5, Shift: 3}, 2, 10},
		{Window{First: 10, Stride: 1, Count: 5, Shift: 4}, 23, 12},
		{Window{First: 1, Stride: 2, Count: 5, Shift: 4, Order: order}, 0, 3},
		{Window{First: 1, Stride: 2, Count: 5, Shift: 4, Order: order}, 1, 9},
		{Window{First: 1, Stride: 2, Count: 5, Shift: 4, Order: order}, Own, 1},
	} {
		if got := c.w.Chunk(c.i); got != c.want {
			t.Errorf("%+v: index %d is chunk %d, want %d", c.w, c.i, got, c.want)
		}
	}
}

// TestCutOfMany: the pieces of the longest part there may be, in as many loops
// as the smallest chunks make of it, are where arithmetic without end puts them.
func TestCutOfMany(t *testing.T) {
	for _, n := range []int64{1 << 44, 1<<44 - 1, 1<<31 + 1} {
		for _, k := range []int{3, 1 << 20, 1<<29 + 1} {
			for _, i := range []int{0, 1, k / 2, k - 1} {
				lo, hi := cut(n, i, k)
				for at, got := range map[int]int64{i: lo, i + 1: hi} { // order: each is compared by itself
					want := new(big.Int).Mul(big.NewInt(n), big.NewInt(int64(at)))
					if want.Div(want, big.NewInt(int64(k))); want.Int64() != got {
						t.Errorf("cut %d of %d elements in %d: %d, want %d", at, n, k, got, want)
					}
				}
			}
		}
	}
}
