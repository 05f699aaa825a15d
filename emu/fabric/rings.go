package fabric

import "slices"

// ringsOf returns the orders in which rings go round the ranks of a node whose
// GPUs are joined one to one: as many as have links of their own, each there and
// back. None where all are joined alike, or no ring closes.
func (n *node) ringsOf(comm, ranks []int) [][]int {
	if n.switched || len(n.bundle) == 0 && !n.sliced || len(ranks) < 3 {
		return nil
	}
	left := map[[2]int]int{}
	at := make([]int, len(ranks))
	for i, r := range ranks {
		at[i] = comm[r] - n.firstGPU
	}
	for _, l := range n.m.NVLinks {
		if a, b := slices.Index(at, l.GPU), slices.Index(at, l.To); !l.Plane && a >= 0 && b >= 0 {
			left[[2]int{a, b}], left[[2]int{b, a}] = l.Count, l.Count
		}
	}
	var rings [][]int
	for _, ring := range circles(len(ranks), left) {
		there := make([]int, len(ring))
		for i, p := range ring {
			there[i] = ranks[p]
		}
		back := slices.Clone(there)
		slices.Reverse(back)
		rings = append(rings, there, back)
	}
	return rings
}

// tries bounds the search for circles: meshes of the field need some hundreds.
const tries = 20_000

// circles returns circles through n points with no link in common, as many as a
// bounded search finds. left says how many links join two points.
func circles(n int, left map[[2]int]int) [][]int {
	s := search{n: n, left: left, budget: tries, most: n * n}
	for a := range n {
		links := 0
		for b := range n {
			links += left[[2]int{a, b}]
		}
		s.most = min(s.most, links/2) // each circle takes two at every point
	}
	s.circle([]int{0})
	return s.best
}

type search struct {
	n, budget   int
	most        int // circles there can be
	left        map[[2]int]int
	found, best [][]int
}

// circle goes on from an open path. A closed one is kept while the search looks
// for another beside it; what is found last counts when it is most.
func (s *search) circle(path []int) {
	if s.budget--; s.budget < 0 || len(s.best) == s.most {
		return
	}
	last := path[len(path)-1]
	if len(path) == s.n {
		if s.left[[2]int{last, 0}] == 0 {
			return
		}
		s.take(last, 0, -1)
		s.found = append(s.found, slices.Clone(path))
		if len(s.found) > len(s.best) {
			s.best = slices.Clone(s.found)
		}
		s.circle([]int{0})
		s.found = s.found[:len(s.found)-1]
		s.take(last, 0, 1)
		return
	}
	for next := range s.n {
		if s.left[[2]int{last, next}] > 0 && !slices.Contains(path, next) {
			s.take(last, next, -1)
			s.circle(append(slices.Clone(path), next))
			s.take(last, next, 1)
		}
	}
}

func (s *search) take(a, b, by int) {
	s.left[[2]int{a, b}] += by
	s.left[[2]int{b, a}] += by
}
