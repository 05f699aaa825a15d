package emutest

import (
	"strings"
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
)

// Wrong plans and wrong cases are told, each by what is wrong with it.
func TestRefusals(t *testing.T) {
	lazy := func(op collective.Op, s collective.Shape, _ collective.Options) (*collective.Plan, error) {
		p := collective.Plan{Op: op, Algorithm: "lazy", Ranks: s.NRanks(), Channels: 1, Blocks: 1, Chunks: 1, Slots: 8, ChunkSteps: 1, SliceSteps: 1}
		return collective.NewPlan(p, func(int) []collective.Block {
			return []collective.Block{{Steps: []collective.Step{{Kind: collective.Copy,
				Dst: collective.Ref{Buffer: collective.Output}}}}}
		}), nil
	}
	for want, c := range map[string]Case{
		"wrong result":                 {Build: lazy, GPUs: 2},
		`algorithm "rnig": unknown`:    {Algorithm: "rnig"},
		`"tree" does not do broadcast`: {Algorithm: "tree", Op: collective.Broadcast},
		"gpus 9":                       {Algorithm: "ring", GPUs: 9},
		"asked for is all_gather on 2": {Build: func(collective.Op, collective.Shape, collective.Options) (*collective.Plan, error) {
			return lazy(collective.AllReduce, collective.Uniform(1, 3), collective.Options{})
		}, Op: collective.AllGather, GPUs: 2},
		"node7":           {Algorithm: "ring", GPUs: 2, Faults: []emu.Fault{{Type: "kill", Target: "node7"}}},
		"need a scenario": {Algorithm: "ring", GPUs: 2, Faults: []emu.Fault{{Type: "skip", Target: "node0/gpu0"}}},
	} {
		if _, err := try(&c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v; want %q", c, err, want)
		}
	}
}

// A plan that Check would have refused still turns the elements wrong: the two
// proofs are independent.
func TestElementsAreLookedAt(t *testing.T) {
	c := Case{Algorithm: "ring", Nodes: 2, GPUs: 2, Count: 100}
	f, err := c.fabric()
	if err != nil {
		t.Fatal(err)
	}
	run, p, err := c.run(f, false)
	if err != nil {
		t.Fatal(err)
	}
	run.Plan = collective.NewPlan(*p, func(rank int) []collective.Block {
		blocks := p.Rank(rank)
		for i := range blocks {
			steps := append([]collective.Step(nil), blocks[i].Steps...)
			for j := range steps {
				if steps[j].Kind == collective.RecvReduceCopySend {
					steps[j].Kind = collective.RecvCopySend
				}
			}
			blocks[i].Steps = steps
		}
		return blocks
	})
	if _, err := measure(f, run, nil, emu.Resilience{}, nil); err == nil || !strings.Contains(err.Error(), "wrong") {
		t.Errorf("a contribution is dropped, and the elements pass: %v", err)
	}
}
