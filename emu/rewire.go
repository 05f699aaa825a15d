package emu

import (
	"fmt"
	"slices"
)

// Rewiring sets the optical circuit switches of a pod anew for one slice. What is
// left at its zero value stays as it is.
type Rewiring struct {
	// Group is the slice: a position in Cluster.Groups.
	Group int
	// Torus is another shape. The group gets as many hosts as that takes.
	Torus []int
	// Wrap is which dimensions are rings, as Slice.Wrap.
	Wrap string
	// Replace puts spare cubes of the pod in the places of others.
	Replace []Replacement
}

// Replacement is a spare cube in the place of another one.
type Replacement struct{ Cube, By int }

// Rewired returns the cluster after a rewiring; the cluster itself stays as it is.
// A new shape takes the cubes that the slice had, as far as they are needed, and
// then the first of the pod that it has not. It reports a group
// that is no slice, and a result that is not valid.
func (c *Cluster) Rewired(r Rewiring, known Known) (Cluster, error) {
	var ps problems
	if r.Group < 0 || r.Group >= len(c.Groups) || !c.pooled(r.Group, known) {
		ps.say(fmt.Sprintf("spec.nodes[%d]", r.Group), "is no group of hosts that ICI joins; circuits can be switched for those alone")
		return Cluster{}, ps.join()
	}
	to := *c
	to.Groups = slices.Clone(c.Groups)
	g := &to.Groups[r.Group]
	g.Slice = g.Slice.Filled(g.Count)
	g.Cubes = slices.Clone(g.Cubes)
	if len(r.Torus) > 0 {
		if shape := (Slice{Torus: r.Torus}); !shape.buildable() {
			ps.say("torus", "%v must be three sizes, each 1, 2 or a multiple of %d, of at most %d hosts together", r.Torus, cubeSide, MaxNodes)
			return Cluster{}, ps.join()
		}
		g.Torus, g.Wrap = slices.Clone(r.Torus), ""
		g.Count = g.Hosts()
		g.Cubes = enough(g.Cubes, g.places())
	}
	if r.Wrap != "" {
		g.Wrap = r.Wrap
	}
	g.Slice = g.Slice.Filled(g.Count)
	for i, swap := range r.Replace {
		at := slices.Index(g.Cubes, swap.Cube)
		if at < 0 {
			ps.say(fmt.Sprintf("replace[%d].cube", i), "%d is not one of the slice, which has %v", swap.Cube, g.Cubes)
			continue
		}
		g.Cubes[at] = swap.By
	}
	if len(ps) > 0 {
		return Cluster{}, ps.join()
	}
	return to, to.Validate(known)
}

// enough returns the first n of some cubes, or all of them and then others of the
// pod.
func enough(cubes []int, n int) []int {
	for k := 0; len(cubes) < n; k++ {
		if !slices.Contains(cubes, k) {
			cubes = append(cubes, k)
		}
	}
	return cubes[:n]
}

// pooled reports whether a group's hosts are parts of a pod.
func (c *Cluster) pooled(group int, known Known) bool {
	s, _ := c.kind(c.Groups[group], known)
	return s.Pod.Chips > 0
}
