package fabric

import "github.com/railyard/railyard/collective"

// Shape returns what an algorithm may know of a communicator whose rank i is
// GPU comm[i]: nodes in the order of their lowest rank, rails by the GPU that
// owns each NIC, or the rank in its place when that GPU takes no part.
func (f *Fabric) Shape(comm []int) collective.Shape {
	s := collective.Shape{NVLS: true, SHARP: f.link.SHARP > 0}
	at := map[int]int{} // node → position in s.Nodes
	for rank, gpu := range comm {
		n := f.NodeOf(gpu)
		i, ok := at[n]
		if !ok {
			i = len(s.Nodes)
			at[n] = i
			s.Nodes = append(s.Nodes, collective.Group{})
		}
		s.Nodes[i].Ranks = append(s.Nodes[i].Ranks, rank)
	}
	for i := range s.Nodes {
		g := &s.Nodes[i]
		n := &f.nodes[f.NodeOf(comm[g.Ranks[0]])]
		s.NVLS = s.NVLS && n.system.NVLink.NVLS.Rate > 0
		for rail := range n.nics {
			g.Heads = append(g.Heads, head(comm, g.Ranks, n.owner(rail), rail))
		}
	}
	return s
}

func head(comm, ranks []int, owner, rail int) int {
	for _, r := range ranks {
		if comm[r] == owner {
			return r
		}
	}
	return ranks[rail%len(ranks)]
}

// All returns the communicator of every GPU in the cluster, in order.
func (f *Fabric) All() []int {
	comm := make([]int, f.GPUs())
	for i := range comm {
		comm[i] = i
	}
	return comm
}
