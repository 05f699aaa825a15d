package network

import (
	"fmt"

	"github.com/railyard/railyard/shaping"
)

// clos is a folded Clos network of one to three tiers. Leaves have hosts below
// and spines above; with three tiers, leaves and spines form pods, and cores
// join the pods. Spine j of every pod hangs on the same cores.
//
//	cores        c0 c1                     c2 c3
//	spines   s0       s1               s0       s1       (two pods of two
//	leaves   l0       l1               l0       l1        leaves each)
type clos struct {
	*Network
	leafOf     []int // of each host
	seatOf     []int // its place among the hosts of the leaf
	leaves     int
	rails      int
	below      int // hosts a leaf is built for
	up         int // links up of a leaf
	tiers      int
	pods       int // 1 with two tiers
	leafPod    int // leaves a pod
	spines     int // of a pod
	cores      int
	podLinks   int // links up of a spine
	isles      int // rail-only: networks that never meet
	isleOf     []int
	pooled     bool
	hosts      []int // on each leaf
	bundle     int   // parallel links of a leaf to a spine
	coreBundle int

	leafUp, leafDown []int // first port of each leaf, up and down
	podUp, podDown   []int // first port of each pod

	dead []bool // ports not to be taken; nil: none
}

// buildClos chooses the fewest tiers that join all hosts.
func (n *Network) buildClos() error {
	c := &clos{Network: n, pooled: n.Routing.spreads(), isles: 1, pods: 1, tiers: 1}
	n.way = c
	if err := c.seat(); err != nil {
		return err
	}
	if n.Shape == Single {
		return c.single()
	}
	if c.leaves > c.isles {
		if err := c.climb(); err != nil {
			return err
		}
	}
	c.number()
	c.count()
	c.addPorts()
	return nil
}

// down returns how many hosts a leaf has room for: half of its ports, more when
// oversubscribed.
func (c *clos) down() int {
	if c.PerSwitch > 0 {
		return c.PerSwitch
	}
	return c.Radix * c.Oversubscription / (c.Oversubscription + 1)
}

// seat puts hosts on leaves.
func (c *clos) seat() error {
	c.leafOf, c.isleOf, c.below = make([]int, len(c.Hosts)), make([]int, len(c.Hosts)), c.down()
	switch c.Shape {
	case Single:
		c.leaves = 1
		return nil
	case FatTree:
		for i := range c.Hosts {
			c.leafOf[i] = i / c.down()
		}
		c.leaves = ceil(len(c.Hosts), c.down())
		return nil
	}
	rails, nodes := 0, 0
	for _, h := range c.Hosts {
		rails, nodes = max(rails, h.NIC+1), max(nodes, h.Node+1)
	}
	units, err := c.units(nodes)
	if err != nil {
		return err
	}
	c.leaves, c.rails = units*rails, rails
	if c.Shape == RailOnly {
		c.isles = rails
	}
	for i, h := range c.Hosts {
		u := c.unitOf(h.Node)
		if c.Shape == RailOnly { // a rail's leaves stand together
			c.leafOf[i], c.isleOf[i] = h.NIC*units+u, h.NIC
		} else {
			c.leafOf[i] = u*rails + h.NIC
		}
	}
	return nil
}

// units settles the size of a unit and returns how many there are.
func (c *clos) units(nodes int) (int, error) {
	largest, units := c.Unit, 0
	if c.UnitOf != nil {
		sizes := map[int]int{}
		for _, u := range c.UnitOf {
			sizes[u]++
			largest, units = max(largest, sizes[u]), max(units, u+1)
		}
	} else {
		if largest == 0 {
			largest = c.down()
		}
		c.Unit, units = largest, ceil(nodes, largest)
	}
	if largest > c.down() {
		return 0, fmt.Errorf("units of %d servers: a leaf of a %d-port switch, oversubscribed %d:1, has room for %d", largest, c.Radix, c.Oversubscription, c.down())
	}
	c.below = largest
	return units, nil
}

func (c *clos) unitOf(node int) int {
	if c.UnitOf != nil {
		return c.UnitOf[node]
	}
	return node / c.Unit
}

func (c *clos) single() error {
	if len(c.Hosts) > c.Radix {
		return fmt.Errorf("%d NICs on a single switch: it has %d ports; take fewer, or a fat-tree", len(c.Hosts), c.Radix)
	}
	c.Switches = []Switch{{"switch0", 0, len(c.Hosts)}}
	c.HostCables = len(c.Hosts)
	return nil
}

// number gives each host its place on its leaf. Static tables go by it: those of
// one leaf are reached by different spines.
func (c *clos) number() {
	c.seatOf = make([]int, len(c.Hosts))
	taken := make([]int, c.leaves)
	for i, l := range c.leafOf {
		c.seatOf[i] = taken[l]
		taken[l]++
	}
	c.hosts = taken
}

// leafName names a leaf, after its unit and rail where it has one.
func (c *clos) leafName(leaf int) string {
	switch {
	case c.Shape == FatTree:
		return fmt.Sprintf("leaf%d", leaf)
	case c.Shape == RailOnly:
		return fmt.Sprintf("unit%d/rail%d", leaf%(c.leaves/c.isles), leaf/(c.leaves/c.isles))
	default:
		return fmt.Sprintf("unit%d/rail%d", leaf/c.rails, leaf%c.rails)
	}
}

// climb adds spines, and cores where a spine has fewer ports than there are
// leaves. All leaves are built alike, for as many hosts as the fullest has room
// for, and links up are whole: rounding up keeps the ratio from being exceeded.
func (c *clos) climb() error {
	c.up = ceil(c.below, c.Oversubscription)
	if c.below+c.up > c.Radix {
		return fmt.Errorf("a leaf with %d NICs needs %d links up, oversubscribed %d:1, and its switch has %d ports; put fewer on a switch, or oversubscribe more",
			c.below, c.up, c.Oversubscription, c.Radix)
	}
	leaves := c.leaves / c.isles // of one network
	c.tiers = 2
	if leaves <= c.Radix {
		c.leafPod = leaves
		c.spines = atLeast(ceil(leaves*c.up, c.Radix), c.up)
		c.bundle = c.up / c.spines
		return nil
	}
	c.tiers = 3
	half := c.Radix / 2
	c.leafPod, c.spines, c.bundle = half, c.up, 1
	c.pods = ceil(leaves, c.leafPod)
	if c.pods > c.Radix {
		return fmt.Errorf("%d NICs: %d leaves of %d-port switches make %d pods, and a core joins %d; take fewer NICs, larger switches or oversubscription",
			len(c.Hosts), leaves, c.Radix, c.pods, c.Radix)
	}
	c.podLinks = half
	group := atLeast(ceil(c.pods*half, c.Radix), half) // cores above the spines of one position
	c.cores, c.coreBundle = group*c.spines, half/group
	return nil
}

// count lists switches and cables.
func (c *clos) count() {
	up := 0
	if c.tiers > 1 {
		up = c.up
	}
	for l := range c.leaves {
		c.Switches = append(c.Switches, Switch{c.leafName(l), 0, c.hosts[l] + up})
	}
	c.HostCables = len(c.Hosts)
	if c.tiers == 1 {
		return
	}
	c.TrunkCables = c.leaves * c.up
	for i := range c.isles * c.pods * c.spines {
		pod := i / c.spines % c.pods
		here := min(c.leafPod, c.leaves/c.isles-pod*c.leafPod)
		c.Switches = append(c.Switches, Switch{fmt.Sprintf("spine%d", i), 1, here*c.bundle + c.podLinks})
	}
	c.TrunkCables += c.isles * c.pods * c.spines * c.podLinks
	for i := range c.isles * c.cores {
		c.Switches = append(c.Switches, Switch{fmt.Sprintf("core%d", i), 2, c.pods * c.coreBundle})
	}
}

// addPorts adds what can be contended. Pools that carry all that hosts below
// can send, and receive, are left out unless asked for: their NICs are the limit.
func (c *clos) addPorts() {
	if c.tiers == 1 || !c.Pools && (c.pooled && c.Oversubscription == 1 || c.Aligned && c.leaves == c.rails) {
		return
	}
	for l := range c.leaves {
		if c.hosts[l] == 0 { // a unit whose servers lack the rail
			c.leafUp, c.leafDown = append(c.leafUp, none), append(c.leafDown, none)
			continue
		}
		c.leafUp = append(c.leafUp, c.bunch(c.leafName(l)+"/up", c.up))
		c.leafDown = append(c.leafDown, c.bunch(c.leafName(l)+"/down", c.up))
	}
	if c.tiers == 2 {
		return
	}
	for p := range c.isles * c.pods {
		links := c.spines * c.podLinks
		c.podUp = append(c.podUp, c.bunch(fmt.Sprintf("pod%d/up", p), links))
		c.podDown = append(c.podDown, c.bunch(fmt.Sprintf("pod%d/down", p), links))
	}
}

// bunch adds the ports for parallel links: one pool with the rates of all, or one
// port for each. It returns the first.
func (c *clos) bunch(name string, links int) int {
	if c.pooled {
		port := c.add(name, c.Rate*shaping.Rate(links))
		c.Ports[port].Spare = c.Oversubscription == 1
		return port
	}
	first := len(c.Ports)
	for l := range links {
		c.add(fmt.Sprintf("%s%d", name, l), c.Rate)
	}
	return first
}
