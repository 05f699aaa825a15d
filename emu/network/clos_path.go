package network

import "github.com/railyard/railyard/shaping"

// path goes up to the lowest tier that both leaves hang below, and down.
func (c *clos) path(from, to int, flow uint64) (Path, bool) {
	a, b := c.leafOf[from], c.leafOf[to]
	if c.isleOf[from] != c.isleOf[to] {
		return Path{}, false
	}
	if a == b {
		return Path{Latency: []shaping.Duration{c.Hop}, Switches: 1}, true
	}
	podA, podB := c.pod(a), c.pod(b)
	w := walk{hop: c.Hop}
	w.pass(1)
	link := c.take(c.up, to, flow, 1, func(i int) bool { return c.rises(a, b, i) })
	spine := link / c.bundle
	w.through(c.port(c.leafUp, a, link))
	w.pass(1)
	if podA != podB {
		link := c.take(c.podLinks, to, flow, 2, func(i int) bool { return c.crosses(podA, podB, spine, i) })
		first := spine*c.podLinks + link/c.coreBundle*c.coreBundle // of the core's links down
		w.through(c.port(c.podUp, podA, spine*c.podLinks+link))
		w.pass(1)
		w.through(c.port(c.podDown, podB, first+c.take(c.coreBundle, to, flow, 3, func(i int) bool { return c.alive(c.podDown, podB, first+i) })))
		w.pass(1)
	}
	w.through(c.port(c.leafDown, b, spine*c.bundle+c.take(c.bundle, to, flow, 4, func(i int) bool { return c.alive(c.leafDown, b, spine*c.bundle+i) })))
	w.pass(1)
	return w.end(), true
}

// pod returns the pod of a leaf, counted over all networks.
func (c *clos) pod(leaf int) int {
	perIsle := c.leaves / c.isles
	return leaf/perIsle*c.pods + leaf%perIsle/c.leafPod
}

// choose picks one of k equally good links for a flow. Static tables go by the
// destination, d-mod-k: by its place on its leaf to a spine and back from there,
// by its leaf to a core and back.
func (c *clos) choose(k, to int, flow uint64, step uint64) int {
	switch {
	case c.Routing == Static && (step == 1 || step == 4):
		return c.seatOf[to] % k
	case c.Routing == Static:
		return c.leafOf[to] % k
	case c.Routing == Hash:
		return c.draw(k, flow, step)
	default:
		return 0
	}
}

// port returns the port of one link of a leaf or pod, or none where it can not be
// contended.
func (c *clos) port(first []int, of, link int) int {
	switch {
	case first == nil || first[of] == none:
		return none
	case c.pooled:
		return first[of]
	default:
		return first[of] + link
	}
}

const none = -1

// walk gathers a path: switches passed, and ports between them.
type walk struct {
	hop      shaping.Duration
	path     Path
	latency  shaping.Duration
	switches int
}

// pass passes k switches, each with the cable behind it.
func (w *walk) pass(k int) {
	w.latency += shaping.Duration(k) * w.hop
	w.switches += k
}

// through goes through a port, if it is one.
func (w *walk) through(port int) {
	if port == none {
		return
	}
	w.path.Ports = append(w.path.Ports, port)
	w.path.Latency = append(w.path.Latency, w.latency)
	w.latency = 0
}

func (w *walk) end() Path {
	w.path.Latency = append(w.path.Latency, w.latency)
	w.path.Switches = w.switches
	return w.path
}
