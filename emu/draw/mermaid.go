package draw

import (
	"fmt"
	"strings"
)

// Mermaid returns the graph as a flowchart for Mermaid.
func (g *Graph) Mermaid() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "---\ntitle: \"%s\"\n---\nflowchart BT\n", plain(g.Title))
	kids := g.children()
	for _, i := range kids[0] {
		g.mermaidBox(&b, kids, i, "  ")
	}
	for i := range g.Links {
		k := &g.Links[i]
		if t := k.Text(); t != "" {
			fmt.Fprintf(&b, "  %s ---|%s| %s\n", g.end(k.A), t, g.end(k.B))
		} else {
			fmt.Fprintf(&b, "  %s --- %s\n", g.end(k.A), g.end(k.B))
		}
	}
	return []byte(b.String())
}

func (g *Graph) mermaidBox(b *strings.Builder, kids [][]int, i int, in string) {
	x := &g.Boxes[i]
	if !framed(x.Kind) {
		fmt.Fprintf(b, "%s%s[\"%s\"]\n", in, x.ID, x.plain("<br/>"))
		return
	}
	fmt.Fprintf(b, "%ssubgraph %s[\"%s\"]\n", in, x.ID, x.plain(" "))
	if x.Kind == Socket {
		fmt.Fprintf(b, "%s  %s-cpu[\"CPU\"]\n", in, x.ID)
	}
	for _, k := range kids[i+1] {
		g.mermaidBox(b, kids, k, in+"  ")
	}
	fmt.Fprintf(b, "%send\n", in)
}

// plain returns what a box says, without what would end a Mermaid label.
func (x *Box) plain(sep string) string {
	if x.Detail == "" {
		return plain(x.Label)
	}
	return plain(x.Label) + sep + plain(x.Detail)
}

// plain replaces what ends a label or begins markup; names come from files.
func plain(s string) string {
	return strings.NewReplacer("\"", "'", "\n", " ", "\r", " ", "<", "‹", ">", "›", "\\", "/").Replace(s)
}
