package emu

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// customKeys are those of a custom fabric:
//
//	fabric:
//	  kind: custom
//	  link: ndr
//	  switches: [leaf0, leaf1, spine0]
//	  links:
//	    - {from: spine0, to: [leaf0, leaf1], count: 4, rate: 50GB/s, latency: 150ns}
//
// Nodes say where they hang: {count: 4, system: dgx-h100, switches: [leaf0]}, or
// with a switch for each NIC.
func (r *reader) customKeys(f *Fabric) []key {
	return []key{
		{name: "switches", read: r.texts(&f.Switches)},
		{name: "links", read: list(r, &f.Links, r.fabricLink)},
	}
}

func (r *reader) fabricLink(path string, n ast.Node, l *FabricLink) {
	r.mapping(n, path, []key{
		{name: "from", required: true, read: r.text(&l.From)},
		{name: "to", required: true, read: r.texts(&l.To)},
		{name: "count", read: r.count(&l.Count, maxParallel)},
		{name: "rate", read: r.rate(&l.Rate)},
		{name: "latency", read: r.duration(&l.Latency)},
	})
}

// texts reads a list of names.
func (r *reader) texts(to *[]string) func(string, ast.Node) {
	return list(r, to, func(path string, n ast.Node, s *string) { r.text(s)(path, n) })
}

// printFabric prints a fabric, on one line where it has no links of its own.
func printFabric(b *strings.Builder, fabric *Fabric) {
	f := fabric.entries()
	if len(fabric.Switches)+len(fabric.Links) == 0 {
		if f != nil {
			fmt.Fprintf(b, "  fabric: {%s}\n", strings.Join(f, ", "))
		}
		return
	}
	b.WriteString("  fabric:\n")
	for _, entry := range f {
		fmt.Fprintf(b, "    %s\n", entry)
	}
	if len(fabric.Switches) > 0 {
		fmt.Fprintf(b, "    switches: %s\n", scalars(fabric.Switches))
	}
	if len(fabric.Links) > 0 {
		b.WriteString("    links:\n")
	}
	for _, l := range fabric.Links {
		var f flow
		f.text("from", l.From)
		f.add("to", scalars(l.To))
		f.number("count", l.Count)
		f.rate("rate", l.Rate)
		if l.Latency != 0 {
			f.add("latency", l.Latency.String())
		}
		fmt.Fprintf(b, "      - {%s}\n", strings.Join(f, ", "))
	}
}

// scalars prints a list of names on one line.
func scalars(names []string) string {
	quoted := make([]string, len(names))
	for i, s := range names {
		quoted[i] = scalar(s)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// hanging returns the entry of a group's switches, nothing for none.
func hanging(g Group) string {
	if len(g.Switches) == 0 {
		return ""
	}
	return ", switches: " + scalars(g.Switches)
}
