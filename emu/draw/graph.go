package draw

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/railyard/railyard/shaping"
)

// Kind is what a box stands for.
type Kind uint8

// The kinds of box.
const (
	Server Kind = iota
	Socket      // or NUMA node
	Bridge      // PCIe switch, root port, host bridge
	GPU
	NIC
	Plane // NVSwitch chips
	Switch
	More // several servers or switches that are not drawn one by one
)

var kindNames = [...]string{Server: "server", Socket: "socket", Bridge: "bridge", GPU: "gpu", NIC: "nic", Plane: "plane", Switch: "switch", More: "more"}

// String returns the kind as a word, the class of its SVG elements.
func (k Kind) String() string { return kindNames[k] }

// Box is a part, or a frame around parts.
type Box struct {
	ID     string // unique, of letters, digits and hyphens
	Label  string
	Detail string // a second line, smaller
	Kind   Kind
	Parent int // −1: none
	Rail   int // of a NIC: its number, which gives it a colour
	Tier   int // of a switch: 0 has servers below; of More: −1 for servers
	Stands int // how many parts it stands for
}

// Wire is what a link is made of.
type Wire uint8

// The wires.
const (
	NVLink Wire = iota
	Cable       // NIC to switch
	Trunk       // switch to switch
	SocketLink
	numWires
)

var wireNames = [numWires]string{NVLink: "nvlink", Cable: "cable", Trunk: "trunk", SocketLink: "socket-link"}

// String returns the wire as a word.
func (w Wire) String() string { return wireNames[w] }

// Link is a bundle of like wires between two boxes.
type Link struct {
	A, B  int // positions of boxes
	Wire  Wire
	Name  string // of the wire where it is another than NVLink; else empty
	Count int
	Rate  shaping.Rate // of one, each direction; 0: unknown
	Rail  int          // of a cable: which gives it a colour
}

// mixed is the rail of a bundle of cables of several.
const mixed = -1

// Text returns "18 × 25 GB/s".
func (l *Link) Text() string {
	text := rateText(l.Rate, l.Wire)
	switch {
	case l.Count == 1:
		return text
	case text == "":
		return fmt.Sprintf("%d ×", l.Count)
	}
	return fmt.Sprintf("%d × %s", l.Count, text)
}

// rateText writes the rate of a cable in bits, as its makers do, and others in
// bytes.
func rateText(r shaping.Rate, w Wire) string {
	switch {
	case r == 0:
		return ""
	case w == Cable || w == Trunk:
		return decimal(int64(r)*8, int64(shaping.GBps)) + " Gb/s"
	}
	return decimal(int64(r), int64(shaping.GBps)) + " GB/s"
}

// decimal returns n/unit with two digits behind the point at most.
func decimal(n, unit int64) string {
	s := fmt.Sprintf("%d.%02d", n/unit, n%unit*100/unit)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// Graph is a picture before anybody has decided where things stand. Parents come
// before what is in them.
type Graph struct {
	Title string
	Boxes []Box
	Links []Link
}

func (g *Graph) add(b Box) int {
	b.Stands = max(b.Stands, 1)
	g.Boxes = append(g.Boxes, b)
	return len(g.Boxes) - 1
}

// join adds a link; one within a box that stands for both ends is left out.
func (g *Graph) join(l Link) {
	if l.A != l.B {
		g.Links = append(g.Links, l)
	}
}

// merge makes one link of like ones, and puts them into order.
func (g *Graph) merge() {
	slices.SortStableFunc(g.Links, func(a, b Link) int {
		return cmp.Or(cmp.Compare(a.Wire, b.Wire), cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B), cmp.Compare(a.Rate, b.Rate), cmp.Compare(a.Rail, b.Rail))
	})
	var all []Link
	for _, l := range g.Links {
		if n := len(all); n > 0 && all[n-1].A == l.A && all[n-1].B == l.B && all[n-1].Wire == l.Wire && all[n-1].Rate == l.Rate {
			if all[n-1].Count += l.Count; all[n-1].Rail != l.Rail {
				all[n-1].Rail = mixed
			}
			continue
		}
		all = append(all, l)
	}
	g.Links = all
}

// children lists the boxes within one, −1 for those within none.
func (g *Graph) children() [][]int {
	all := make([][]int, len(g.Boxes)+1)
	for i, b := range g.Boxes {
		all[b.Parent+1] = append(all[b.Parent+1], i)
	}
	return all
}
