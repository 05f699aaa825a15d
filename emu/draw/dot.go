package draw

import (
	"fmt"
	"strconv"
	"strings"
)

// DOT returns the graph for Graphviz.
func (g *Graph) DOT() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "graph railyard {\n  label=%s; labelloc=t; rankdir=BT; newrank=true\n  node [shape=box, fontname=\"Helvetica\"]\n", strconv.Quote(g.Title))
	kids := g.children()
	for _, i := range kids[0] {
		g.dotBox(&b, kids, i, "  ")
	}
	for i := range g.Links {
		k := &g.Links[i]
		fmt.Fprintf(&b, "  %q -- %q [label=%q, class=%q]\n", g.end(k.A), g.end(k.B), k.Text(), k.Wire)
	}
	b.WriteString("}\n")
	return []byte(b.String())
}

// lines returns what a box says.
func (x *Box) lines(sep string) string {
	if x.Detail == "" {
		return x.Label
	}
	return x.Label + sep + x.Detail
}

func (g *Graph) dotBox(b *strings.Builder, kids [][]int, i int, in string) {
	x := &g.Boxes[i]
	if !framed(x.Kind) {
		fmt.Fprintf(b, "%s%q [label=%s, class=%q]\n", in, x.ID, strconv.Quote(x.lines("\n")), x.Kind)
		return
	}
	fmt.Fprintf(b, "%ssubgraph %q {\n%s  label=%s\n", in, "cluster_"+x.ID, in, strconv.Quote(x.lines(" ")))
	if x.Kind == Socket {
		fmt.Fprintf(b, "%s  %q [label=CPU, class=cpu]\n", in, x.ID+"-cpu") // links between sockets need an end
	}
	for _, k := range kids[i+1] {
		g.dotBox(b, kids, k, in+"  ")
	}
	fmt.Fprintf(b, "%s}\n", in)
}

// end returns the ID of what a link ends at: a socket's CPU, else the box.
func (g *Graph) end(i int) string {
	if g.Boxes[i].Kind == Socket {
		return g.Boxes[i].ID + "-cpu"
	}
	return g.Boxes[i].ID
}
