package network

import (
	"fmt"
	"slices"
	"strings"
)

// buildTorus puts a switch at every server, with a ring in each dimension. A
// message goes the shorter way round in the first dimension, then in the second,
// and so on.
//
//	4 × 2     0 ─ 1 ─ 2 ─ 3 ─┐      each row and column is a ring
//	          │   │   │   │  └ 0
//	          4 ─ 5 ─ 6 ─ 7
//
// Rows that are open have no way round. Where links are missing, ways are the
// shortest that there are, dimensions in any order.
func (n *Network) buildTorus() error {
	nodes := 0
	for _, h := range n.Hosts {
		nodes = max(nodes, h.Node+1)
	}
	dims := n.Dims
	if dims == nil {
		dims = cube(nodes, 3)
		n.Dims = dims
	}
	all := 1
	for _, d := range dims {
		if d < 1 || all > 1<<24/d {
			return fmt.Errorf("torus %s: sizes are at least 1, and switches at most %d", times(dims), 1<<24)
		}
		all *= d
	}
	if all < nodes {
		return fmt.Errorf("torus %s: has room for %d servers, and there are %d", times(dims), all, nodes)
	}
	g := newGraph(n)
	t := torus{dims, n.Open}
	if n.Open != nil && len(n.Open) != len(dims) {
		return fmt.Errorf("torus %s: %d dimensions are said to be open or not", times(dims), len(n.Open))
	}
	for i := range all {
		g.addSwitch("torus"+t.text(i), 0)
	}
	for i, h := range n.Hosts {
		g.hang(i, h.Node)
	}
	for i := range all {
		for d, size := range dims {
			next := t.step(i, d, 1)
			if last := next < i; size == 1 || last && (size == 2 || t.isOpen(d)) || n.isCut(i, next) {
				continue
			}
			g.join(i, next, 1, n.Rate, 0)
		}
	}
	if len(n.Cut) == 0 {
		g.next = t.next
		return g.checkRadix()
	}
	if err := g.measure(); err != nil {
		return err
	}
	if i := slices.Index(g.far, -1); i >= 0 {
		return fmt.Errorf("torus %s: missing links leave no way from %s to %s", times(dims), g.Switches[i%all].Name, g.Switches[i/all].Name)
	}
	return nil
}

// isCut reports whether the link between two switches is missing.
func (n *Network) isCut(a, b int) bool {
	return slices.Contains(n.Cut, [2]int{a, b}) || slices.Contains(n.Cut, [2]int{b, a})
}

// torus is the shape; open says which dimensions are rows.
type torus struct {
	dims []int
	open []bool
}

func (t torus) isOpen(d int) bool { return t.open != nil && t.open[d] }

// coordinate returns where a switch is in a dimension, and the distance between
// neighbours in it.
func (t torus) coordinate(i, d int) (at, stride int) {
	stride = 1
	for _, size := range t.dims[d+1:] {
		stride *= size
	}
	return i / stride % t.dims[d], stride
}

// step returns the neighbour of a switch in a dimension.
func (t torus) step(i, d, by int) int {
	at, stride := t.coordinate(i, d)
	size := t.dims[d]
	return i + ((at+by+size)%size-at)*stride
}

// next returns the neighbour on the way from one switch to another.
func (t torus) next(i, to int) int {
	for d, size := range t.dims {
		a, _ := t.coordinate(i, d)
		b, _ := t.coordinate(to, d)
		if a == b {
			continue
		}
		forth := (b - a + size) % size
		if 2*forth <= size && !t.isOpen(d) || t.isOpen(d) && b > a {
			return t.step(i, d, 1)
		}
		return t.step(i, d, -1)
	}
	return i
}

func (t torus) text(i int) string {
	var at []int
	for d := range t.dims {
		a, _ := t.coordinate(i, d)
		at = append(at, a)
	}
	return "-" + strings.Trim(strings.ReplaceAll(fmt.Sprint(at), " ", "-"), "[]")
}

// cube returns k sizes, as even as may be, whose product is at least n.
func cube(n, k int) []int {
	dims := make([]int, k)
	for i := range dims {
		side := 1
		for pow(side, k-i) < n {
			side++
		}
		dims[i] = side
		n = ceil(n, side)
	}
	return dims
}

func pow(b, e int) int {
	p := 1
	for range e {
		p *= b
	}
	return p
}

func times(dims []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(dims), " ", "×"), "[]")
}
