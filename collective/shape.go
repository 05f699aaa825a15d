package collective

import "fmt"

// Shape is what an algorithm may know of a cluster: which ranks share a node,
// and which rank of a node stands at which rail.
type Shape struct {
	Nodes []Group
	// NVLS: every node's GPUs are joined by NVSwitches that multicast and
	// reduce. SHARP: the fabric's switches reduce.
	NVLS, SHARP bool
	// Cross says by which NICs rings go from node to node.
	Cross Cross
}

// Cross says whether a ring leaves a node by the NIC that it entered by.
type Cross uint8

// The ways of rings.
const (
	KeepRail  Cross = iota // by the same
	CrossRail              // by that of another head
	// Alternate: by that of another head, and every second node is gone through
	// from there to here, so that what leaves by a rail enters by it, too.
	Alternate
)

// Group is the ranks of one node, or of the nodes of one NVLink domain, which
// count as one.
type Group struct {
	// Ranks of the communicator on this node, in the order of its GPUs.
	Ranks []int
	// Heads names, for each rail, the rank that stands nearest to the NIC on
	// it. Traffic of channel c leaves and enters by rail c mod len(Heads).
	Heads []int
	// Rings are orders in which rings may go round the node, all its ranks each,
	// where its GPUs are not joined from each to each alike: channel c takes
	// Rings[c mod len(Rings)]. None: the order of Ranks.
	Rings [][]int
}

// ring returns the order in which the ring of channel c goes round the node.
func (g Group) ring(c int) []int {
	if len(g.Rings) == 0 {
		return g.Ranks
	}
	return g.Rings[c%len(g.Rings)]
}

// NRanks returns the number of ranks in the communicator.
func (s Shape) NRanks() int {
	n := 0
	for _, g := range s.Nodes {
		n += len(g.Ranks)
	}
	return n
}

// Rails returns the largest number of rails any node stands on, at least 1.
func (s Shape) Rails() int {
	r := 1
	for _, g := range s.Nodes {
		r = max(r, len(g.Heads))
	}
	return r
}

// Head returns the rank at which channel c enters and leaves the node.
func (g Group) Head(c int) int {
	if len(g.Heads) == 0 {
		return g.Ranks[c%len(g.Ranks)]
	}
	return g.Heads[c%len(g.Heads)]
}

// Uniform returns nodes × gpus ranks in node order, each GPU with its own rail.
func Uniform(nodes, gpus int) Shape {
	s := Shape{Nodes: make([]Group, nodes)}
	for n := range s.Nodes {
		r := make([]int, gpus)
		for g := range r {
			r[g] = n*gpus + g
		}
		s.Nodes[n] = Group{Ranks: r, Heads: r}
	}
	return s
}

// fewPeers reports a node whose ranks are too many for one SM's peers.
func (s Shape) fewPeers() error {
	for i, g := range s.Nodes {
		if n := len(g.Ranks); n > MaxPeers {
			return fmt.Errorf("node %d has %d ranks; the head of a channel takes in at most %d", i, n, MaxPeers)
		}
	}
	return nil
}

// fewPorts reports a node of more ranks than an NVSwitch joins.
func (s Shape) fewPorts() error {
	for i, g := range s.Nodes {
		if n := len(g.Ranks); n > MaxPorts {
			return fmt.Errorf("node %d has %d ranks; NVSwitches join at most %d", i, n, MaxPorts)
		}
	}
	return nil
}

// mostRanks returns how many ranks the largest node has.
func (s Shape) mostRanks() int {
	n := 0
	for _, g := range s.Nodes {
		n = max(n, len(g.Ranks))
	}
	return n
}

// fewNodes reports more nodes than one block of a switch has peers.
func (s Shape) fewNodes() error {
	if n := len(s.Nodes); n > MaxPeers {
		return fmt.Errorf("nodes %d: a switch tree joins at most %d here; use ring or tree", n, MaxPeers)
	}
	return nil
}

// seats says where the ranks are: in node order, and on which node.
type seats struct {
	order []int // ranks, node by node
	at    []int // position of each rank in order
	node  []int // of each rank
}

func newSeats(s Shape) seats {
	n := s.NRanks()
	t := seats{order: make([]int, 0, n), at: make([]int, n), node: make([]int, n)}
	for v, g := range s.Nodes {
		for _, r := range g.Ranks {
			t.at[r], t.node[r] = len(t.order), v
			t.order = append(t.order, r)
		}
	}
	return t
}
