package network

import (
	"fmt"

	"github.com/railyard/railyard/shaping"
)

// graph finds shortest ways through any switches. A bundle of parallel links is
// one port where routing spreads over it, else each of its links is.
type graph struct {
	*Network
	at     []int    // switch of each host
	out    [][]edge // of each switch
	far    []int16  // hops between switches, from a × switches + to; −1: not joined
	group  []int    // of each switch, for Valiant; nil: there are none
	groups int
	// next, when set, picks the way instead: a torus goes dimension by dimension.
	next func(at, to int) int
	dead []bool // ports not to be taken; nil: none
}

// edge is a bundle of links from one switch to another.
type edge struct {
	to, links int
	first     int // port
	latency   shaping.Duration
}

func newGraph(n *Network) *graph {
	g := &graph{Network: n, at: make([]int, len(n.Hosts))}
	n.way = g
	return g
}

// addSwitch adds a switch with room for its edges.
func (g *graph) addSwitch(name string, tier int) int {
	g.Switches = append(g.Switches, Switch{Name: name, Tier: tier})
	g.out = append(g.out, nil)
	return len(g.Switches) - 1
}

// hang puts a host on a switch.
func (g *graph) hang(host, at int) {
	g.at[host] = at
	g.Switches[at].Used++
	g.HostCables++
}

// join adds parallel links between two switches, both ways.
func (g *graph) join(a, b, links int, rate shaping.Rate, latency shaping.Duration) {
	g.oneWay(a, b, links, rate, latency)
	g.oneWay(b, a, links, rate, latency)
	g.Switches[a].Used += links
	g.Switches[b].Used += links
	g.TrunkCables += links
}

func (g *graph) oneWay(a, b, links int, rate shaping.Rate, latency shaping.Duration) {
	text := g.Switches[a].Name + "/to-" + g.Switches[b].Name
	e := edge{to: b, links: links, first: len(g.Ports), latency: latency}
	if g.Routing.spreads() {
		g.add(text, rate*shaping.Rate(links))
	} else {
		for i := range links {
			g.add(fmt.Sprintf("%s.%d", text, i), rate)
		}
	}
	g.out[a] = append(g.out[a], e)
}

// checkRadix reports a switch that has more cables than ports.
func (g *graph) checkRadix() error {
	for i := range g.Switches {
		if s := &g.Switches[i]; s.Used > g.Radix {
			return fmt.Errorf("%s needs %d ports, and its switch has %d", s.Name, s.Used, g.Radix)
		}
	}
	return nil
}

// path implements way.
func (g *graph) path(from, to int, flow uint64) (Path, bool) {
	w := walk{hop: g.Hop}
	a, b := g.at[from], g.at[to]
	w.pass(1)
	if mid := g.middle(a, b, flow); mid >= 0 && (g.dead == nil || g.hops(a, mid) >= 0 && g.hops(mid, b) >= 0) {
		if !g.walk(&w, a, mid, to, flow) {
			return Path{}, false
		}
		a = mid
	}
	if !g.walk(&w, a, b, to, flow) {
		return Path{}, false
	}
	return w.end(), true
}

// walk goes from switch a to switch b.
func (g *graph) walk(w *walk, a, b, to int, flow uint64) bool {
	if g.next == nil && g.hops(a, b) < 0 {
		return false
	}
	for at := a; at != b; {
		e := g.choose(at, b, to, flow)
		if e == nil {
			return false
		}
		port := e.first
		if !g.Routing.spreads() {
			port = g.pickLink(e, at, to, flow)
		}
		w.through(port)
		w.latency += e.latency
		w.pass(1)
		at = e.to
	}
	return true
}

// choose returns the edge by which a message leaves a switch, nil where what is
// dead leaves none.
func (g *graph) choose(at, b, to int, flow uint64) *edge {
	if g.next != nil {
		want := g.next(at, b)
		for i := range g.out[at] {
			if e := &g.out[at][i]; e.to == want {
				return e
			}
		}
		panic("network: no link where the way leads")
	}
	var best []*edge
	for i := range g.out[at] {
		if e := &g.out[at][i]; g.hops(e.to, b) == g.hops(at, b)-1 && g.minimal(at, e.to, b) {
			best = append(best, e)
		}
	}
	if best == nil {
		return nil
	}
	return best[g.pick(len(best), at, to, flow)]
}

// pick chooses one of k equally good things for a message at a switch. Where
// messages spread over all, that stands for a share of each: the links of one
// edge are one pool, but among edges a flow keeps to one.
func (g *graph) pick(k, at, to int, flow uint64) int {
	if k == 1 {
		return 0
	}
	if g.Routing == Static {
		return to % k
	}
	return g.draw(k, flow, uint64(at))
}

// maxSwitches is how many switches a graph may have whose ways are looked up:
// the distances between all take 128 MiB then.
const maxSwitches = 8192

// hops returns how far one switch is from another; −1: not joined.
func (g *graph) hops(from, to int) int16 { return g.far[to*len(g.out)+from] }

// measure finds the distances between all switches.
func (g *graph) measure() error {
	n := len(g.out)
	if n > maxSwitches {
		return fmt.Errorf("a %s network of %d switches: at most %d are reckoned with", g.Shape, n, maxSwitches)
	}
	g.far = make([]int16, n*n)
	for i := range g.far {
		g.far[i] = -1
	}
	queue := make([]int, 0, n)
	for to := range n {
		h := g.far[to*n : (to+1)*n]
		h[to] = 0
		queue = append(queue[:0], to)
		for k := 0; k < len(queue); k++ {
			for _, e := range g.out[queue[k]] { // links go both ways
				if h[e.to] < 0 && g.minimal(e.to, queue[k], to) {
					h[e.to] = h[queue[k]] + 1
					queue = append(queue, e.to)
				}
			}
		}
	}
	return g.checkRadix()
}

// minimal reports whether a message to switch b may go from one switch to the
// next: where there are groups, never by way of a third one, even if that took
// fewer hops; but round what is dead any way will do.
func (g *graph) minimal(at, next, b int) bool {
	return g.group == nil || g.dead != nil || g.group[at] == g.group[next] || g.group[next] == g.group[b]
}

// middle returns a switch of a random group that is neither end's, −1 for none.
func (g *graph) middle(a, b int, flow uint64) int {
	if g.Routing != Valiant || g.groups < 3 || g.group[a] == g.group[b] {
		return -1
	}
	k := g.draw(g.groups-2, flow, 1<<32)
	for _, end := range []int{min(g.group[a], g.group[b]), max(g.group[a], g.group[b])} {
		if k >= end {
			k++
		}
	}
	per := len(g.group) / g.groups
	return k*per + g.draw(per, flow, 1<<33)
}

// buildCustom joins switches as the config lists them.
func (n *Network) buildCustom() error {
	g := newGraph(n)
	for _, s := range n.Config.Switches {
		g.addSwitch(s, 0)
	}
	for i, h := range n.Hosts {
		if h.Switch < 0 || h.Switch >= len(g.out) {
			return fmt.Errorf("node%d/nic%d hangs on switch %d; there are %d", h.Node, h.NIC, h.Switch, len(g.out))
		}
		g.hang(i, h.Switch)
	}
	for i, l := range n.Links {
		if l.A < 0 || l.A >= len(g.out) || l.B < 0 || l.B >= len(g.out) || l.A == l.B || l.Count < 1 {
			return fmt.Errorf("links[%d]: %d times from switch %d to %d; there are %d, and a link joins two, at least once", i, l.Count, l.A, l.B, len(g.out))
		}
		rate := l.Rate
		if rate == 0 {
			rate = n.Rate
		}
		g.join(l.A, l.B, l.Count, rate, l.Latency)
	}
	return g.measure()
}
