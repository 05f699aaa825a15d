package draw

import (
	"fmt"
	"slices"

	"github.com/railyard/railyard/emu/machine"
	"github.com/railyard/railyard/emu/network"
	"github.com/railyard/railyard/shaping"
)

// Group is a number of like servers that stand next to each other.
type Group struct {
	Count      int
	Machine    *machine.Machine
	GPUs, NICs int // in use; 0: all
	// Joint is what the links between GPUs are called; empty: NVLink. Shared is how
	// many servers have the NVSwitches in common; up to 1: each has its own.
	Joint  string
	Shared int
	// ICI names the slice of TPUs that the servers make; empty: none. Leave says how
	// many links of a GPU's go to other servers of it, Link is the rate of one.
	ICI   string
	Leave func(place, gpu int) int
	Link  shaping.Rate
}

// mostSwitches is how many switches of a tier are drawn one by one.
const mostSwitches = 16

// Cluster returns the picture of servers, and of the network that joins their
// NICs, whose cables have the given rate; without a network the servers alone. Up
// to most servers are drawn one by one; of more, each group shows its first ones
// and its last.
func Cluster(title string, groups []Group, n *network.Network, cable shaping.Rate, most int) *Graph {
	p := &picture{Graph: &Graph{Title: title}, net: n, cable: cable}
	total := 0
	for _, g := range groups {
		total += g.Count
	}
	first := 0
	for i := range groups {
		p.group(first, &groups[i], total > most, len(groups))
		first += groups[i].Count
	}
	if n != nil {
		p.switches()
		p.cables()
	}
	p.merge()
	return p.Graph
}

type picture struct {
	*Graph
	net   *network.Network
	cable shaping.Rate
	// nic is the box of each NIC of each node: its own, or that of the servers it
	// is one of.
	nic       []func(nic int) int
	shown     []bool // of each node
	switchBox []int  // box of each switch
	tiers     []int  // of each switch
}

// group adds the servers of a group.
func (p *picture) group(first int, g *Group, tooMany bool, groups int) {
	head, tail := g.Count, 0
	if tooMany && g.Count > 2 {
		head, tail = 2, 1
		if groups > 2 {
			head, tail = 1, 0
		}
	}
	if hidden := g.Count - head - tail; hidden == 1 {
		head++ // a box of its own says no less
	}
	for i := range head {
		p.server(first, i, g)
	}
	if hidden := g.Count - head - tail; hidden > 0 {
		p.more(first+head, hidden, g)
	}
	for i := g.Count - tail; i < g.Count; i++ {
		p.server(first, i, g)
	}
}

func (p *picture) server(first, place int, g *Group) {
	id := fmt.Sprintf("node%d", first+place)
	at := p.add(Box{ID: id, Label: id, Detail: g.Machine.Name, Kind: Server, Parent: -1})
	gpus, nics := p.inside(at, g)
	p.nic = append(p.nic, func(nic int) int { return nics[nic] })
	p.shown = append(p.shown, true)
	if g.ICI == "" {
		return
	}
	to := p.add(Box{ID: id + "-ici", Label: g.ICI, Kind: Plane, Parent: at})
	for i, gpu := range gpus {
		if n := g.Leave(place, i); n > 0 {
			p.join(Link{A: gpu, B: to, Wire: NVLink, Name: g.Joint, Count: n, Rate: g.Link})
		}
	}
}

// more adds one box for servers that are not drawn.
func (p *picture) more(first, hidden int, g *Group) {
	box := p.add(Box{ID: fmt.Sprintf("node%d-to-node%d", first, first+hidden-1), Label: fmt.Sprintf("… %d more", hidden),
		Detail: fmt.Sprintf("node%d to node%d", first, first+hidden-1), Kind: More, Parent: -1, Tier: -1, Stands: hidden})
	for range hidden {
		p.nic = append(p.nic, func(int) int { return box })
		p.shown = append(p.shown, false)
	}
}

// switches adds the switches, tier by tier. Leaves of servers that are drawn come
// first.
func (p *picture) switches() {
	p.switchBox = make([]int, len(p.net.Switches))
	wanted := make([]bool, len(p.net.Switches))
	for i, h := range p.net.Hosts {
		wanted[p.net.Leaf(i)] = wanted[p.net.Leaf(i)] || p.shown[h.Node]
	}
	p.tiers = tiersOf(p.net)
	for tier := range slices.Max(p.tiers) + 1 {
		p.tier(tier, wanted)
	}
}

// tiersOf returns how high each switch is drawn: its tier, or of a network that
// somebody listed how many links lie between it and one with servers.
func tiersOf(n *network.Network) []int {
	tiers := make([]int, len(n.Switches))
	for i, s := range n.Switches {
		tiers[i] = s.Tier
	}
	if n.Shape != network.Custom {
		return tiers
	}
	next := make([][]int, len(tiers))
	for _, k := range n.Trunks() {
		next[k.A], next[k.B] = append(next[k.A], k.B), append(next[k.B], k.A)
	}
	seen := make([]bool, len(tiers))
	var row []int
	for host := range n.Hosts {
		if leaf := n.Leaf(host); !seen[leaf] {
			seen[leaf] = true
			row = append(row, leaf)
		}
	}
	for tier := 0; len(row) > 0; tier++ {
		var above []int
		for _, i := range row {
			tiers[i] = tier
			for _, j := range next[i] {
				if !seen[j] {
					seen[j] = true
					above = append(above, j)
				}
			}
		}
		row = above
	}
	return tiers
}

// tier adds the switches of a tier: all, or those that are wanted and then as many
// as fit, and one box for the rest.
func (p *picture) tier(tier int, wanted []bool) {
	var all, hidden []int
	for i := range p.net.Switches {
		if p.tiers[i] == tier {
			all = append(all, i)
		}
	}
	room := mostSwitches
	for _, i := range all {
		if wanted[i] {
			room--
		}
	}
	for _, i := range all {
		if len(all) > mostSwitches && !wanted[i] && room <= len(all)/mostSwitches {
			hidden = append(hidden, i)
			continue
		}
		if !wanted[i] {
			room--
		}
		name := p.net.Switches[i].Name
		p.switchBox[i] = p.add(Box{ID: word(i, name), Label: name, Detail: fmt.Sprintf("%d of %d ports", p.net.Switches[i].Used, p.net.Radix), Kind: Switch, Parent: -1, Tier: tier})
	}
	if len(hidden) == 0 {
		return
	}
	box := p.add(Box{ID: fmt.Sprintf("tier%d-more", tier), Label: fmt.Sprintf("… %d more", len(hidden)), Detail: "of the tier", Kind: More, Parent: -1, Tier: tier, Stands: len(hidden)})
	for _, i := range hidden {
		p.switchBox[i] = box
	}
}

// word makes an ID of a switch.
func word(i int, name string) string {
	id := []rune(fmt.Sprintf("switch%d-", i))
	for _, r := range name {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			id = append(id, r)
		} else {
			id = append(id, '-')
		}
	}
	return string(id)
}

func (p *picture) cables() {
	for i, h := range p.net.Hosts {
		p.join(Link{A: p.nic[h.Node](h.NIC), B: p.switchBox[p.net.Leaf(i)], Wire: Cable, Count: 1, Rate: p.cable, Rail: h.NIC})
	}
	for _, t := range p.net.Trunks() {
		p.join(Link{A: p.switchBox[t.A], B: p.switchBox[t.B], Wire: Trunk, Count: t.Cables, Rate: p.cable})
	}
}
