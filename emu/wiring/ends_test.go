package wiring_test

import (
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu/wiring"
)

// Making the blocks of a rank is what wiring costs: no rank is asked for them
// twice, and none that a hosted rank has nothing to do with.
func TestEachRankIsAskedOnce(t *testing.T) {
	p, err := collective.Build("hierarchical", collective.AllToAll, collective.Uniform(4, 3), collective.Options{Channels: 3})
	if err != nil {
		t.Fatal(err)
	}
	for _, hosted := range []int{1, 3, 12} {
		asked := make([]int, p.Ranks)
		counting := collective.NewPlan(*p, func(rank int) []collective.Block {
			asked[rank]++
			return p.Rank(rank)
		})
		if _, err := wiring.Lay(counting, 0, func(r int) bool { return r < hosted }); err != nil {
			t.Fatal(err)
		}
		for r, n := range asked {
			concerned := hosted > 1 || r < 3 || r%3 == 0 // rank 0's node, and its rail
			if want := map[bool]int{true: 1}[concerned]; n != want {
				t.Errorf("%d hosted: rank %d is asked %d times, want %d", hosted, r, n, want)
			}
		}
	}
}
