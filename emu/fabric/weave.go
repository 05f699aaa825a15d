package fabric

import "slices"

// weave finds rings round all chips of a torus that have no link in common: three
// where all dimensions are closed, so that all six links of a chip are in use,
// fewer where some are rows or circuits are dark.
//
// It begins with circles that cover all chips: the rings of each whole dimension,
// and, of two others, squares of 2×2; each kind is a colour. Then it merges circles,
// a square at a time: where two opposite sides belong to one colour and the other
// two to another, they change colours. Each chip keeps two links of each colour; two
// circles become one, or one falls apart, or it stays whole, turned in part.
//
//	A ┌─ ─ ─┐ A        A ┌═════┐ A
//	  ║     ║     →                    ═ of two circles of one colour,
//	A └─ ─ ─┘ A        A └═════┘ A     ─ likewise of another
//
// With as few circles as colours all are rings. Where a link is missing, none of its
// dimension has a colour at first, and it never gets one.
type weave struct {
	dims   []int
	stride []int
	n      int     // chips
	link   []bool  // chip × 3 + dimension: there is a link towards +
	color  []int8  // of each link; −1: none
	comp   [][]int // colour → chip → circle
	pos    [][]int // colour → chip → place in the circle
	length [][]int // colour → circle → chips
	parts  int     // circles of all colours
	draw   uint64
}

const (
	weaveDims   = 3
	weavePasses = 400 // over all squares; tori of the field need some 20
	plain       = int8(-1)
)

func newWeave(dims []int, open []bool, cut [][2]int) *weave {
	w := &weave{dims: dims, n: dims[0] * dims[1] * dims[2]}
	w.stride = []int{dims[1] * dims[2], dims[2], 1}
	w.link = make([]bool, w.n*weaveDims)
	whole := make([]bool, weaveDims)
	for d, size := range dims {
		whole[d] = !open[d] && size > 2
		for v := range w.n {
			w.link[v*weaveDims+d] = w.at(v, d) < size-1 || whole[d]
		}
	}
	for _, c := range cut {
		for d := range weaveDims {
			for _, v := range c {
				if next := w.next(v, d); next == c[0]+c[1]-v && w.link[v*weaveDims+d] && next != v {
					w.link[v*weaveDims+d], whole[d] = false, false
				}
			}
		}
	}
	w.begin(whole)
	return w
}

func (w *weave) at(v, d int) int { return v / w.stride[d] % w.dims[d] }

// next returns the neighbour of a chip towards + in a dimension.
func (w *weave) next(v, d int) int {
	if w.at(v, d) == w.dims[d]-1 {
		return v - w.at(v, d)*w.stride[d]
	}
	return v + w.stride[d]
}

// begin gives links their first colours.
func (w *weave) begin(whole []bool) {
	w.color = slices.Repeat([]int8{plain}, w.n*weaveDims)
	color := int8(0)
	var rest []int
	for d, size := range w.dims {
		switch {
		case whole[d]:
			for v := range w.n {
				w.color[v*weaveDims+d] = color
			}
			color++
		case size%2 == 0:
			rest = append(rest, d)
		}
	}
	if len(rest) >= 2 { // links within 2×2 chips lie within a cube: none is cut
		for v := range w.n {
			for _, d := range rest[:2] {
				if w.at(v, d)%2 == 0 {
					w.color[v*weaveDims+d] = color
				}
			}
		}
		color++
	}
	w.recolor(int(color))
}

// recolor keeps the first k colours and traces their circles.
func (w *weave) recolor(k int) {
	for i, c := range w.color {
		if int(c) >= k {
			w.color[i] = plain
		}
	}
	w.comp, w.pos, w.length, w.parts = make([][]int, k), make([][]int, k), make([][]int, k), 0
	for c := range k {
		w.comp[c], w.pos[c] = slices.Repeat([]int{-1}, w.n), make([]int, w.n)
		for v := range w.n {
			if w.comp[c][v] < 0 {
				w.trace(c, v)
			}
		}
	}
}

// trace numbers the circle of a colour through a chip.
func (w *weave) trace(c, from int) {
	id := len(w.length[c])
	order := w.circle(c, from)
	for i, v := range order {
		w.comp[c][v], w.pos[c][v] = id, i
	}
	w.length[c] = append(w.length[c], len(order))
	w.parts++
}

// circle returns the chips of the circle of a colour through a chip, in order.
func (w *weave) circle(c, from int) []int {
	order := []int{from}
	for prev, v := -1, from; ; {
		next := w.other(c, v, prev)
		if next == from {
			return order
		}
		order = append(order, next)
		prev, v = v, next
	}
}

// other returns a neighbour of a chip by a link of a colour, but not the one that
// it was reached from.
func (w *weave) other(c, v, not int) int {
	for d := range weaveDims {
		if next := w.next(v, d); int(w.color[v*weaveDims+d]) == c && next != not {
			return next
		}
		if last := w.last(v, d); int(w.color[last*weaveDims+d]) == c && last != not {
			return last
		}
	}
	panic("fabric: a chip with one link of a colour")
}

// last returns the neighbour towards −.
func (w *weave) last(v, d int) int {
	if w.at(v, d) == 0 {
		return v + (w.dims[d]-1)*w.stride[d]
	}
	return v - w.stride[d]
}

// rings returns the rings, each there and back: as many as a bounded search finds.
func (w *weave) rings() [][]int {
	for k := len(w.comp); k > 0; k-- {
		if w.merge() {
			break
		}
		w.recolor(k - 1)
	}
	var all [][]int
	for c := range w.comp {
		there := w.circle(c, 0)
		back := slices.Clone(there)
		slices.Reverse(back)
		all = append(all, there, back)
	}
	return all
}

// merge turns squares until each colour is one circle, and reports whether it is.
func (w *weave) merge() bool {
	stuck := false
	for pass := 0; pass < weavePasses && w.parts > len(w.comp); pass++ {
		before := w.parts
		for v := range w.n {
			for _, p := range [weaveDims][2]int{{0, 1}, {0, 2}, {1, 2}} {
				w.turn(v, p[0], p[1], stuck)
			}
		}
		stuck = w.parts == before
	}
	return w.parts == len(w.comp)
}

// turn changes the colours of a square if that makes circles fewer, or, when the
// search is stuck, now and then if it makes them no more.
func (w *weave) turn(v, d, e int, stuck bool) {
	a, b, c, x := v, w.next(v, d), w.next(v, e), w.next(w.next(v, d), e)
	sides := [4]int{a*weaveDims + d, c*weaveDims + d, a*weaveDims + e, b*weaveDims + e}
	for _, s := range sides {
		if !w.link[s] {
			return
		}
	}
	p, q := w.color[sides[0]], w.color[sides[2]]
	if p == q || p != w.color[sides[1]] || q != w.color[sides[3]] {
		return
	}
	switch more := w.change(p, a, b, c, x) + w.change(q, a, c, b, x); {
	case more > 0 || more == 0 && !(stuck && w.chance()):
		return
	}
	w.color[sides[0]], w.color[sides[1]], w.color[sides[2]], w.color[sides[3]] = q, q, p, p
	w.retrace(p, a, b, c, x)
	w.retrace(q, a, b, c, x)
}

// change returns how many circles more a colour has when its links a–b and c–x of
// a square give way to a–c and b–x.
func (w *weave) change(color int8, a, b, c, x int) int {
	if color == plain {
		return 0
	}
	comp, pos := w.comp[color], w.pos[color]
	if comp[a] != comp[c] {
		return -1
	}
	n := w.length[color][comp[a]]
	if ((pos[a]+1)%n == pos[b]) == ((pos[c]+1)%n == pos[x]) {
		return 0
	}
	return 1
}

// chance is drawn, the same each time: one in sixteen.
func (w *weave) chance() bool {
	w.draw = w.draw*6364136223846793005 + 1442695040888963407
	return w.draw>>60 == 0
}

// retrace numbers anew the circles of a colour through some chips.
func (w *weave) retrace(color int8, chips ...int) {
	if color == plain {
		return
	}
	comp := w.comp[color]
	var old []int
	for _, v := range chips {
		if !slices.Contains(old, comp[v]) {
			old = append(old, comp[v])
		}
	}
	w.parts -= len(old)
	first := len(w.length[color])
	for _, v := range chips {
		if comp[v] < first {
			w.trace(int(color), v)
		}
	}
}
