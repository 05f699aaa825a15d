package sweep

import (
	"fmt"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu/fabric"
)

// Rank is a rank of the world: where it is, and the colour of its communicator.
type Rank struct{ GPU, Group int }

// group is a communicator.
type group struct {
	colour int
	comm   []int // for each of its ranks, the GPU
	shape  collective.Shape
	// tree says why it has no streaming tree beside the other communicators.
	tree string
}

// world returns the ranks in order and the communicators they form, that of
// rank 0 first.
func (s *Spec) world(f *fabric.Fabric) ([]Rank, []group, error) {
	order := s.Order
	if len(order) == 0 {
		order = f.All()
	}
	if err := checkOrder(f, order); err != nil {
		return nil, nil, err
	}
	if err := s.Split.Valid(); err != nil {
		return nil, nil, err
	}
	var ranks []Rank
	var groups []group
	at := map[int]int{} // colour → position in groups
	for r, gpu := range order {
		colour := s.Split.Group(r)
		i, ok := at[colour]
		if !ok {
			i = len(groups)
			at[colour] = i
			groups = append(groups, group{colour: colour})
		}
		groups[i].comm = append(groups[i].comm, gpu)
		ranks = append(ranks, Rank{gpu, colour})
	}
	for i := range groups {
		groups[i].shape = f.Shape(groups[i].comm)
	}
	oneTree(f, groups)
	return ranks, groups, nil
}

// oneTree marks communicators of several nodes whose streaming trees would meet
// in a switch that carries one: on hardware one of them, nobody knows which, gets
// the tree, and the others are refused it.
func oneTree(f *fabric.Fabric, groups []group) {
	for i := range groups {
		for j := range groups[:i] {
			a, b := &groups[j], &groups[i]
			if len(a.shape.Nodes) < 2 || len(b.shape.Nodes) < 2 || a.tree != "" && b.tree != "" {
				continue
			}
			if at := f.TreesMeet(a.comm, b.comm); at != "" {
				why := fmt.Sprintf("groups %d and %d meet at %s, and a switch of %s carries one streaming tree (SHARP) at once; use one communicator, or links from ndr on",
					a.colour, b.colour, at, f.Cluster.Fabric.Link)
				a.tree, b.tree = why, why
			}
		}
	}
}

// Rooted reports whether one rank of the operation is special.
func Rooted(op collective.Op) bool {
	switch op {
	case collective.Broadcast, collective.Reduce, collective.Gather, collective.Scatter:
		return true
	default:
		return false
	}
}

// noRoot stands in the column of operations that have none.
const noRoot = -1

// roots returns the roots to run, in order. A root is counted in its
// communicator, so it must be one in the smallest.
func (s *Spec) roots(groups []group) ([]int, error) {
	if !Rooted(s.Op) {
		return []int{noRoot}, nil
	}
	least := &groups[0]
	for i := range groups {
		if len(groups[i].comm) < len(least.comm) {
			least = &groups[i]
		}
	}
	n := len(least.comm)
	switch {
	case s.AllRoots:
		return span(0, n), nil
	case s.Root >= 0 && s.Root < n:
		return []int{s.Root}, nil
	case len(groups) == 1:
		return nil, fmt.Errorf("root %d: the communicator has ranks 0 to %d", s.Root, n-1)
	default:
		return nil, fmt.Errorf("root %d: group %d, the smallest, has ranks 0 to %d; a root is counted in its communicator, not in the world",
			s.Root, least.colour, n-1)
	}
}
