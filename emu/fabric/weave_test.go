package fabric

import (
	"slices"
	"testing"

	"github.com/railyard/railyard/emu"
)

// TestRingsOfTori: as many rings as the links of the chips with the fewest allow,
// each through all chips, along links that there are, and no link in two.
func TestRingsOfTori(t *testing.T) {
	for _, tc := range []struct {
		torus []int
		wrap  string
		dark  []string
		rings int // there and back counted apart
	}{
		{[]int{2, 2, 1}, "none", nil, 2},
		{[]int{2, 2, 2}, "none", nil, 2},
		{[]int{2, 2, 4}, "none", nil, 2},
		{[]int{2, 4, 4}, "none", nil, 2},
		{[]int{2, 4, 4}, "yz", nil, 4},
		{[]int{4, 2, 4}, "x", nil, 4},
		{[]int{4, 4, 1}, "none", nil, 2},
		{[]int{4, 4, 1}, "xy", nil, 4},
		{[]int{4, 2, 1}, "x", nil, 2},
		{[]int{4, 4, 4}, "xyz", nil, 6},
		{[]int{4, 4, 4}, "xy", nil, 4},
		{[]int{4, 4, 4}, "yz", nil, 4},
		{[]int{4, 4, 4}, "z", nil, 4},
		{[]int{4, 4, 4}, "none", nil, 2},
		{[]int{4, 4, 8}, "xyz", nil, 6},
		{[]int{4, 8, 8}, "xyz", nil, 6},
		{[]int{8, 8, 8}, "xyz", nil, 6},
		{[]int{4, 4, 32}, "xyz", nil, 6},
		{[]int{12, 4, 8}, "xyz", nil, 6},
		{[]int{12, 4, 8}, "xz", nil, 4},
		{[]int{4, 4, 4}, "xyz", []string{"x5"}, 4},
		{[]int{4, 4, 8}, "xyz", []string{"z3@1"}, 4},
		{[]int{4, 4, 8}, "xyz", []string{"x0", "z3@1"}, 4},
		{[]int{4, 4, 8}, "xyz", []string{"x0", "y7", "z3@1"}, 2},
		{[]int{4, 4, 8}, "none", []string{"z3", "z9", "z12"}, 2},
	} {
		s := emu.Slice{Torus: tc.torus, Wrap: tc.wrap, Dark: tc.dark}
		s = s.Filled(s.Hosts())
		if err := s.Check(s.Hosts(), emu.Pod{Chips: 4096, Slice: 4096}); err != nil {
			t.Fatalf("%v: %v", tc, err)
		}
		rings := newWeave(s.Torus, s.Open(), s.Cut()).rings()
		if len(rings) != tc.rings {
			t.Errorf("%v: %d rings", tc, len(rings))
		}
		checkRings(t, s, rings)
	}
}

func checkRings(t *testing.T, s emu.Slice, rings [][]int) {
	t.Helper()
	used := map[[2]int]bool{}
	for i, ring := range rings {
		seen := make([]bool, s.Chips())
		for k, a := range ring {
			b := ring[(k+1)%len(ring)]
			link := [2]int{a, b}
			if seen[a] || used[link] || !linked(&s, a, b) {
				t.Fatalf("%v: ring %d of %d chips goes from %d to %d: seen %v, used %v", s, i, len(ring), a, b, seen[a], used[link])
			}
			seen[a], used[link] = true, true
		}
		if len(ring) != s.Chips() {
			t.Fatalf("%v: ring %d has %d chips", s, i, len(ring))
		}
	}
}

// linked says from coordinates whether two chips have a link.
func linked(s *emu.Slice, a, b int) bool {
	if slices.Contains(s.Cut(), [2]int{a, b}) || slices.Contains(s.Cut(), [2]int{b, a}) {
		return false
	}
	steps, stride := 0, 1
	for d := 2; d >= 0; d-- {
		size := s.Torus[d]
		gap := a/stride%size - b/stride%size
		stride *= size
		switch {
		case gap == 0:
		case gap == 1 || gap == -1:
			steps++
		case gap == size-1 || gap == 1-size:
			if s.Open()[d] {
				return false
			}
			steps++
		default:
			return false
		}
	}
	return steps == 1
}

// The largest job that v5p takes finds its rings in a moment.
func BenchmarkRingsOfAPod(b *testing.B) {
	for b.Loop() {
		s := emu.Slice{Torus: []int{16, 16, 24}}.Filled(16 * 16 * 24 / 4)
		if n := len(newWeave(s.Torus, s.Open(), s.Cut()).rings()); n != 6 {
			b.Fatalf("%d rings", n)
		}
	}
}
