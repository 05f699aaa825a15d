package tuner

import (
	"math/bits"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/shaping"
)

// each is how fast a channel of a graph is taken to be: up to two nodes as fast
// as inside a node.
func (c *Communicator) each(g graph) shaping.Rate {
	if c.Nodes <= 2 {
		return g.intra
	}
	return g.inter
}

// treeFactor multiplies the bandwidth of a tree, in ‰, by log2(bytes / 64) from
// 64 B to 512 MiB, for LL, LL128 and Simple (treeCorrectionFactor).
var treeFactor = [3][24]int64{
	{1000, 1000, 1000, 1000, 900, 800, 700, 700, 700, 700, 600, 500, 400, 400, 500, 600, 700, 800, 900, 1000, 1000, 1000, 1000, 1000},
	{1000, 1000, 1000, 1000, 1000, 900, 800, 800, 800, 700, 600, 600, 600, 600, 600, 600, 800, 900, 900, 900, 900, 1000, 1000, 1000},
	{900, 900, 900, 900, 900, 900, 900, 800, 700, 600, 600, 500, 500, 500, 500, 600, 700, 800, 700, 700, 800, 900, 900, 900},
}

// corrected applies the factor of a size.
func corrected(bw shaping.Rate, p collective.Protocol, bytes shaping.Bytes) shaping.Rate {
	f := treeFactor[index(p)]
	if at := bits.Len64(uint64(bytes)/64) - 1; at >= 0 && at < len(f) {
		return bw.Permille(f[at])
	}
	return bw
}

// llCap returns the cap of LL over all channels. See llMax.
func (c *Communicator) llCap() shaping.Rate {
	g := c.GPU
	if g == Hopper && c.Version < sinceHopperLL {
		g = Ampere
	}
	if c.Nodes > 1 && g < Hopper {
		g = Volta
		if c.CPU == AMD {
			g = Ampere
		}
	}
	return llMax[g][c.row()]
}

// ringRate returns the bus bandwidth of a ring.
func (c *Communicator) ringRate(op collective.Op, p collective.Protocol) shaping.Rate {
	g := c.ring()
	n := shaping.Rate(g.channels)
	bus := n * c.each(g)
	switch p {
	case collective.LL:
		return min(c.llCap(), c.ringLL(op, bus))
	case collective.LL128:
		return min(bus.Permille(920), n*ringLL128[c.GPU])
	default:
		return bus
	}
}

// ringLL returns what of the bus LL gets: half, and before 2.19 a quarter, or a
// third where nothing is reduced on one node.
func (c *Communicator) ringLL(op collective.Op, bus shaping.Rate) shaping.Rate {
	switch {
	case c.Version >= sinceHalfLL:
		return bus / 2
	case c.Nodes > 1 || op == collective.AllReduce || op == collective.Barrier || op == collective.Reduce:
		return bus / 4
	default:
		return bus / 3
	}
}

// treeRate returns the bus bandwidth of a tree.
func (c *Communicator) treeRate(p collective.Protocol) shaping.Rate {
	g := c.tree()
	n, row := shaping.Rate(g.channels), c.row()
	bus := min((n * c.each(g)).Permille(920), n*treeMax[c.GPU][row])
	switch p {
	case collective.LL:
		return min(bus*10/38, c.llCap())
	case collective.LL128:
		if c.Nodes == 1 {
			bus = bus * 7 / 9
		} else {
			bus = bus * 120 / 128
		}
		return min(bus, n*treeLL128[c.GPU][row])
	default:
		return bus
	}
}

// nvlsTime returns what NVLS or NVLSTree needs beyond its latency. The bandwidth
// that versions before 2.28 reckon with is that of an all-reduce's bytes when 5/6 of
// it are taken, later ones' a bus bandwidth as of a ring.
func (c *Communicator) nvlsTime(op collective.Op, tree bool, bytes shaping.Bytes, byRing func(shaping.Rate) shaping.Duration) shaping.Duration {
	bus := c.nvlsRate(op, tree)
	reduces := op == collective.AllReduce || op == collective.Barrier
	switch {
	case c.Version < sinceNVLSSteps && reduces:
		return (bus * 5 / 6).Time(bytes)
	case c.Version < sinceNVLSSteps:
		return bus.Time(bytes)
	case tree && c.GPU == Blackwell && c.CPU != OtherCPU:
		return byRing(corrected(bus, collective.Simple, bytes))
	default:
		return byRing(bus)
	}
}

// nvlsRate returns the bandwidth of NVLS or NVLSTree. An all-reduce moves
// both ways at once. One node has nothing between nodes that could limit it.
func (c *Communicator) nvlsRate(op collective.Op, tree bool) shaping.Rate {
	if c.Version < sinceNVLSSteps {
		return c.nvlsRateOf227(op, tree)
	}
	g := c.switched()
	n := shaping.Rate(g.channels)
	each := g.intra.Permille(nvlsEfficiency[c.GPU]) * (n - 1) / n
	if op == collective.AllReduce || op == collective.Barrier {
		each *= 2
	} else {
		p := shaping.Rate(c.perNode())
		each = each * (p - 1) / p
	}
	if c.Nodes > 1 {
		inter := g.inter
		if tree && c.Nodes == 2 {
			inter *= 2
		}
		each = min(each, inter)
	}
	if most := nvlsTreeMax[c.GPU][c.row()]; tree && most > 0 {
		each = min(each, most)
	}
	return n * each
}

// nvlsRateOf227 is what nvlsRate was up to 2.27: a channel's speed, without
// efficiency, and for trees of more than two nodes half of that between nodes.
func (c *Communicator) nvlsRateOf227(op collective.Op, tree bool) shaping.Rate {
	g := c.switched()
	inter := g.inter
	if c.Nodes == 1 {
		inter = g.intra
	}
	n, p := shaping.Rate(g.channels), shaping.Rate(c.perNode())
	switch {
	case tree && c.Nodes > 2:
		return n * min(g.intra, inter/2)
	case op == collective.AllReduce || op == collective.Barrier:
		return n * min(g.intra, inter)
	default:
		return n * min(g.intra*(p-1)/p, inter.Permille(900))
	}
}

// collnetRate returns the algorithm bandwidth of CollNetDirect or CollNetChain.
// Where a node has more GPUs than NICs, each head carries for several.
func (c *Communicator) collnetRate(op collective.Op, chain bool) shaping.Rate {
	g := c.tree()
	n, p := shaping.Rate(g.channels), shaping.Rate(c.perNode())
	if chain {
		return n * g.intra / 2
	}
	if op != collective.AllReduce && op != collective.Barrier {
		return p * min(g.intra, g.inter.Permille(900))
	}
	// f = r − (r − 1)/2 = (r + 1)/2 for r = p/n GPUs a NIC
	bus := n * g.intra * 2 * n / (p + n)
	if c.GPU >= Hopper {
		bus = bus.Permille(850)
	}
	return bus / 2
}
