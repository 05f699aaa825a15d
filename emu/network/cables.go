package network

// Trunk is a bundle of parallel cables between two switches.
type Trunk struct {
	A, B   int // positions in Switches
	Cables int
}

// wired is a way that knows what joins what.
type wired interface {
	leaf(host int) int
	trunks() []Trunk
	links() []link
	// around returns a way that avoids dead ports, where it can.
	around(dead []bool) way
}

// Leaf returns the switch that a host hangs on, by their positions.
func (n *Network) Leaf(host int) int { return n.way.(wired).leaf(host) }

// Trunks lists what joins the switches of one plane, in order of A and B, lower
// tiers being A.
func (n *Network) Trunks() []Trunk { return n.way.(wired).trunks() }

func (c *clos) leaf(host int) int { return c.leafOf[host] }

func (c *clos) trunks() []Trunk {
	var all []Trunk
	if c.tiers == 1 {
		return nil
	}
	leaves := c.leaves / c.isles
	spine := func(isle, pod, j int) int { return c.leaves + (isle*c.pods+pod)*c.spines + j }
	for l := range c.leaves {
		for j := range c.spines {
			all = append(all, Trunk{l, spine(l/leaves, l%leaves/c.leafPod, j), c.bundle})
		}
	}
	if c.tiers == 2 {
		return all
	}
	first, group := c.leaves+c.isles*c.pods*c.spines, c.cores/c.spines
	for i := range c.isles * c.pods * c.spines {
		isle, j := i/(c.pods*c.spines), i%c.spines
		for k := range group {
			all = append(all, Trunk{c.leaves + i, first + isle*c.cores + j*group + k, c.coreBundle})
		}
	}
	return all
}

func (g *graph) leaf(host int) int { return g.at[host] }

func (g *graph) trunks() []Trunk {
	var all []Trunk
	for a, out := range g.out {
		for _, e := range out {
			if a < e.to {
				all = append(all, Trunk{a, e.to, e.links})
			}
		}
	}
	return all
}
