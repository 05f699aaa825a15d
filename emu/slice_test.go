package emu

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// tpus is a cluster of one slice.
func tpus(hosts int, s Slice) Cluster {
	return Cluster{Groups: []Group{{Count: hosts, System: "tpu-v4", Slice: s}}}
}

// TestShapesOfSlices: without a word, a slice has the shape that Google Cloud lists
// for its number of chips, and wraps from 4×4×4 on (docs.cloud.google.com/tpu/docs/v5p).
func TestShapesOfSlices(t *testing.T) {
	for hosts, want := range map[int]string{
		1: "2x2x1 none", 2: "2x2x2 none", 4: "2x2x4 none", 8: "2x4x4 none", 16: "4x4x4 xyz", 32: "4x4x8 xyz", 64: "4x8x8 xyz",
		128: "8x8x8 xyz", 256: "8x8x16 xyz", 512: "8x16x16 xyz", 1024: "16x16x16 xyz", 1536: "16x16x24 xyz",
	} {
		s := Slice{}.Filled(hosts)
		if len(s.Torus) != 3 {
			t.Errorf("%d hosts: %v", hosts, s.Torus)
			continue
		}
		if got := fmt.Sprintf("%dx%dx%d %s", s.Torus[0], s.Torus[1], s.Torus[2], s.Wrap); got != want || s.Hosts() != hosts {
			t.Errorf("%d hosts: %s of %d hosts, want %s", hosts, got, s.Hosts(), want)
		}
		if cubes := max(hosts/16, 1); len(s.Cubes) != cubes || s.Cubes[cubes-1] != cubes-1 {
			t.Errorf("%d hosts: cubes %v, want %d", hosts, s.Cubes, cubes)
		}
		if err := s.Check(hosts, Pod{8960, 6144}); err != nil {
			t.Error(err)
		}
	}
}

// TestChipsOfHosts: a host is 2×2×1 neighbours, and every chip is some host's.
func TestChipsOfHosts(t *testing.T) {
	s := Slice{Torus: []int{4, 2, 8}}.Filled(16)
	seen := make([]bool, s.Chips())
	for host := range s.Hosts() {
		at := s.Chip(host, 0)
		for chip, want := range []int{at, at + 2*8, at + 8, at + 3*8} { // x and y are 16 and 8 apart
			if got := s.Chip(host, chip); got != want || seen[got] {
				t.Errorf("host %d chip %d is at %d, want %d", host, chip, got, want)
			} else {
				seen[got] = true
			}
		}
	}
	if slices.Contains(seen, false) {
		t.Errorf("chips of no host: %v", seen)
	}
}

// TestDarkCircuits counts what goes dark with a switch and with a circuit: a switch
// joins one place of the faces of every cube.
func TestDarkCircuits(t *testing.T) {
	for _, tc := range []struct {
		torus []int
		wrap  string
		cubes []int
		dark  []string
		want  [][2]int
	}{
		{[]int{4, 4, 4}, "xyz", nil, []string{"z0"}, [][2]int{{3, 0}}},
		{[]int{4, 4, 4}, "xyz", nil, []string{"z5"}, [][2]int{{16 + 4 + 3, 16 + 4}}},
		{[]int{4, 4, 4}, "xy", nil, []string{"z5"}, nil}, // a row ends there
		{[]int{4, 4, 8}, "xyz", nil, []string{"z0"}, [][2]int{{3, 4}, {7, 0}}},
		{[]int{4, 4, 8}, "xyz", nil, []string{"z0@1"}, [][2]int{{7, 0}}},
		{[]int{4, 4, 8}, "none", nil, []string{"z0", "x3"}, [][2]int{{3, 4}}},
		{[]int{4, 4, 8}, "xyz", []int{1, 9}, []string{"z0@1"}, [][2]int{{3, 4}}},
		{[]int{4, 4, 8}, "xyz", []int{1, 9}, []string{"z0@0"}, nil}, // of no cube of the slice
		{[]int{4, 4, 8}, "xyz", nil, []string{"x3"}, [][2]int{{96 + 3, 3}, {96 + 7, 7}}},
	} {
		s := Slice{Torus: tc.torus, Wrap: tc.wrap, Cubes: tc.cubes, Dark: tc.dark}
		s = s.Filled(s.Hosts())
		if got := s.Cut(); !reflect.DeepEqual(got, tc.want) {
			t.Errorf("%+v: %v, want %v", tc, got, tc.want)
		}
	}
}

// TestWrongSlices: each is refused by the field that is wrong.
func TestWrongSlices(t *testing.T) {
	for _, tc := range []struct {
		hosts int
		s     Slice
		field string
		says  string
	}{
		{5, Slice{}, "count", "make no torus"},
		{1040, Slice{}, "count", "4160 chips, and the largest slice 4096"},
		{16, Slice{Torus: []int{4, 4, 8}}, "torus", "64 chips of count: 16"},
		{16, Slice{Torus: []int{8, 8}}, "torus", "2 dimensions"},
		{16, Slice{Torus: []int{1, 4, 16}}, "torus", "at least 2"},
		{6, Slice{Torus: []int{2, 2, 6}}, "torus", "a multiple of 4"},
		{8, Slice{Torus: []int{1 << 16, 1 << 16, 1 << 16}}, "torus", "32 chips"},
		{8, Slice{Wrap: "x"}, "wrap", "which has 2 chips"},
		{16, Slice{Wrap: "zx"}, "wrap", "in order"},
		{16, Slice{Wrap: "xx"}, "wrap", "in order"},
		{16, Slice{Wrap: "all"}, "wrap", "in order"},
		{32, Slice{Cubes: []int{1}}, "cubes", "has 2"},
		{32, Slice{Cubes: []int{1, 1}}, "cubes[1]", "named once"},
		{32, Slice{Cubes: []int{1, 64}}, "cubes[1]", "from 0 to 63"},
		{32, Slice{Dark: []string{"x15@63", "w1"}}, "dark[1]", "x0 to z15"},
		{32, Slice{Dark: []string{"x16"}}, "dark[0]", "x0 to z15"},
		{32, Slice{Dark: []string{"x01"}}, "dark[0]", "x0 to z15"},
		{32, Slice{Dark: []string{"x1@64"}}, "dark[0]", "x0@0 to z15@63"},
		{32, Slice{Dark: []string{""}}, "dark[0]", "x0@0"},
	} {
		c := tpus(tc.hosts, tc.s)
		err := c.Validate(testKnown)
		if want := "spec.nodes[0]." + tc.field; err == nil || !strings.Contains(err.Error(), want+":") || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%d hosts, %+v: %v; want %s and %q", tc.hosts, tc.s, err, want, tc.says)
		}
	}
	c := Cluster{Groups: []Group{{Count: 1, System: "dgx-h100", Slice: Slice{Wrap: "x"}}}}
	if err := c.Validate(testKnown); err == nil || !strings.Contains(err.Error(), "hosts of TPUs") {
		t.Errorf("a DGX with circuits: %v", err)
	}
}

// TestRewired switches circuits: the cluster before stays as it is.
func TestRewired(t *testing.T) {
	before := tpus(32, Slice{Torus: []int{4, 4, 8}, Cubes: []int{2, 5}, Dark: []string{"z0@5", "x1"}})
	keep := tpus(32, Slice{Torus: []int{4, 4, 8}, Cubes: []int{2, 5}, Dark: []string{"z0@5", "x1"}})
	dark := []string{"z0@5", "x1"}
	for _, tc := range []struct {
		name  string
		r     Rewiring
		hosts int
		want  Slice
	}{
		{"nothing", Rewiring{}, 32, Slice{[]int{4, 4, 8}, "xyz", []int{2, 5}, dark}},
		{"a row", Rewiring{Wrap: "xy"}, 32, Slice{[]int{4, 4, 8}, "xy", []int{2, 5}, dark}},
		{"a spare cube", Rewiring{Replace: []Replacement{{5, 9}}}, 32, Slice{[]int{4, 4, 8}, "xyz", []int{2, 9}, dark}},
		{"one cube left", Rewiring{Torus: []int{4, 4, 4}}, 16, Slice{[]int{4, 4, 4}, "xyz", []int{2}, dark}},
		{"half a cube", Rewiring{Torus: []int{2, 4, 4}}, 8, Slice{[]int{2, 4, 4}, "none", []int{2}, dark}},
		{"two more", Rewiring{Torus: []int{4, 8, 8}}, 64, Slice{[]int{4, 8, 8}, "xyz", []int{2, 5, 0, 1}, dark}},
		{"the other way", Rewiring{Torus: []int{8, 4, 4}, Wrap: "yz"}, 32, Slice{[]int{8, 4, 4}, "yz", []int{2, 5}, dark}},
	} {
		after, err := before.Rewired(tc.r, testKnown)
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		if g := after.Groups[0]; g.Count != tc.hosts || !reflect.DeepEqual(g.Slice, tc.want) {
			t.Errorf("%s: %d hosts, %+v; want %d, %+v", tc.name, g.Count, g.Slice, tc.hosts, tc.want)
		}
		if !reflect.DeepEqual(before, keep) {
			t.Fatalf("%s: the cluster before has changed: %+v", tc.name, before)
		}
	}
}

// TestWrongRewirings: what cannot be switched is refused.
func TestWrongRewirings(t *testing.T) {
	c := tpus(32, Slice{})
	c.Groups = append(c.Groups, Group{Count: 2, System: "dgx-h100"})
	for _, tc := range []struct {
		r    Rewiring
		says string
	}{
		{Rewiring{Group: 1, Wrap: "x"}, "spec.nodes[1]: is no group"},
		{Rewiring{Group: 2}, "spec.nodes[2]: is no group"},
		{Rewiring{Group: -1}, "spec.nodes[-1]: is no group"},
		{Rewiring{Wrap: "q"}, "spec.nodes[0].wrap"},
		{Rewiring{Torus: []int{4, 4, 6}}, "torus: [4 4 6]"},
		{Rewiring{Torus: []int{1 << 40, 1 << 40, 4}}, "torus: "},
		{Rewiring{Torus: []int{32, 32, 32}}, "the largest slice 4096"},
		{Rewiring{Replace: []Replacement{{7, 8}}}, "replace[0].cube: 7 is not one of the slice"},
		{Rewiring{Replace: []Replacement{{0, 1}}}, "named once"},
	} {
		if _, err := c.Rewired(tc.r, testKnown); err == nil || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%+v: %v, want %q", tc.r, err, tc.says)
		}
	}
}

// TestFilledIsBounded: a shape beyond all bounds costs nothing.
func TestFilledIsBounded(t *testing.T) {
	for _, torus := range [][]int{{1 << 40, 1 << 40, 1 << 40}, {4, 4, 0}, {4, 4, -4}, {4}} {
		if s := (Slice{Torus: torus}).Filled(16); s.Wrap != "" || s.Cubes != nil {
			t.Errorf("%v is filled in: %+v", torus, s)
		}
	}
}
