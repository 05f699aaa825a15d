package collective

import (
	"testing"
	"time"
)

// allPairs is an all-reduce in which each rank reduces one chunk: it gets that
// chunk of all others, in a block for each of them, reduces, and sends the
// result back. The worst that plans in the wild do to a checker: a block for
// each pair of ranks, all of them sharing chunks.
func allPairs(n int) *Plan {
	p := Plan{Op: AllReduce, Algorithm: "all-pairs", Ranks: n, Channels: 1, Blocks: n, Chunks: n, Scratch: n - 1,
		Slots: fifoSlots, ChunkSteps: 1, SliceSteps: 1, Widest: 1, Imported: true}
	return NewPlan(p, func(rank int) []Block {
		var blocks []Block
		at := func(chunk int) Ref { return Ref{Output, chunk} }
		for k := range n - 1 {
			peer := (rank + 1 + k) % n
			blocks = append(blocks, Block{SendTo: []int{peer}, RecvFrom: []int{peer}, Steps: []Step{
				{Kind: Send, Src: Ref{Input, peer}, Send: 1},
				{Kind: Recv, Dst: Ref{Scratch, k}, Recv: 1},
				{Kind: Send, Src: at(rank), Send: 1, Deps: []Dep{{n - 1, n - 2}}},
				{Kind: Recv, Dst: at(peer), Recv: 1},
			}})
		}
		reduce := Block{}
		for k := range n - 1 {
			reduce.Steps = append(reduce.Steps, Step{Kind: ReduceLocal, Src: Ref{Scratch, k}, Dst: at(rank), Deps: []Dep{{k, 1}}})
		}
		return append(blocks, reduce)
	})
}

// longRing is a ring whose blocks are split in two by direction, as compilers
// do: one receives into the buffer, the other sends on what has come.
func longRing(n, channels int) *Plan {
	p := Plan{Op: AllReduce, Algorithm: "long ring", Ranks: n, Channels: channels, Blocks: 2 * channels, Chunks: n * channels,
		Slots: fifoSlots, ChunkSteps: 1, SliceSteps: 1, Widest: 1, Imported: true}
	return NewPlan(p, func(rank int) []Block {
		var blocks []Block
		for c := range channels {
			out := Block{Channel: c, SendTo: []int{(rank + 1) % n}}
			in := Block{Channel: c, RecvFrom: []int{(rank + n - 1) % n}}
			for k := range 2*n - 2 {
				chunk := Ref{Output, c*n + (rank+2*n-1-k)%n}
				s := Step{Kind: Send, Src: chunk, Send: 1}
				if k > 0 {
					s.Deps = []Dep{{2*c + 1, k - 1}}
				}
				out.Steps = append(out.Steps, s)
				chunk.Index = c*n + (rank+2*n-2-k)%n
				if k < n-1 {
					in.Steps = append(in.Steps, Step{Kind: RecvReduceCopy, Src: chunk, Dst: chunk, Recv: 1})
				} else {
					in.Steps = append(in.Steps, Step{Kind: Recv, Dst: chunk, Recv: 1})
				}
			}
			blocks = append(blocks, out, in)
		}
		return blocks
	})
}

func size(p *Plan) (steps int) {
	for r := range p.Ranks {
		for _, b := range p.Rank(r) {
			steps += len(b.Steps)
		}
	}
	return steps
}

// The bounds that users are promised: a 64-rank plan of 100,000 steps is
// checked in 2 s, one of 256 ranks in 30 s. make bench-smoke holds them, since
// tests assert no wall clock.
func BenchmarkJudge(b *testing.B) {
	for _, c := range []struct {
		name  string
		plan  *Plan
		bound time.Duration
	}{
		{"64 ranks, ring of 7 channels", longRing(64, 7), 2 * time.Second},
		{"64 ranks, all pairs", allPairs(64), 2 * time.Second},
		{"256 ranks, all pairs", allPairs(256), 30 * time.Second},
		{"256 ranks, ring of 4 channels", longRing(256, 4), 30 * time.Second},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if j := Judge(c.plan, true); j.Err != nil || j.Races > 0 {
					b.Fatalf("%v, %d races: %v", j.Err, j.Races, j.Race)
				}
			}
			if each := b.Elapsed() / time.Duration(b.N); each > c.bound {
				b.Errorf("took %v, more than %v", each, c.bound)
			}
			b.ReportMetric(float64(size(c.plan)), "steps")
		})
	}
}
