package emu

import (
	"fmt"
	"math"
	"slices"

	"github.com/railyard/railyard/emu/network"
	"github.com/railyard/railyard/emu/suggest"
	"github.com/railyard/railyard/shaping"
)

// KindCustom is the kind of a fabric that lists its own switches and links.
const KindCustom = "custom"

// FabricLink is one or more links of a custom fabric that start at one switch,
// both ways.
type FabricLink struct {
	From string
	To   []string // each is joined with From
	// Count is how many parallel links join each pair; 0 means 1.
	Count int
	// Rate of one of them in one direction, as it is sold: what of it is usable
	// is as with the fabric's link. 0: that link's.
	Rate shaping.Rate
	// Latency of the cable, on top of a switch hop of the fabric's link.
	Latency shaping.Duration
}

// Bounds of a custom fabric: what the largest descriptions of others have.
const (
	maxSwitches = 1 << 15
	maxParallel = 1 << 17 // links between two switches
	maxLinkRate = 10 * shaping.Rate(1e12)
	maxLatency  = shaping.Duration(1e12) // a second
)

// checkCustom checks a fabric that lists its switches: that names are known, and
// that every node can reach every other.
func (c *Cluster) checkCustom(known Known, ps *problems) {
	f := &c.Fabric
	if f.Kind != KindCustom {
		if len(f.Switches)+len(f.Links) > 0 {
			ps.say("spec.fabric.switches", "switches and links belong to kind: custom; this fabric is of kind %q", suggest.Clip(f.Kind))
		}
		for i, g := range c.Groups {
			if len(g.Switches) > 0 {
				ps.say(fmt.Sprintf("spec.nodes[%d].switches", i), "a switch can be named where fabric has kind: custom; this fabric is of kind %q", suggest.Clip(f.Kind))
			}
		}
		return
	}
	before := len(*ps)
	c.checkSwitches(ps)
	at := c.switchIndex()
	for i, l := range f.Links {
		c.checkLink(l, fmt.Sprintf("spec.fabric.links[%d]", i), at, ps)
	}
	for i, g := range c.Groups {
		c.checkHanging(g, fmt.Sprintf("spec.nodes[%d].switches", i), known, at, ps)
	}
	if f.Oversubscription > 1 {
		ps.say("spec.fabric.oversubscription", "%d: the links of a custom fabric say themselves how many there are; leave it out", f.Oversubscription)
	}
	if len(*ps) > before || len(c.Groups) == 0 {
		return
	}
	if apart := c.apart(); apart != "" {
		ps.say("spec.fabric.links", "%s", apart)
	}
}

func (c *Cluster) checkSwitches(ps *problems) {
	if n := len(c.Fabric.Switches); n == 0 || n > maxSwitches {
		ps.say("spec.fabric.switches", "lists %d; a custom fabric has from 1 to %d", n, maxSwitches)
		return
	}
	seen := map[string]bool{}
	for i, s := range c.Fabric.Switches {
		if s == "" || seen[s] || len(s) > 200 {
			ps.say(fmt.Sprintf("spec.fabric.switches[%d]", i), "%q must be a name of up to 200 bytes that no other switch has", suggest.Clip(s))
		}
		seen[s] = true
	}
}

// isSwitch checks that a name is a switch's. Only the first of many wrong names
// are compared with all that there are.
func (c *Cluster) isSwitch(field, name string, at map[string]int, ps *problems) {
	if _, ok := at[name]; ok {
		return
	}
	if len(*ps) > maxProblems {
		ps.say(field, "%q is unknown", suggest.Clip(name))
		return
	}
	ps.say(field, "%s", suggest.Unknown(name, c.Fabric.Switches[:min(len(c.Fabric.Switches), 1000)]))
}

func (c *Cluster) checkLink(l FabricLink, field string, at map[string]int, ps *problems) {
	c.isSwitch(field+".from", l.From, at, ps)
	if len(l.To) == 0 {
		ps.say(field+".to", "lists no switch; name those that %s is joined with", suggest.Clip(l.From))
	}
	for i, to := range l.To {
		c.isSwitch(fmt.Sprintf("%s.to[%d]", field, i), to, at, ps)
		if to == l.From {
			ps.say(fmt.Sprintf("%s.to[%d]", field, i), "%q is joined with itself; a link joins two switches", suggest.Clip(to))
		}
	}
	ps.between(field+".count", l.Count, maxParallel, "")
	if l.Rate < 0 || l.Rate > maxLinkRate {
		ps.say(field+".rate", "%v must be from 0B/s to %v", l.Rate, maxLinkRate)
	}
	if l.Latency < 0 || l.Latency > maxLatency {
		ps.say(field+".latency", "%v must be from 0s to %v", l.Latency, maxLatency)
	}
}

// checkHanging checks where a group's nodes hang: one switch, or one for each NIC.
func (c *Cluster) checkHanging(g Group, field string, known Known, at map[string]int, ps *problems) {
	nics := g.NICs
	if s, ok := c.kind(g, known); ok && nics == 0 {
		gpus := g.GPUs
		if gpus == 0 {
			gpus = s.GPUs
		}
		nics = min(s.NICs, gpus)
	}
	switch n := len(g.Switches); {
	case n == 0:
		ps.say(field, "is missing; name the switch that the nodes hang on, or one for each NIC")
	case n > 1 && nics > 0 && n != nics:
		ps.say(field, "names %d switches for %d NICs; name one for all, or one for each", n, nics)
	}
	for i, s := range g.Switches {
		c.isSwitch(fmt.Sprintf("%s[%d]", field, i), s, at, ps)
	}
}

// apart says which switches no link joins, however far about, though nodes on both
// must reach each other. Empty when all are joined, or when they are rails: NICs of
// one number of all nodes hang on switches that are joined.
func (c *Cluster) apart() string {
	first := c.Groups[0].Switches
	part, at := c.switchParts(), c.switchIndex()
	of := func(s string) int { return part[at[s]] }
	rails := true
	for _, g := range c.Groups {
		rails = rails && slices.EqualFunc(first, g.Switches, func(a, b string) bool { return of(a) == of(b) })
	}
	if rails {
		return ""
	}
	for _, g := range c.Groups {
		for _, s := range g.Switches {
			for _, other := range first {
				if of(other) != of(s) {
					return fmt.Sprintf("no link joins %q and %q, and nodes hang on both; add one, or leave these nodes out", suggest.Clip(other), suggest.Clip(s))
				}
			}
		}
	}
	return ""
}

// RailsApart reports whether a valid custom fabric has rails that no link joins.
func (c *Cluster) RailsApart() bool {
	if c.Fabric.Kind != KindCustom || len(c.Groups) == 0 || len(c.Groups[0].Switches) < 2 {
		return false
	}
	part, at := c.switchParts(), c.switchIndex()
	first := c.Groups[0].Switches
	return slices.ContainsFunc(first, func(s string) bool { return part[at[s]] != part[at[first[0]]] })
}

// switchParts returns for each switch the first of those that links join it with.
func (c *Cluster) switchParts() []int {
	at := c.switchIndex()
	part := make([]int, len(c.Fabric.Switches))
	for i := range part {
		part[i] = i
	}
	root := func(i int) int {
		for part[i] != i {
			part[i] = part[part[i]]
			i = part[i]
		}
		return i
	}
	for _, l := range c.Fabric.Links {
		for _, to := range l.To {
			a, b := root(at[l.From]), root(at[to])
			part[max(a, b)] = min(a, b)
		}
	}
	for i := range part {
		part[i] = root(i)
	}
	return part
}

// switchIndex returns the position of each switch by its name.
func (c *Cluster) switchIndex() map[string]int {
	at := make(map[string]int, len(c.Fabric.Switches))
	for i, s := range c.Fabric.Switches {
		at[s] = i
	}
	return at
}

// CustomNetwork returns what emu/network makes a network of, for a valid custom
// fabric with its defaults filled in (Effective). Rate, Hop and Routing are left
// to the caller, who knows the link; the radix is boundless, as the file says
// itself what is plugged in where.
func (c *Cluster) CustomNetwork() (network.Config, []network.Host) {
	n := network.Config{Shape: network.Custom, Radix: math.MaxInt32, Switches: c.Fabric.Switches, Seed: c.Seed}
	at := c.switchIndex()
	for _, l := range c.Fabric.Links {
		for _, to := range l.To {
			n.Links = append(n.Links, network.Cable{A: at[l.From], B: at[to], Count: max(l.Count, 1), Rate: l.Rate, Latency: l.Latency})
		}
	}
	var hosts []network.Host
	node := 0
	for _, g := range c.Groups {
		for range g.Count {
			for nic := range g.NICs {
				hosts = append(hosts, network.Host{Node: node, NIC: nic, Switch: at[g.Switches[min(nic, len(g.Switches)-1)]]})
			}
			node++
		}
	}
	return n, hosts
}
