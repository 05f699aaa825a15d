package draw

import (
	"cmp"
	"fmt"
	"slices"
)

// line is a link as it runs: straight, bent or hanging.
type line struct {
	link           int // position in Links
	x1, y1, x2, y2 int
	bow            int // of a line that hangs (or stands, below 0) between two equals
	straight       bool
}

// key is an entry of the legend.
type key struct {
	x, y int
	link int // one that looks like it; −1: a frame
	s    string
}

// sag returns how deep a link between two boxes of one row hangs.
func sag(a, b rect) int {
	d := b.mid() - a.mid()
	return 24 + max(d, -d)/3
}

// arcRoom returns the room above a row of switches for links among them.
func (l *layout) arcRoom(row []int) int {
	for _, k := range l.Links {
		if k.Wire == Trunk && slices.Contains(row, k.A) && slices.Contains(row, k.B) {
			return 24/2 + l.w/6
		}
	}
	return 0
}

// route decides where links run.
func (l *layout) route() {
	ends := l.spread()
	for i, k := range l.Links {
		a, b := l.at[k.A], l.at[k.B]
		n := line{link: i, x1: ends[i][0], x2: ends[i][1], y1: a.y, y2: b.bottom()}
		switch {
		case k.Wire == SocketLink:
			n.y1, n.y2 = a.y+a.h/2, a.y+a.h/2
			n.x1, n.x2, n.straight = a.x+a.w, b.x, true
			if b.x-n.x1 > socketGap { // something stands between them
				n = line{link: i, x1: a.mid(), x2: b.mid(), y1: a.bottom(), y2: b.bottom(), bow: 2 * pad}
			}
		case k.Wire == NVLink && l.Boxes[k.B].Kind == GPU:
			n.y1, n.y2, n.bow = a.bottom(), b.bottom(), sag(a, b)
		case k.Wire == NVLink:
			n.y1, n.y2 = a.bottom(), b.y
		case a.y == b.y:
			n.y2, n.bow = b.y, -sag(a, b)
		}
		l.lines = append(l.lines, n)
	}
}

// spread returns the x of both ends of each link: those on one side of a box side
// by side, in the order of where they come from.
func (l *layout) spread() [][2]int {
	type end struct{ link, side, from int }
	at := make([][]end, 2*len(l.Boxes)) // of each box: ends at its top, at its bottom
	for i, k := range l.Links {
		a, b := l.at[k.A], l.at[k.B]
		topA, topB := 0, 1
		if k.Wire == NVLink {
			topA, topB = 1, 1
			if l.Boxes[k.B].Kind == Plane {
				topB = 0
			}
		} else if a.y == b.y {
			topB = 0
		}
		at[2*k.A+topA] = append(at[2*k.A+topA], end{i, 0, b.mid()})
		at[2*k.B+topB] = append(at[2*k.B+topB], end{i, 1, a.mid()})
	}
	xs := make([][2]int, len(l.Links))
	for i, ends := range at {
		slices.SortStableFunc(ends, func(a, b end) int { return cmp.Compare(a.from, b.from) })
		r := l.at[i/2]
		for k, e := range ends {
			xs[e.link][e.side] = r.x + pad/2 + (2*k+1)*(r.w-pad)/(2*len(ends))
		}
	}
	return xs
}

// mostKeys is how many kinds of link the legend lists.
const mostKeys = 8

// legend lists the kinds of link, by how many of which rate.
func (l *layout) legend() {
	x, y := margin, l.h+margin
	add := func(link int, s string) {
		if w := 44 + width(s, fontM) + 24; x > margin && x+w > l.w {
			x, y = margin, y+20
		}
		l.keys = append(l.keys, key{x, y, link, s})
		l.texts = append(l.texts, text{x + 40, y, fontM, s, false, true})
		x += 44 + width(s, fontM) + 24
	}
	seen := map[string]bool{}
	for i := range l.Links {
		k := &l.Links[i]
		s := cmp.Or(k.Name, legendWords[k.Wire])
		if t := k.Text(); t != "" {
			s += ", " + t
		}
		if !seen[s] && len(seen) < mostKeys {
			seen[s] = true
			add(i, s)
		}
	}
	for _, b := range l.Boxes {
		if b.Kind == Bridge {
			add(-1, "frame: what hangs on one PCIe switch")
			break
		}
	}
	if len(l.keys) > 0 {
		l.h = y + 8
	}
}

var legendWords = [numWires]string{NVLink: "NVLink", Cable: "NIC to switch", Trunk: "switch to switch", SocketLink: "between sockets"}

// title says what a line is, for those who point at it.
func (g *Graph) title(k *Link) string {
	s := fmt.Sprintf("%s to %s", g.Boxes[k.A].ID, g.Boxes[k.B].ID)
	if t := k.Text(); t != "" {
		s += ": " + t
	}
	return s
}
