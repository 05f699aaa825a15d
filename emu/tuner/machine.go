package tuner

import (
	"slices"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/shaping"
)

// CPU is a maker of host processors.
type CPU uint8

// The makers NCCL's model tells apart.
const (
	Intel CPU = iota
	AMD
	OtherCPU
)

// Communicator is what the model knows of a cluster.
type Communicator struct {
	Ranks, Nodes int          // an NVLink domain counts as one node
	NICs         int          // on a node, at least 1
	NIC          shaping.Rate // of one NIC's wire, one way
	// Reported is the latency of a hop between nodes as the network's plugin has it;
	// InfiniBand's has none.
	Reported shaping.Duration
	GPU      Generation
	CPU      CPU
	// Channels that rings and trees have open.
	Channels int
	// Version of NCCL is 2.Version.
	Version int
	// CollNet: switches of the fabric reduce, and NCCL may use them.
	CollNet bool
	// NVLS: switches of a node, or NVLink domain, reduce, and NCCL may use them.
	NVLS bool
}

// perNode is how many ranks a node has.
func (c *Communicator) perNode() int { return max(c.Ranks/max(c.Nodes, 1), 1) }

// row selects a cap by the number of nodes.
func (c *Communicator) row() int { return min(max(c.Nodes, 1), 3) - 1 }

// graph is what NCCL's search finds: channels, and how fast each may be inside
// a node and between nodes. The channels that are opened are twice as many;
// the model counts those that were found.
type graph struct {
	channels     int
	intra, inter shaping.Rate
}

// maxFound is half of MAXCHANNELS, as what is found is doubled.
const maxFound = 32

// ring returns the graph of rings. On one node the most that the NVLinks carry in
// channels of one speed; of equals the one with fewer, faster channels. Over
// several each NIC has a channel, at the highest speed that NIC and NVLinks both
// carry: a ring's channel has one speed, inside a node and between nodes.
func (c *Communicator) ring() graph {
	nvlink := nvlinkRate(c.GPU, c.Version)
	if c.Nodes == 1 {
		return fastest(speedsIntra[c.GPU], nvlink, maxFound, nvlink)
	}
	return fastest(speedsInter[c.GPU], nvlink, max(c.NICs, 1), c.nic())
}

// tree returns the graph of trees, and of CollNet: that of rings, whose channels
// the search then speeds up inside a node, step by step while they are slower
// there than twice what they are between nodes (ncclTopoCompute, second pass).
func (c *Communicator) tree() graph {
	g := c.ring()
	if c.Nodes == 1 {
		return g
	}
	nvlink, speeds := nvlinkRate(c.GPU, c.Version), speedsInter[c.GPU]
	for _, v := range slices.Backward(speeds) {
		if v *= mbps; v > g.intra && g.intra < 2*g.inter && shaping.Rate(g.channels)*v <= nvlink {
			g.intra = v
		}
	}
	return g
}

// nic is what NCCL takes a NIC to carry: its wire or its slot.
func (c *Communicator) nic() shaping.Rate { return min(c.NIC, pcieRate[c.GPU]) }

// fastest returns the most that total carries in at most the given number of
// channels, none faster than most.
func fastest(speeds []shaping.Rate, total shaping.Rate, channels int, most shaping.Rate) graph {
	var best graph
	for _, v := range speeds {
		v *= mbps
		k := min(channels, int(total/v))
		if v <= most && shaping.Rate(k)*v > shaping.Rate(best.channels)*best.inter {
			best = graph{k, v, v}
		}
	}
	if best.channels == 0 { // slower than the slowest that NCCL tries
		return graph{1, max(min(total, most), 1), max(min(total, most), 1)}
	}
	return best
}

// switched returns the graph of NVLS: a channel for each head.
func (c *Communicator) switched() graph {
	nvlink := nvlinkRate(c.GPU, c.Version)
	speeds, heads, most := speedsIntra[c.GPU], c.Heads(), nvlink
	if c.Nodes > 1 {
		speeds, most = speedsInter[c.GPU], c.nic()
	}
	each := nvlink / shaping.Rate(heads)
	for _, v := range speeds {
		if v *= mbps; v <= min(each, most) {
			return graph{heads, v, v}
		}
	}
	return graph{heads, each, min(each, most)}
}

// Heads is how many GPUs of a node NVLS scatters to: each on one node, and each
// with a NIC on several, up to its limit.
func (c *Communicator) Heads() int {
	if c.Nodes == 1 {
		return min(c.perNode(), collective.NVLSHeads)
	}
	return min(max(c.NICs, 1), c.perNode(), collective.NVLSHeads)
}

// Graph returns what the search finds for rings and trees: how many channels,
// and how fast each may be inside a node and between nodes.
func (c *Communicator) Graph() (channels int, intra, inter shaping.Rate) {
	g := c.ring()
	return g.channels, g.intra, g.inter
}
