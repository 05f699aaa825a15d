package payload

import (
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
)

// TestUnsetMemoryShows: a plan from a file that takes in scratch which nothing
// has written gives wrong results in every reduction. Zeros would pass for a
// right sum.
func TestUnsetMemoryShows(t *testing.T) {
	steps := []collective.Step{
		{Kind: collective.Send, Src: collective.Ref{Buffer: collective.Input}, Send: 1},
		{Kind: collective.RecvReduceCopy, Src: collective.Ref{Buffer: collective.Input}, Dst: collective.Ref{Buffer: collective.Output}, Recv: 1},
		{Kind: collective.ReduceLocal, Src: collective.Ref{Buffer: collective.Scratch}, Dst: collective.Ref{Buffer: collective.Output}},
	}
	for _, reads := range []bool{false, true} {
		p := collective.NewPlan(collective.Plan{Op: collective.AllReduce, Algorithm: "file", Ranks: 2, Channels: 1, Blocks: 1, Chunks: 1,
			Scratch: 1, Slots: 8, ChunkSteps: 1, SliceSteps: 1, Widest: 1, Imported: true}, func(rank int) []collective.Block {
			b := collective.Block{SendTo: []int{1 - rank}, RecvFrom: []int{1 - rank}, Steps: steps[:2]}
			if reads {
				b.Steps = steps
			}
			return []collective.Block{b}
		})
		for _, d := range []collective.DType{collective.Float32, collective.Float64, collective.Int32, collective.Int64} {
			for _, op := range []collective.RedOp{collective.Sum, collective.Prod, collective.Min, collective.Max} {
				const count = 12
				run := emu.Run{Op: p.Op, Plan: p, Comm: []int{0, 1}, Count: count, Real: count, DType: d, RedOp: op, Seed: 1}
				c := newCluster(t, run, p, p.Size(count, d.Size()), 2)
				c.run(t)
				if wrong := c.wrong(); (wrong > 0) != reads {
					t.Errorf("%v %v, reading unset scratch %v: %d wrong", d, op, reads, wrong)
				}
			}
		}
	}
}
