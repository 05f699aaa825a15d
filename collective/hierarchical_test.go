package collective

import (
	"slices"
	"strings"
	"testing"
)

func TestHierarchicalIsProven(t *testing.T) {
	for _, op := range hierarchical.Ops {
		for i, s := range append(oneNode(), spread()...) {
			if hierarchicalLegal(op, s) == nil && (s.NRanks() <= 32 || i%4 == 0) {
				provenExchange(t, "hierarchical", op, s, Options{Channels: 1 + i%9, Protocol: Protocol(i % 2)})
			}
		}
	}
}

// Nodes that differ may reduce, but not exchange in two steps; and a head takes
// in no more than a mask has bits.
func TestHierarchicalSaysWhyNot(t *testing.T) {
	for _, c := range []struct {
		op   Op
		s    Shape
		want string // empty: it may
	}{
		{AllReduce, unequal(), ""},
		{AllReduce, Uniform(2, 64), ""},
		{AllReduce, Uniform(2, 65), "node 0 has 65 ranks"},
		{AllToAll, Uniform(3, 65), ""},
		{AllToAll, unequal(), "node 1 has 1 ranks and node 0 has 3"},
	} {
		checked := hierarchical.Check(Use{Op: c.op}, c.s)
		_, built := Build("hierarchical", c.op, c.s, Options{Channels: 1})
		for _, err := range []error{checked, built} {
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v on %d ranks: error %v, want %q", c.op, c.s.NRanks(), err, c.want)
			}
		}
	}
}

// Between nodes only ranks of one rail talk, on the channels of that rail.
func TestTwoStepKeepsToItsRail(t *testing.T) {
	s := Uniform(3, 4)
	p := mustBuild(t, "hierarchical", AllToAll, s, Options{Channels: 8})
	for r := range p.Ranks {
		for i, b := range p.Rank(r) {
			for _, peer := range slices.Concat(b.SendTo, b.RecvFrom) {
				if r/4 != peer/4 && (r%4 != peer%4 || b.Channel%4 != r%4) {
					t.Errorf("rank %d block %d talks to rank %d on channel %d", r, i, peer, b.Channel)
				}
			}
		}
	}
}

// With more than 64 nodes a rank's legs fall to several blocks.
func TestTwoStepOnManyNodes(t *testing.T) {
	provenExchange(t, "hierarchical", AllToAll, Uniform(70, 2), Options{Channels: 2})
}
