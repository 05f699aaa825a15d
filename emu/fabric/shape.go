package fabric

import (
	"slices"

	"github.com/railyard/railyard/collective"
)

// Shape returns what an algorithm may know of a communicator whose rank i is
// GPU comm[i]: nodes in the order of their lowest rank, rails by the GPU that
// owns each NIC, or the rank in its place when that GPU takes no part.
func (f *Fabric) Shape(comm []int) collective.Shape {
	s := collective.Shape{NVLS: true, SHARP: f.link.SHARP > 0}
	at := map[int]int{} // node → position in s.Nodes
	for rank, gpu := range comm {
		n := f.together(f.NodeOf(gpu))
		i, ok := at[n]
		if !ok {
			i = len(s.Nodes)
			at[n] = i
			s.Nodes = append(s.Nodes, collective.Group{})
		}
		s.Nodes[i].Ranks = append(s.Nodes[i].Ranks, rank)
	}
	for i := range s.Nodes {
		f.finish(&s, &s.Nodes[i], comm)
	}
	s.Cross = f.crossing(&s, comm)
	return s
}

// finish adds to the ranks of a group what stands at its rails, in which orders
// rings go round it, and whether its NVSwitch computes.
func (f *Fabric) finish(s *collective.Shape, g *collective.Group, comm []int) {
	var nodes []int
	for _, r := range g.Ranks {
		if n := f.NodeOf(comm[r]); !slices.Contains(nodes, n) {
			nodes = append(nodes, n)
		}
	}
	for _, i := range nodes {
		n := &f.nodes[i]
		s.NVLS = s.NVLS && n.computes()
		ranks := slices.DeleteFunc(slices.Clone(g.Ranks), func(r int) bool { return f.NodeOf(comm[r]) != i })
		for rail := range n.nics {
			g.Heads = append(g.Heads, head(comm, ranks, n.firstGPU+n.owners[rail], rail))
		}
		if len(nodes) == 1 {
			g.Rings = n.ringsOf(comm, ranks)
		}
	}
	if n := &f.nodes[nodes[0]]; len(nodes) > 1 && n.slice != nil {
		g.Rings = f.ringsOver(n, comm, g.Ranks)
	}
}

// computes reports whether an NVSwitch that joins all GPUs reduces.
func (in *inside) computes() bool { return in.switched && in.system.NVLink.NVLS.Rate > 0 }

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
