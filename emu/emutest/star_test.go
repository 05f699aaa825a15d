package emutest_test

import (
	"os"
	"strings"
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu/emutest"
	"github.com/railyard/railyard/shaping"
)

// The example of CONTRIBUTING.md, between the marks.

// example
// star: everybody sends to rank 0, which adds up and sends the sum to all.
func star(op collective.Op, s collective.Shape, o collective.Options) (*collective.Plan, error) {
	n, in, out := s.NRanks(), collective.Ref{Buffer: collective.Input}, collective.Ref{Buffer: collective.Output}
	p := collective.Plan{Op: op, Algorithm: "star", Ranks: n, Channels: 1, Blocks: 1, Chunks: 1, Slots: 8, ChunkSteps: 4, SliceSteps: 2}
	return collective.NewPlan(p, func(rank int) []collective.Block {
		if rank > 0 {
			return []collective.Block{{SendTo: []int{0}, RecvFrom: []int{0}, Steps: []collective.Step{
				{Kind: collective.Send, Src: in, Send: collective.Bit(0)},
				{Kind: collective.Recv, Dst: out, Recv: collective.Bit(0)}}}}
		}
		var others []int
		for r := 1; r < n; r++ {
			others = append(others, r)
		}
		all := collective.FirstPeers(n - 1)
		return []collective.Block{{SendTo: others, RecvFrom: others, Steps: []collective.Step{
			{Kind: collective.RecvReduceCopySend, Src: in, Dst: out, Recv: all, Send: all}}}}
	}), nil
}

func TestStar(t *testing.T) {
	mine := emutest.Run(t, emutest.Case{Build: star, Nodes: 2, GPUs: 4, Count: 100_003})
	ring := emutest.Run(t, emutest.Case{Algorithm: "ring", Nodes: 2, GPUs: 4, Count: 100_003})
	t.Logf("star %v, ring %v", mine.Time, ring.Time)
}

// example

// What CONTRIBUTING.md shows is what is tried here.
func TestContributingShowsTheExample(t *testing.T) {
	own, err := os.ReadFile("star_test.go")
	if err != nil {
		t.Fatal(err)
	}
	guide, err := os.ReadFile("../../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	code := strings.TrimSpace(strings.Split(string(own), "// example\n")[1])
	if !strings.Contains(string(guide), "```go\n"+code+"\n```") {
		t.Error("CONTRIBUTING.md shows other code than star_test.go between its marks")
	}
}

// A star's time grows with the ranks on rank 0's port, a ring's does not.
func TestTimesCompare(t *testing.T) {
	time := func(algorithm string, build emutest.Builder, count int64) shaping.Duration {
		return emutest.Run(t, emutest.Case{Build: build, Algorithm: algorithm, Count: count, Headers: true}).Time
	}
	if s, r := time("", star, 64<<20), time("ring", nil, 64<<20); s < r {
		t.Errorf("256 MiB on 8 GPUs: star %v, ring %v; a star moves 4 times as much through one port", s, r)
	}
	if s, r := time("", star, 8), time("ring", nil, 8); s > r {
		t.Errorf("32 B on 8 GPUs: star %v, ring %v; a star has 2 steps, a ring 14", s, r)
	}
}
