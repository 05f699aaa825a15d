package collective

import (
	"slices"
	"testing"
)

// Rings that change rails are rings still: each operation, on every shape.
func TestRingsThatCrossAreRight(t *testing.T) {
	for _, s := range spread() {
		for _, cross := range []Cross{CrossRail, Alternate} {
			s.Cross = cross
			for _, op := range []Op{AllReduce, AllGather, ReduceScatter, Broadcast, Reduce} {
				p := mustBuild(t, "ring", op, s, Options{Channels: 3, Root: 1 % s.NRanks()})
				if err := Check(p); err != nil {
					t.Errorf("%v, cross %d, %v: %v", op, cross, s, err)
				}
				if p.OwnNICs != (s.NRanks() > 1) {
					t.Errorf("%v: %v", op, p.OwnNICs)
				}
			}
		}
	}
}

// The way of channel 1 through two nodes of four, as ring.go draws it, and of one
// whose rails end at every second rank.
func TestWaysOfRings(t *testing.T) {
	half := Shape{Nodes: []Group{{Ranks: []int{0, 1, 2, 3}, Heads: []int{0, 2}}, {Ranks: []int{4, 5, 6, 7}, Heads: []int{4, 6}}}}
	for _, tc := range []struct {
		shape Shape
		cross Cross
		want  []int
	}{
		{Uniform(2, 4), KeepRail, []int{1, 2, 3, 0, 5, 6, 7, 4}},
		{Uniform(2, 4), CrossRail, []int{1, 2, 3, 0, 5, 6, 7, 4}},
		{Uniform(2, 4), Alternate, []int{1, 2, 3, 0, 4, 7, 6, 5}},
		{half, KeepRail, []int{2, 3, 0, 1, 6, 7, 4, 5}},
		{half, CrossRail, []int{2, 3, 1, 0, 6, 7, 5, 4}},
		{half, Alternate, []int{2, 3, 1, 0, 4, 5, 7, 6}},
	} {
		tc.shape.Cross = tc.cross
		if got := newCircle(tc.shape, 1).order; !slices.Equal(got, tc.want) {
			t.Errorf("cross %d: %v, want %v", tc.cross, got, tc.want)
		}
	}
}
