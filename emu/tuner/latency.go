package tuner

import (
	"math/bits"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/shaping"
)

// index returns the position of a protocol in NCCL's tables.
func index(p collective.Protocol) int {
	switch p {
	case collective.LL:
		return 0
	case collective.LL128:
		return 1
	default:
		return 2
	}
}

// log2 returns the integer logarithm of n, at least 0.
func log2(n int) shaping.Duration { return shaping.Duration(max(bits.Len(uint(n)), 1) - 1) }

// steps returns how many a ring takes, all and those between nodes.
func (c *Communicator) steps(op collective.Op) (all, inter int) {
	switch op {
	case collective.AllReduce, collective.Barrier:
		return 2 * (c.Ranks - 1), 2 * (c.Nodes - 1)
	case collective.AllGather, collective.ReduceScatter:
		return c.Ranks - 1, c.Nodes - 1
	default: // broadcast and reduce go round once
		return c.Ranks, c.Nodes
	}
}

// network returns the latency of a hop between nodes. With one GPU a node
// nothing hides it, and every algorithm has the tree's. What the network's plugin
// reports comes on top, for Simple twice: it flushes, too.
func (c *Communicator) network(own shaping.Duration, p collective.Protocol) shaping.Duration {
	if c.perNode() == 1 {
		own = constants(c.Version).treeHop.network[index(p)]
	}
	if p == collective.Simple {
		own += c.Reported
	}
	return own + c.Reported
}

// post returns what posting to the NIC costs.
func (c *Communicator) post() shaping.Duration {
	if c.CPU == AMD {
		return postAMD
	}
	return postIntel
}

// ringLatency: base + steps; those inside a node at the latency of NVLink, but
// no less than a post, thrice that for Simple.
func (c *Communicator) ringLatency(op collective.Op, p collective.Protocol) shaping.Duration {
	r, i := constants(c.Version), index(p)
	intra, inter := r.ringHop.nvlink[i], c.network(r.ringHop.network[i], p)
	if op == collective.Broadcast || op == collective.Reduce {
		return r.ring[i] + c.onceRound(p)
	}
	if c.Nodes > 1 {
		post := c.post()
		if p == collective.Simple {
			post *= 3
		}
		intra = max(intra, post)
	}
	all, between := c.steps(op)
	return r.ring[i] + shaping.Duration(all-between)*intra + shaping.Duration(between)*inter
}

// onceRound is the latency of broadcast and reduce: one hop where all channels
// go the same way, else one for each rank, a tree's for Simple, which stands for
// the latency of chunks. On one node with a switch all channels go the same way;
// between nodes they do where there is one NIC a node.
func (c *Communicator) onceRound(p collective.Protocol) shaping.Duration {
	r, i := constants(c.Version), index(p)
	if c.Nodes == 1 {
		return r.ringHop.nvlink[i]
	}
	own := r.ringHop.network[i]
	if c.NICs <= 1 {
		return c.network(own, p)
	}
	if p == collective.Simple {
		own = r.treeHop.network[i]
	}
	return shaping.Duration(c.Ranks) * c.network(own, p)
}

// treeLatency: base + up and down, the chain inside the node, the tree between.
func (c *Communicator) treeLatency(p collective.Protocol) shaping.Duration {
	r, i := constants(c.Version), index(p)
	chain := shaping.Duration(c.perNode() - 1)
	return r.tree[i] + 2*(chain*r.treeHop.nvlink[i]+log2(c.Nodes)*c.network(r.treeHop.network[i], p))
}

// collnetLatency is that of CollNetDirect, or of CollNetChain: into the node's
// heads and out again, and once over the network.
func (c *Communicator) collnetLatency(chain bool) shaping.Duration {
	others := shaping.Duration(c.perNode() - 1)
	if chain {
		return 2*others*chainHop + c.network(chainNet, collective.Simple)
	}
	return 2*(min(1, others)*collnetHop+others*collnetArity) + c.network(collnetNet, collective.Simple)
}

// nvlsLatency is that of NVLS, over several nodes with SHARP between them.
func (c *Communicator) nvlsLatency() shaping.Duration {
	r := constants(c.Version)
	lat := r.nvlsBase + r.nvls
	if c.Nodes > 1 {
		lat += c.network(r.nvlsNetwork, collective.Simple)
	}
	return lat
}

// nvlsTreeLatency: NVLS inside the node, a tree between.
func (c *Communicator) nvlsTreeLatency() shaping.Duration {
	r := constants(c.Version)
	hops := 2 * log2(c.Nodes)
	if c.Version < sinceLogTree {
		hops = shaping.Duration(2 * (c.Nodes - 1))
	}
	return r.nvlsTree + r.nvls + hops*c.network(r.nvlsTreeNet, collective.Simple)
}

// patLatency: a logarithm of hops, at 1/3.5 of a network hop each, and a cost
// for each rank.
func (c *Communicator) patLatency() shaping.Duration {
	return patBase + log2(c.Nodes)*c.network(patNet, collective.Simple)*10/35 + shaping.Duration(c.Ranks)*patRank
}
