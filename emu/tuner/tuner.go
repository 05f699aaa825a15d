package tuner

import (
	"math/bits"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/shaping"
)

// Communicator is what the model knows of a cluster.
type Communicator struct {
	Ranks, Nodes int
	NICs         int // on a node
	Channels     int
}

// Estimate is what the model says of one way to do an operation.
type Estimate struct {
	Algorithm string
	Protocol  collective.Protocol
	Time      shaping.Duration
}

// Estimates returns one estimate for each pair of algorithm and protocol that
// does the operation, in the order in which NCCL compares them. Bytes is the
// size of the larger buffer of a rank.
func Estimates(op collective.Op, c Communicator, bytes shaping.Bytes) []Estimate {
	var all []Estimate
	protocols := []collective.Protocol{collective.LL, collective.Simple}
	if op == collective.AllReduce {
		for _, p := range protocols {
			all = append(all, Estimate{"tree", p, c.tree(p, bytes)})
		}
	}
	for _, p := range protocols {
		all = append(all, Estimate{"ring", p, c.ring(op, p, bytes)})
	}
	return all
}

// Choose returns the cheapest estimate that ok allows, the first of equals.
func Choose(all []Estimate, ok func(Estimate) bool) (Estimate, bool) {
	var best Estimate
	found := false
	for _, e := range all {
		if ok(e) && (!found || e.Time < best.Time) {
			best, found = e, true
		}
	}
	return best, found
}

// nodeIndex selects a cap by the number of nodes.
func (c Communicator) nodeIndex() int { return min(c.Nodes, 3) - 1 }

// bus returns the bus bandwidth that all channels have together.
func (c Communicator) bus() shaping.Rate {
	if c.Nodes == 1 {
		return busNVLink
	}
	return min(busNVLink, busNIC*shaping.Rate(max(c.NICs, 1)))
}

// ring: base + steps; all but the inter-node ones at the latency of NVLink.
func (c Communicator) ring(op collective.Op, p collective.Protocol, bytes shaping.Bytes) shaping.Duration {
	steps, inter := c.Ranks-1, c.Nodes-1
	if op == collective.AllReduce {
		steps, inter = 2*steps, 2*inter
	}
	i := pick(p)
	intra := ringLatency.nvlink[i]
	if c.Nodes > 1 {
		intra = max(intra, postOverhead*shaping.Duration(1+2*i))
	}
	lat := ringLatency.base[i] + shaping.Duration(steps-inter)*intra + shaping.Duration(inter)*ringLatency.network[i]
	plateau := c.Nodes > 1 && p == collective.Simple && op == collective.AllReduce
	if plateau && int64(bytes)/int64(c.Channels*c.Ranks) >= 64 {
		lat = lat * 14 / 10 // "plateau effect of ring"
	}
	bw := c.bus()
	if p == collective.LL {
		bw = min(llMax[c.nodeIndex()], bw/2)
	}
	// Bus to algorithm bandwidth: × n / steps.
	return lat + bw.Time(bytes)*shaping.Duration(max(steps, 1))/shaping.Duration(c.Ranks)
}

// tree: base + up and down, the chain inside the node and the tree between.
func (c Communicator) tree(p collective.Protocol, bytes shaping.Bytes) shaping.Duration {
	i := pick(p)
	chain := shaping.Duration(c.Ranks/c.Nodes - 1)
	depth := shaping.Duration(bits.Len(uint(c.Nodes)) - 1)
	lat := treeLatency.base[i] + 2*(chain*treeLatency.nvlink[i]+depth*treeLatency.network[i])
	bw := min(c.bus().Permille(920), treeCap[c.nodeIndex()]*shaping.Rate(c.Channels))
	if p == collective.LL {
		bw = min(bw*10/38, llMax[c.nodeIndex()])
	}
	if at := bits.Len64(uint64(bytes)/64) - 1; at >= 0 && at < len(treeFactor[i]) {
		bw = bw.Permille(treeFactor[i][at])
	}
	return lat + 2*bw.Time(bytes)
}
