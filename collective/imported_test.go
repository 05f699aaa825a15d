package collective

import "testing"

// imported is a plan from a file, as far as its geometry goes.
func imported(chunks, widest int) *Plan {
	return &Plan{Op: AllReduce, Algorithm: "file", Ranks: 2, Chunks: chunks, Slots: 8, ChunkSteps: 1, SliceSteps: 1, Widest: widest, Imported: true}
}

// TestImportedGeometry: all chunks of a loop are of one length, chunk k lies
// where the file's author put it, and the loops of a chunk cover it once.
func TestImportedGeometry(t *testing.T) {
	for _, c := range []struct {
		chunks, widest int
		each           int64 // elements a chunk
		loops          int
	}{{1, 1, 1, 1}, {3, 1, 7, 1}, {3, 1, 131072, 1}, {3, 1, 131073, 2}, {5, 4, 131073, 5}, {24, 1, 0, 1}, {7, 2, 1000003, 16}} {
		p := imported(c.chunks, c.widest)
		count := c.each * int64(c.chunks)
		g := p.Size(count, 4)
		if g.Loops != c.loops || g.Slices != 1 || p.Fits(count) != nil {
			t.Errorf("%+v: %+v, fits %v", c, g, p.Fits(count))
		}
		for k := range 2 * c.chunks {
			at := int64(k) * c.each
			for loop := range g.Loops {
				off, n := g.Chunk(k, loop)
				if _, first := g.Chunk(0, loop); off != at || n != first {
					t.Fatalf("%+v: chunk %d of loop %d is [%d, +%d), want it at %d and as long as the first", c, k, loop, off, n, at)
				}
				at += n
			}
			if at != int64(k+1)*c.each {
				t.Errorf("%+v: chunk %d ends at %d", c, k, at)
			}
		}
		s := g.Scale(1)
		if s.Count > g.Count || s.Count%int64(c.chunks) != 0 || c.each > 0 && s.Count < int64(g.Loops*c.chunks) {
			t.Errorf("%+v: a scale model of %d", c, s.Count)
		}
	}
}

// TestFits: other counts are refused, with those that do.
func TestFits(t *testing.T) {
	p := imported(24, 1)
	if err := p.Fits(100); err == nil || err.Error() != "plan file: 100 elements do not fall into its 24 equal chunks; the count must be a multiple of 24" {
		t.Error(err)
	}
	p.Imported = false
	if err := p.Fits(100); err != nil {
		t.Error(err)
	}
}

// TestImportedMayWriteItsInput: and ours may not.
func TestImportedMayWriteItsInput(t *testing.T) {
	blocks := func(int) []Block {
		return []Block{{Steps: []Step{{Kind: Copy, Src: Ref{Input, 0}, Dst: Ref{Output, 0}}, {Kind: Copy, Src: Ref{Output, 0}, Dst: Ref{Input, 0}}}}}
	}
	p := Plan{Op: AllReduce, Ranks: 1, Channels: 1, Blocks: 1, Chunks: 1, Slots: 8, ChunkSteps: 1, SliceSteps: 1}
	if Check(NewPlan(p, blocks)) == nil {
		t.Error("a plan of ours that writes its input passes")
	}
	p.Imported = true
	if err := Check(NewPlan(p, blocks)); err != nil {
		t.Error(err)
	}
}

// TestLargePlans: the plans of the benchmark are right, at a size that tests
// can afford; one dependency less is a race.
func TestLargePlans(t *testing.T) {
	for _, p := range []*Plan{allPairs(9), longRing(9, 2)} {
		if j := Judge(p, true); j.Err != nil || j.Races > 0 || j.Unseen > 0 {
			t.Errorf("%s: %+v", p.Algorithm, j)
		}
		q, ranks := unrolled(p)
		found := false
		for b := range ranks[3] {
			for k := range ranks[3][b].Steps {
				s := &ranks[3][b].Steps[k]
				if len(s.Deps) == 0 || found {
					continue
				}
				s.Deps = nil
				found = true
			}
		}
		if j := Judge(q, true); !found || j.Races == 0 && j.Err == nil {
			t.Errorf("%s without a dependency: %+v", p.Algorithm, j)
		}
	}
}
