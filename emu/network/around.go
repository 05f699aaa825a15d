package network

import "slices"

// detour finds ways round dead ports: in each plane its own.
type detour struct {
	*Network
	dead  []bool
	plane []way
}

// Around returns the network as it routes once its tables avoid the given ports.
// Ports keep their numbers. A flow whose way is sound keeps it, as resilient
// hashing has it; of the others each takes one of the ways that are left. Where
// there is none, a flow keeps the way it had, and is lost.
func (n *Network) Around(dead []int) *Network {
	c := *n
	c.detour = &detour{Network: n, dead: make([]bool, len(n.Ports))}
	for _, p := range dead {
		c.detour.dead[p] = true
	}
	planes := 1
	if n.planar() {
		planes = n.Planes
	}
	for p := range planes {
		ports := c.detour.dead
		if n.planar() {
			ports = ports[p*n.perPlane : (p+1)*n.perPlane]
		}
		way := n.way
		if slices.Contains(ports, true) {
			way = n.way.(wired).around(ports)
		}
		c.detour.plane = append(c.detour.plane, way)
	}
	return &c
}

// path returns a flow's own way if it is sound, else the first sound one over the
// planes, from its own on.
func (d *detour) path(from, to int, flow uint64) (Path, bool) {
	own, ok := d.Network.Path(from, to, flow)
	if ok && d.sound(own) {
		return own, true
	}
	base := 0
	if d.planar() {
		base = d.planeOf(to, flow)
	}
	for i := range d.plane {
		plane := (base + i) % len(d.plane)
		p, ok := d.plane[plane].path(from, to, flow)
		if ok && d.planar() {
			p = d.inPlane(p, from, to, plane)
		}
		if ok && d.sound(p) {
			return p, true
		}
	}
	return own, ok
}

func (d *detour) sound(p Path) bool {
	return !slices.ContainsFunc(p.Ports, func(port int) bool { return d.dead[port] })
}

// around implements wired. Where links are pooled, switches go round dead ones by
// themselves.
func (c *clos) around(dead []bool) way {
	r := *c
	r.dead = dead
	return &r
}

// take picks one of k equally good links for a flow, as choose does, but one that
// is sound, if there is any.
func (c *clos) take(k, to int, flow, step uint64, sound func(link int) bool) int {
	base := c.choose(k, to, flow, step)
	if c.dead == nil || c.pooled || sound(base) {
		return base
	}
	var left []int
	for i := range k {
		if sound(i) {
			left = append(left, i)
		}
	}
	if left == nil {
		return base
	}
	return left[c.choose(len(left), to, flow, step)]
}

// alive reports whether one link of a leaf or pod may be taken.
func (c *clos) alive(first []int, of, link int) bool {
	p := c.port(first, of, link)
	return p == none || !c.dead[p]
}

// descends reports whether a message at a spine's position comes down to a leaf.
func (c *clos) descends(leaf, spine int) bool {
	for i := range c.bundle {
		if c.alive(c.leafDown, leaf, spine*c.bundle+i) {
			return true
		}
	}
	return false
}

// crosses reports whether a message at a spine's position comes to another pod by
// one of the spine's links up.
func (c *clos) crosses(podA, podB, spine, link int) bool {
	if !c.alive(c.podUp, podA, spine*c.podLinks+link) {
		return false
	}
	core := link / c.coreBundle
	for i := range c.coreBundle {
		if c.alive(c.podDown, podB, spine*c.podLinks+core*c.coreBundle+i) {
			return true
		}
	}
	return false
}

// rises reports whether a leaf's link up leads to another leaf.
func (c *clos) rises(a, b, link int) bool {
	spine, podA, podB := link/c.bundle, c.pod(a), c.pod(b)
	if !c.alive(c.leafUp, a, link) || !c.descends(b, spine) {
		return false
	}
	if podA == podB {
		return true
	}
	for i := range c.podLinks {
		if c.crosses(podA, podB, spine, i) {
			return true
		}
	}
	return false
}

// around implements wired: the shortest ways of what is left, in a torus too,
// which then no longer goes dimension by dimension.
func (g *graph) around(dead []bool) way {
	n := *g.Network // its bill is no concern of ways
	r := &graph{Network: &n, at: g.at, group: g.group, groups: g.groups, dead: dead, out: make([][]edge, len(g.out))}
	for from, out := range g.out {
		for _, e := range out {
			if !r.gone(&e) {
				r.out[from] = append(r.out[from], e)
			}
		}
	}
	if r.measure() != nil {
		return g // too many switches to be looked up
	}
	return r
}

// gone reports whether no link of an edge is left.
func (g *graph) gone(e *edge) bool {
	links := e.links
	if g.Routing.spreads() {
		links = 1
	}
	return !slices.Contains(g.dead[e.first:e.first+links], false)
}

// pickLink returns the port of one of an edge's parallel links, a sound one if
// there is any.
func (g *graph) pickLink(e *edge, at, to int, flow uint64) int {
	base := e.first + g.pick(e.links, at, to, flow)
	if g.dead == nil || !g.dead[base] {
		return base
	}
	var left []int
	for p := e.first; p < e.first+e.links; p++ {
		if !g.dead[p] {
			left = append(left, p)
		}
	}
	if left == nil {
		return base
	}
	return left[g.pick(len(left), at, to, flow)]
}
