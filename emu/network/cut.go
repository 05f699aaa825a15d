package network

// Cut is what a port loses when a switch or a cable does not work: some of the
// parallel links that it stands for.
type Cut struct {
	// Port is the port, or Own: that of the host's NIC, which is not of the
	// network.
	Port, Host int
	// Into: the port leads to the switch that was struck, not away from it. Of a
	// cable all ports do.
	Into bool
	// First and Lost are which of the port's links, Of how many there are.
	First, Lost, Of int
}

// Own is the port of a Cut that strikes the NIC's own.
const Own = -1

// link is a bundle of cables from one switch to another, and the port that it is
// part of.
type link struct {
	from, to        int
	port            int
	first, lost, of int
}

// CutSwitch returns what ports lose with a switch of a plane.
func (n *Network) CutSwitch(plane, sw int) []Cut {
	var all []Cut
	for _, l := range n.way.(wired).links() {
		if l.from == sw || l.to == sw {
			all = append(all, n.cut(plane, l, l.to == sw, l.lost))
		}
	}
	for h := range n.Hosts {
		if n.Leaf(h) == sw {
			all = append(all, n.cutHost(plane, h)...)
		}
	}
	return all
}

// CutTrunk returns what ports lose with the first cables of a trunk, both ways.
func (n *Network) CutTrunk(plane int, t Trunk, cables int) []Cut {
	var all []Cut
	there, back := cables, cables
	for _, l := range n.way.(wired).links() {
		left := &there
		switch {
		case l.from == t.A && l.to == t.B:
		case l.from == t.B && l.to == t.A:
			left = &back
		default:
			continue
		}
		if lost := min(l.lost, *left); lost > 0 {
			*left -= lost
			all = append(all, n.cut(plane, l, true, lost))
		}
	}
	return all
}

// cut makes a link of the first plane one of another. Where messages are spread
// over planes, all of them are one port.
func (n *Network) cut(plane int, l link, into bool, lost int) Cut {
	c := Cut{Port: l.port, Host: -1, Into: into, First: l.first, Lost: lost, Of: l.of}
	switch {
	case n.planar():
		c.Port += plane * n.perPlane
	case n.Planes > 1:
		c.First, c.Of = c.First+plane*l.of, l.of*n.Planes
	}
	return c
}

// cutHost returns what a host loses with the switch of a plane that it hangs on.
func (n *Network) cutHost(plane, host int) []Cut {
	if n.planar() {
		up := n.Planes*n.perPlane + 2*(plane*len(n.Hosts)+host)
		return []Cut{{Port: up, Host: host, Into: true, Lost: 1, Of: 1}, {Port: up + 1, Host: host, Lost: 1, Of: 1}}
	}
	c := Cut{Port: Own, Host: host, First: plane, Lost: 1, Of: n.NICLinks()}
	into := c
	into.Into = true
	return []Cut{into, c}
}

// NICLinks returns of how many links a host's own port is: one for each plane where
// messages are spread over them.
func (n *Network) NICLinks() int {
	if n.planar() {
		return 1
	}
	return n.Planes
}

// links lists the cables between switches, each way, that a port stands for.
func (c *clos) links() []link {
	if c.leafUp == nil {
		return nil
	}
	var all []link
	add := func(from, to, up, down, first, count, of int) {
		if c.pooled {
			all = append(all, link{from, to, up, first, count, of}, link{to, from, down, first, count, of})
			return
		}
		for i := first; i < first+count; i++ {
			all = append(all, link{from, to, up + i, 0, 1, 1}, link{to, from, down + i, 0, 1, 1})
		}
	}
	seen := make([]int, c.leaves+c.isles*c.pods) // links dealt out of each leaf, and of each pod
	for _, t := range c.trunks() {
		of, up, down, total := t.A, c.leafUp, c.leafDown, c.up
		at := t.A
		if t.A >= c.leaves {
			of, up, down, total = (t.A-c.leaves)/c.spines, c.podUp, c.podDown, c.spines*c.podLinks
			at = c.leaves + of
		}
		if up[of] != none {
			add(t.A, t.B, up[of], down[of], seen[at], t.Cables, total)
		}
		seen[at] += t.Cables
	}
	return all
}

func (g *graph) links() []link {
	var all []link
	for from, out := range g.out {
		for _, e := range out {
			if g.Routing.spreads() {
				all = append(all, link{from, e.to, e.first, 0, e.links, e.links})
				continue
			}
			for i := range e.links {
				all = append(all, link{from, e.to, e.first + i, 0, 1, 1})
			}
		}
	}
	return all
}
