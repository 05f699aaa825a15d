package collective

import "testing"

// Offsets in closed form are the sums of the lengths, parts are symmetric, and a
// rank's parts make up its buffer.
func TestLengths(t *testing.T) {
	for _, n := range []int{1, 2, 3, 8, 13, 64} {
		for _, count := range []int64{0, 1, 2, int64(n) - 1, int64(n), 97, 1 << 33} {
			l := lengths{int64(n), count}
			for r := range n {
				agree(t, l, r)
			}
		}
	}
}

func agree(t *testing.T, l lengths, r int) {
	t.Helper()
	n, end := int(l.n), int64(0)
	for q := range n {
		if got := l.before(r, q); got != end {
			t.Fatalf("%+v: part %d of rank %d begins at %d, want %d", l, q, r, got, end)
		}
		length := l.of(r, q)
		if want := int64(partOf(r, q, n, int(l.count))); length != want || length != l.of(q, r) {
			t.Fatalf("%+v: rank %d sends %d to %d, which sends %d; want %d", l, r, length, q, l.of(q, r), want)
		}
		if length < l.shortest() || length > l.longest() {
			t.Fatalf("%+v: a part of %d, not from %d to %d", l, length, l.shortest(), l.longest())
		}
		for _, e := range []int64{end, end + length - 1} {
			if length > 0 && l.at(r, e) != q {
				t.Fatalf("%+v: element %d of rank %d lies in part %d, want %d", l, e, r, l.at(r, e), q)
			}
		}
		end += length
	}
	if end != l.before(r, n) || end != l.n*l.count {
		t.Fatalf("%+v: the parts of rank %d make %d, %d; want %d", l, r, end, l.before(r, n), l.n*l.count)
	}
}

// A scale model has an element for every slice that has one, in the shortest
// part too.
func TestUnlikePartsScale(t *testing.T) {
	for _, n := range []int{1, 2, 3, 8} {
		p := &Plan{Op: AllToAllV, Ranks: n, Chunks: 3, ChunkSteps: 4, SliceSteps: 2}
		for _, count := range []int64{0, 1, int64(n) - 1, 1000, 5_000_011} {
			g := p.Size(count, 4)
			for rank := range n {
				real, model := g.For(rank), g.Scale(0).For(rank)
				covers(t, &real)
				covers(t, &model)
				for index := range n * 3 {
					for loop := range g.Loops {
						_, a := real.Chunk(index, loop)
						_, b := model.Chunk(index, loop)
						if s := int64(g.Slices); a >= s && b < s {
							t.Fatalf("%+v: chunk %d of loop %d has %d elements, %d in the model, for %d slices", real, index, loop, a, b, s)
						}
					}
				}
			}
		}
	}
}

// covers checks that the chunks of all loops are a rank's buffer, each element
// once, and none longer than the FIFO holds.
func covers(t *testing.T, g *Geometry) {
	t.Helper()
	end, parts := int64(0), g.Ranks
	for part := range parts {
		for loop := range g.Loops {
			for k := range g.Chunks {
				off, n := g.Chunk(part*g.Chunks+k, loop)
				if off != end || n < 0 || n*4 > 2<<20 {
					t.Fatalf("%+v: chunk %d of part %d, loop %d, is [%d, +%d); the one before ends at %d", g, k, part, loop, off, n, end)
				}
				end += n
			}
		}
	}
	if want := g.Count * int64(parts); end != want {
		t.Fatalf("%+v: chunks end at %d, the buffer at %d", g, end, want)
	}
	if even, least := g.Even(); even || least > (lengths{int64(g.Ranks), g.Count}).shortest() {
		t.Errorf("%+v: even %v, least %d", g, even, least)
	}
}

func TestUnlikePartsAreNotConfused(t *testing.T) {
	good := direct(AllToAllV, 3)
	if err := Check(good); err != nil {
		t.Fatal(err)
	}
	// Rank 0 sends rank 2 the part that is rank 1's: another length.
	p, ranks := unrolled(good)
	for i := range ranks[0][0].Steps {
		if s := &ranks[0][0].Steps[i]; s.Kind == Send && s.Src.Index == 2 {
			s.Src.Index = 1
		}
	}
	e, ok := Check(p).(*CheckError)
	if !ok || e.Problem != Misfit || e.Rank != 2 {
		t.Errorf("a part of another length: %v", Check(p))
	}
	p.Scratch = 1
	if e, ok := Check(p).(*CheckError); !ok || e.Problem != Malformed {
		t.Errorf("scratch: %v", Check(p))
	}
	p, ranks = unrolled(good)
	last := len(ranks[1][0].Steps) - 1
	ranks[1][0].Steps[last].Kind, ranks[1][0].Steps[last].Src = RecvReduceCopy, in(1)
	if e, ok := Check(p).(*CheckError); !ok || e.Problem != Malformed {
		t.Errorf("a reduction: %v", Check(p))
	}
}
