package draw

import (
	"slices"
	"unicode/utf8"
)

// Measures in pixels.
const (
	margin    = 24
	titleH    = 34 // room for the title
	boxW      = 64 // a GPU or NIC
	boxH      = 32
	gap       = 8
	pad       = 8  // from a frame to what is in it
	strip     = 18 // at the left of a frame, for its name on its side
	between   = 38 // from NICs to GPUs: the name of a PCIe switch stands there
	serverGap = 28
	switchW   = 92  // at least, by their names
	mostW     = 200 // of a switch with a long name
	switchH   = 36
	tierGap   = 110 // from one tier of switches to the next
	fontL     = 12  // names of servers and switches
	fontM     = 10  // of devices
	fontS     = 8   // details
)

type rect struct{ x, y, w, h int }

func (r rect) mid() int    { return r.x + r.w/2 }
func (r rect) bottom() int { return r.y + r.h }

// text is a word at its middle, on its side when turned.
type text struct {
	x, y, size int
	s          string
	turned     bool
	start      bool // x is where it begins
}

// width estimates how wide a text is in a sans-serif face.
func width(s string, size int) int { return utf8.RuneCountInString(s) * size * 62 / 100 }

// bounds returns the rectangle that a text fills.
func (t *text) bounds() rect {
	w := width(t.s, t.size)
	switch {
	case t.turned:
		return rect{t.x - t.size/2, t.y - w/2, t.size, w}
	case t.start:
		return rect{t.x, t.y - t.size/2, w, t.size}
	}
	return rect{t.x - w/2, t.y - t.size/2, w, t.size}
}

// layout is where everything stands.
type layout struct {
	*Graph
	kids  [][]int
	at    []rect // of each box
	wide  int    // of each switch
	texts []text
	lines []line
	keys  []key
	w, h  int
}

// arrange lays a graph out: title, tiers from the top, servers, legend.
func arrange(g *Graph) *layout {
	l := &layout{Graph: g, kids: g.children(), at: make([]rect, len(g.Boxes))}
	servers, tiers := l.rows()
	size := l.measure(servers)
	l.w = max(size, width(g.Title, fontL+2))
	l.wide = switchW
	for _, i := range slices.Concat(tiers...) {
		l.wide = min(max(l.wide, width(l.Boxes[i].Label, fontL)+2*gap), mostW)
	}
	for _, row := range tiers {
		l.w = max(l.w, len(row)*(l.wide+gap))
	}
	l.texts = append(l.texts, text{margin, margin, fontL + 2, g.Title, false, true})
	y := margin + titleH
	for t := len(tiers) - 1; t >= 0; t-- {
		y += l.arcRoom(tiers[t])
		l.tier(tiers[t], y)
		if y += switchH; t > 0 {
			y += tierGap + min(len(l.Links)/4, tierGap)
		} else {
			y += tierGap + l.w/14 // steep enough to follow a cable by eye
		}
	}
	l.h = y
	x := margin + (l.w-size)/2
	for _, s := range servers {
		l.server(s, x, y)
		x += l.at[s].w + serverGap
	}
	l.evenServers(servers)
	l.route()
	l.legend()
	l.w += 2 * margin
	l.h += margin
	return l
}

// rows returns the boxes that stand in no other: servers, and switches by tier.
func (l *layout) rows() (servers []int, tiers [][]int) {
	for _, i := range l.kids[0] {
		b := &l.Boxes[i]
		if b.Kind == Server || b.Kind == More && b.Tier < 0 {
			servers = append(servers, i)
			continue
		}
		for len(tiers) <= b.Tier {
			tiers = append(tiers, nil)
		}
		tiers[b.Tier] = append(tiers[b.Tier], i)
	}
	return servers, tiers
}

// measure gives servers their widths and returns that of the row.
func (l *layout) measure(servers []int) int {
	total := -serverGap
	for _, s := range servers {
		l.at[s].w = l.frameWidth(s, 0)
		total += l.at[s].w + serverGap
	}
	return max(total, 0)
}

// tier spreads switches over the width.
func (l *layout) tier(row []int, y int) {
	for k, i := range row {
		mid := margin + (2*k+1)*l.w/(2*len(row))
		l.at[i] = rect{mid - l.wide/2, y, l.wide, switchH}
		l.label(i, fontL)
	}
}

// label puts a box's name into its middle, and the detail below it.
func (l *layout) label(i, size int) {
	b, r := &l.Boxes[i], l.at[i]
	y := r.y + r.h/2
	if b.Detail != "" && width(b.Detail, fontS) <= r.w {
		l.texts = append(l.texts, text{x: r.mid(), y: y + size/2 + 2, size: fontS, s: b.Detail})
		y -= size/2 - 1
	}
	l.texts = append(l.texts, text{x: r.mid(), y: y, size: size, s: fit(b.Label, size, r.w)})
}

// fit shortens a text to a width.
func fit(s string, size, w int) string {
	for letters := []rune(s); len(letters) > 0 && width(s, size) > w; {
		letters = letters[:len(letters)-1]
		s = string(letters) + "…"
	}
	return s
}

// evenServers makes all servers as high as the highest.
func (l *layout) evenServers(servers []int) {
	for _, s := range servers {
		l.h = max(l.h, l.at[s].bottom())
	}
	for _, s := range servers {
		l.at[s].h = l.h - l.at[s].y
		b, r := &l.Boxes[s], l.at[s]
		if b.Kind == More {
			l.label(s, fontL)
			continue
		}
		name := b.Label
		if b.Detail != "" {
			name += " · " + b.Detail
		}
		l.texts = append(l.texts, text{x: r.mid(), y: r.bottom() - 13, size: fontL, s: name})
	}
}
