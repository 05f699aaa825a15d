package draw

import (
	"encoding/xml"
	"fmt"
	"strings"
)

// railColors tell rails apart, in the order of NICs; the ninth is like the first.
var railColors = [...]string{"#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#e07b00", "#17a2b8", "#c2479e", "#7a5230"}

const style = `text{font-family:Helvetica,Arial,"DejaVu Sans",sans-serif;text-anchor:middle;dominant-baseline:central;fill:#222}
text.start{text-anchor:start}
rect{stroke:#444;stroke-width:1;rx:3}
.server{fill:#fbfbf8;stroke:#222}
.socket{fill:#eef1f4;stroke:#8a97a3}
.bridge{fill:#fff;stroke:#8a97a3}
.gpu{fill:#dff0c8;stroke:#5b8a1e}
.nic{fill:#fff}
.plane{fill:#c9e7a0;stroke:#5b8a1e}
.switch{fill:#e3e6f5;stroke:#3b4a8c}
.more{fill:#f4f4f4;stroke-dasharray:5 4}
path{fill:none}
.nvlink{stroke:#76b900}
.cable{stroke:#777}
.trunk{stroke:#5a67a8;stroke-opacity:.6}
.socket-link{stroke:#666;stroke-dasharray:3 2}
`

// SVG returns the graph as a picture that needs nothing else.
func (g *Graph) SVG() []byte {
	l := arrange(g)
	var b strings.Builder
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n", l.w, l.h, l.w, l.h)
	fmt.Fprintf(&b, "<title>%s</title>\n<style>%s</style>\n<rect width=\"%d\" height=\"%d\" style=\"fill:#fff;stroke:none\"/>\n", escape(g.Title), style, l.w, l.h)
	for i := range l.Boxes {
		if framed(l.Boxes[i].Kind) {
			l.box(&b, i)
		}
	}
	for i := range l.lines {
		l.line(&b, &l.lines[i])
	}
	for i := range l.Boxes {
		if !framed(l.Boxes[i].Kind) {
			l.box(&b, i)
		}
	}
	for i := range l.keys {
		l.key(&b, &l.keys[i])
	}
	for i := range l.texts {
		l.texts[i].write(&b)
	}
	b.WriteString("</svg>\n")
	return []byte(b.String())
}

// framed reports whether lines pass over boxes of a kind, rather than under.
func framed(k Kind) bool { return k == Server || k == Socket || k == Bridge }

func (l *layout) box(b *strings.Builder, i int) {
	x, r := &l.Boxes[i], l.at[i]
	color := ""
	if x.Kind == NIC {
		color = fmt.Sprintf(" style=\"stroke:%s;stroke-width:2\"", railColors[x.Rail%len(railColors)])
	}
	fmt.Fprintf(b, "<rect id=\"%s\" class=\"%v\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"%s/>\n", x.ID, x.Kind, r.x, r.y, r.w, r.h, color)
}

func (l *layout) line(b *strings.Builder, n *line) {
	k := &l.Links[n.link]
	fmt.Fprintf(b, "<path class=\"%v\" data-a=\"%s\" data-b=\"%s\" d=\"%s\" style=\"%s\"><title>%s</title></path>\n",
		k.Wire, l.Boxes[k.A].ID, l.Boxes[k.B].ID, n.path(), stroke(k), escape(l.title(k)))
}

// path returns the line as SVG draws it.
func (n *line) path() string {
	switch {
	case n.straight:
		return fmt.Sprintf("M%d %dL%d %d", n.x1, n.y1, n.x2, n.y2)
	case n.bow != 0:
		return fmt.Sprintf("M%d %dQ%d %d %d %d", n.x1, n.y1, (n.x1+n.x2)/2, n.y1+n.bow, n.x2, n.y2)
	}
	half := (n.y1 + n.y2) / 2
	return fmt.Sprintf("M%d %dC%d %d %d %d %d %d", n.x1, n.y1, n.x1, half, n.x2, half, n.x2, n.y2)
}

// stroke returns width and colour: more wires are wider, rails have colours.
func stroke(k *Link) string {
	wide := min(10+3*(k.Count-1), 40) // tenths of a pixel
	switch k.Wire {
	case NVLink:
		wide = min(8+k.Count*4, 40)
	case Trunk: // there are many, and they cross
		wide = min(8+k.Count, 20)
	}
	s := fmt.Sprintf("stroke-width:%d.%d", wide/10, wide%10)
	if k.Wire == Cable && k.Rail != mixed {
		s += ";stroke:" + railColors[k.Rail%len(railColors)]
	}
	return s
}

func (l *layout) key(b *strings.Builder, k *key) {
	if k.link < 0 {
		fmt.Fprintf(b, "<rect class=\"bridge\" x=\"%d\" y=\"%d\" width=\"32\" height=\"12\"/>\n", k.x, k.y-6)
		return
	}
	n := &l.Links[k.link]
	fmt.Fprintf(b, "<path class=\"%v\" d=\"M%d %dh32\" style=\"%s\"/>\n", n.Wire, k.x, k.y, stroke(n))
}

func (t *text) write(b *strings.Builder) {
	class, turn := "", ""
	if t.start {
		class = " class=\"start\""
	}
	if t.turned {
		turn = fmt.Sprintf(" transform=\"rotate(-90 %d %d)\"", t.x, t.y)
	}
	fmt.Fprintf(b, "<text%s x=\"%d\" y=\"%d\" font-size=\"%d\"%s>%s</text>\n", class, t.x, t.y, t.size, turn, escape(t.s))
}

// escape makes text safe within XML; names come from files.
func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s))
	return b.String()
}
