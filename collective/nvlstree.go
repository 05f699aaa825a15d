package collective

import "fmt"

// NVLSTree, for all_reduce on several nodes, or NVLink domains: the NVSwitch of
// each reduces to one head a channel, heads reduce and broadcast along the double binary tree of
// tree.go, and the switch multicasts. For n ranks, N nodes, buffers of S bytes,
// counting the channels that a rank heads as 1/g of all, g = n/N:
//
//	steps                  1 a block
//	chain of steps         2 × (depth of the tree) + 4
//	NVLink out of a GPU    (g+1)/g × S        into it  (g+1)/g × S
//	NIC of a head          S/g to its parent, S/g to each of its children
//	bytes on all links     (n + 5N − 2) × S
//
// On all links are n × S to the switches, N × S from them to the heads, 2(N−1) × S
// along the tree, N × S from the heads, and N × S that the switches multicast: what
// leaves a switch for many counts once.
//
// On two nodes every NIC sends S/g and receives S/g, where a ring's does almost
// 2 S/g: then the bus bandwidth may be almost twice what the NICs carry.
//
// n = 4 as two nodes of two ranks, channel 0, whose heads are 0 and 2; 0 is the
// root:
//
//	2 ─┐                                                 ┌► 2
//	   ├► [NVSwitch] ► 2 ─ ─ ► 0 ─ ─ ► 2 ► [Multicast] ──┤
//	3 ─┘                       │                         └► 3
//	0 ─┐                       │                         ┌► 0
//	   ├► [NVSwitch] ────────► 0 ──────────► [Multicast]─┤
//	1 ─┘                                                 └► 1
//
// B. Klenk, N. Jiang, G. Thorson, L. Dennison: An in-network architecture for
// accelerating shared-memory multiprocessor collectives, 47th International
// Symposium on Computer Architecture (ISCA), 2020. P. Sanders, J. Speck, J. L.
// Träff: Two-tree algorithms for full bandwidth broadcast, reduction and scan,
// Parallel Computing 35 (2009). Stages as in NCCL 2.30, src/device/all_reduce.h and
// src/graph/connect.cc (NVLS_TREE).
var nvlstree = Algorithm{
	Name:      "nvlstree",
	Ops:       []Op{AllReduce},
	About:     "NVSwitches inside the nodes, a double binary tree between them; for long messages",
	Protocols: []Protocol{Simple},
	When: "2 or more nodes, or NVLink domains, of at most 576 ranks whose NVSwitches compute, more than 4 ranks in all; sum, min, " +
		"max of half, bfloat16 and 32- and 64-bit integers, sum of float and double",
	Legal:     nvlstreeLegal,
	Paper:     "Klenk et al., ISCA 2020; Sanders, Speck, Träff, Parallel Computing 35 (2009)",
	Steps:     func(Op, Shape) int { return 1 },
	Wire:      nvlstreeWire,
	StepsText: "1",
	WireText:  "(n + 5N − 2) S",
	Build:     buildNVLSTree,
}

func nvlstreeLegal(u Use, s Shape) error {
	if len(s.Nodes) < 2 {
		return fmt.Errorf("nodes %d: it takes 2 or more; inside one use nvls", len(s.Nodes))
	}
	if n := s.NRanks(); n <= nvlsRanks {
		return fmt.Errorf("ranks %d: it takes more than %d to be worth it; use ring or tree", n, nvlsRanks)
	}
	return nvlsNodes(u, s)
}

func nvlstreeWire(_ Op, s Shape, bytes int64) int64 {
	return int64(s.NRanks()+5*len(s.Nodes)-2) * bytes
}

func buildNVLSTree(op Op, s Shape, o Options) (*Plan, error) {
	o.Channels *= nvlstreeLanes
	p, err := draft("nvlstree", op, s, o, 1, 1)
	if err != nil {
		return nil, err
	}
	if err := s.fewPorts(); err != nil {
		return nil, err
	}
	f := newForest(s, p.Channels)
	p.Blocks, p.Depth = p.Channels*6, f.nodeDepth()+2
	p.Ports = s.mostRanks()
	p.Heads = min(p.Ports, NVLSHeads) / nvlstreeLanes
	p.ChunkBytes = NVLSChunk
	if len(s.Nodes) >= NVLSTreeFar {
		p.ChunkBytes = NVLSTreeFarChunk
	}
	p.ChunkBytes *= int64(max(p.Heads, 1))
	return NewPlan(p, func(rank int) []Block {
		blocks := make([]Block, 0, p.Blocks)
		for c := range p.Channels {
			blocks = append(blocks, f.nvlsBlocks(rank, c)...)
		}
		return blocks
	}), nil
}

// nvlstreeLanes is how many channels of the plan stand for one that is asked for.
// In NCCL each channel has all heads, so that an SM makes 2 + 2/g passes over its
// share of the data. Here each has one, whose SM makes 4 where others make 2: with
// half of the data on it, it is no bottleneck either.
const nvlstreeLanes = 2

// NVLSTree's chunk is smaller from NVLSTreeFar nodes on: at most
// NVLSTreeFarChunk bytes for one head (NCCL 2.30, src/transport/nvls.cc).
const (
	NVLSTreeFar      = 4        // nodes
	NVLSTreeFarChunk = 64 << 10 // bytes
)

// nvlsBlocks returns what a rank does on a channel; a head's switch and its part
// in the tree come with it.
func (f *forest) nvlsBlocks(rank, channel int) []Block {
	v := f.node[rank]
	ranks, head := f.shape.Nodes[v].Ranks, f.head(v, channel)
	block := func(s Step) Block { return Block{Channel: channel, Window: only(channel), Steps: []Step{s}} }
	give := block(Step{Kind: Send, Src: Ref{Input, 0}, Send: 1}).to([]int{head}, nvswitchOnly)
	take := block(Step{Kind: Recv, Dst: Ref{Output, 0}, Recv: 1}).from([]int{head}, multicastOnly)
	if rank != head {
		return []Block{give, take}
	}
	all := FirstPeers(len(ranks))
	sum := block(Step{Kind: Forward, Recv: all, Send: 1}).from(ranks, nil).to([]int{head}, nil)
	spread := block(Step{Kind: Forward, Recv: 1, Send: all}).from([]int{head}, nil).to(ranks, nil)
	sum.Unit, spread.Unit = NVSwitch, Multicast

	var parent, children []int
	t := f.tree(channel)
	if up := t.parent[v]; up >= 0 {
		parent = []int{f.head(up, channel)}
	}
	for _, down := range t.children[v] {
		children = append(children, f.head(down, channel))
	}
	kin := append([]int{head}, children...) // the node's own switch comes first
	sums, casts := make([]Unit, len(kin)), make([]Unit, len(kin))
	sums[0], casts[0] = NVSwitch, Multicast
	from := FirstPeers(len(kin))
	if parent == nil {
		turn := block(Step{Kind: Forward, Recv: from, Send: from}).from(kin, sums).to(kin, casts)
		return []Block{give, take, sum, spread, turn}
	}
	rise := block(Step{Kind: Forward, Recv: from, Send: 1}).from(kin, sums).to(parent, nil)
	fall := block(Step{Kind: Forward, Recv: 1, Send: from}).from(parent, nil).to(kin, casts)
	return []Block{give, take, sum, spread, rise, fall}
}

// nodeDepth returns the number of hops between nodes from a root to the node
// farthest from it.
func (f *forest) nodeDepth() int {
	deepest := 0
	for i := range f.trees {
		for v := range f.shape.Nodes {
			hops := 0
			for up := f.trees[i].parent[v]; up >= 0; up = f.trees[i].parent[up] {
				hops++
			}
			deepest = max(deepest, hops)
		}
	}
	return deepest
}
