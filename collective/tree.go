package collective

// The double binary tree, for all_reduce and barrier: reduce towards a root, broadcast
// from it. Between nodes two binary trees, each for half of the channels, so
// placed that a leaf of one is an inner node of the other; inside a node a
// chain. For n ranks, N nodes, buffers of S bytes:
//
//	steps               1 a block; a rank has two blocks a channel, one up, one down
//	chain of steps      2 × Depth: about 2 × (n/N − 1 + log2 N)
//	bytes a rank sends  S to its parent, and S to each of its children
//	bytes on all links  2(n−1) × S
//
// where a rank's S counts only the channels on which it has that parent or child.
// All ranks together send as much as in a ring, but not evenly; the depth grows
// with the logarithm of the number of nodes, and each channel's buffer is cut
// into many small chunks that follow one another down the tree.
//
// On n = 4 nodes:
//
//	tree 1   0         tree 2       3      (the mirror image; for an odd
//	          \                    /        number of nodes, node i of
//	           2                  1         tree 1 is node i + 1 of tree 2)
//	          / \                / \
//	         1   3              0   2
//
// In a node of ranks 0 … 3, on channel 1 (its head is rank 1; the head alone
// talks to other nodes):
//
//	parent node's head ── 1 ── 2 ── 3 ── 0
//	                      ├── head of the first child node
//	                      └── head of the second
//
// P. Sanders, J. Speck, J. L. Träff: Two-tree algorithms for full bandwidth
// broadcast, reduction and scan, Parallel Computing 35 (2009). Trees as in
// NCCL 2.30, src/graph/trees.cc; two blocks a channel as in runTreeSplit of
// src/device/all_reduce.h.
var tree = Algorithm{
	Name:      "tree",
	Ops:       []Op{AllReduce, Barrier},
	About:     "double binary tree between nodes, chain inside; log2 steps; for short messages and many nodes",
	Paper:     "Sanders, Speck, Träff: Two-tree algorithms for full bandwidth broadcast, reduction and scan, Parallel Computing 35 (2009)",
	Steps:     func(_ Op, s Shape) int { return min(s.NRanks()-1, 1) },
	StepsText: "1 up and 1 down at once, in chains of about g − 1 + log2 N",
	Wire:      func(_ Op, s Shape, bytes int64) int64 { return 2 * int64(s.NRanks()-1) * bytes },
	WireText:  "2(n − 1) S",
	Build:     buildTree,
}

func buildTree(op Op, s Shape, o Options) (*Plan, error) {
	p, err := draft("tree", op, s, o, 1, 1)
	if err != nil {
		return nil, err
	}
	if p.Ranks == 1 {
		return alonePlan(p), nil
	}
	f := newForest(s, o.Channels)
	p.Blocks, p.Depth = o.Channels*blocksPerTree, f.depth()
	return NewPlan(p, func(rank int) []Block {
		blocks := make([]Block, 0, p.Blocks)
		for c := range o.Channels {
			up := len(blocks)
			blocks = append(blocks, upDown(c, up, f.kin(rank, c))...)
		}
		return blocks
	}), nil
}

// blocksPerTree: one block reduces upwards while the other broadcasts
// downwards, so that both directions of every link are busy.
const blocksPerTree = 2

// upDown returns the two blocks of a rank on a channel; up is the position of
// the first among the rank's blocks.
func upDown(channel, up int, k kin) []Block {
	children := FirstPeers(len(k.children))
	in, out := Ref{Input, 0}, Ref{Output, 0}
	var rise, fall Step
	switch {
	case k.parent == nil:
		rise = Step{Kind: RecvReduceCopy, Src: in, Dst: out, Recv: children}
		fall = Step{Kind: Send, Src: out, Send: children, Deps: []Dep{{Block: up, Step: 0}}}
	case k.children == nil:
		rise = Step{Kind: Send, Src: in, Send: 1}
		fall = Step{Kind: Recv, Dst: out, Recv: 1}
	default:
		rise = Step{Kind: RecvReduceSend, Src: in, Recv: children, Send: 1}
		fall = Step{Kind: RecvCopySend, Dst: out, Recv: 1, Send: children}
	}
	return []Block{
		{Channel: channel, Window: only(channel), RecvFrom: k.children, SendTo: k.parent, Steps: []Step{rise}},
		{Channel: channel, Window: only(channel), RecvFrom: k.parent, SendTo: k.children, Steps: []Step{fall}},
	}
}

// kin are a rank's relatives on a channel, as lists of peers.
type kin struct{ parent, children []int }

// forest knows where every rank stands, and the two trees between nodes.
type forest struct {
	seats
	shape    Shape
	channels int
	trees    [2]nodeTree
}

func newForest(s Shape, channels int) *forest {
	nodes := len(s.Nodes)
	f := &forest{seats: newSeats(s), shape: s, channels: channels}
	f.trees[0] = newNodeTree(nodes, func(i int) int { return i })
	if nodes%2 == 0 {
		f.trees[1] = newNodeTree(nodes, func(i int) int { return nodes - 1 - i })
	} else {
		f.trees[1] = newNodeTree(nodes, func(i int) int { return (i + 1) % nodes })
	}
	return f
}

// tree returns the tree of a channel. The first half of the channels use the
// first, as in NCCL: where there are twice as many channels as rails, every
// NIC then serves a leaf and an inner node.
func (f *forest) tree(channel int) *nodeTree {
	if channel < (f.channels+1)/2 {
		return &f.trees[0]
	}
	return &f.trees[1]
}

// kin returns a rank's relatives on a channel: neighbours in the chain, and
// for the head of a node the heads of its neighbours in the tree.
func (f *forest) kin(rank, channel int) kin {
	v := f.node[rank]
	chain := chainKin(f.shape.Nodes[v], rank, channel)
	k := kin{chain.parent, chain.children}
	if !chain.head {
		return k
	}
	t := f.tree(channel)
	if up := t.parent[v]; up >= 0 {
		k.parent = []int{f.head(up, channel)}
	}
	for _, down := range t.children[v] {
		k.children = append(k.children, f.head(down, channel))
	}
	return k
}

func (f *forest) head(node, channel int) int { return f.shape.Nodes[node].Head(channel) }

// depth returns the number of hops from a root to the rank farthest from it.
func (f *forest) depth() int {
	deepest := 0
	for _, c := range []int{0, f.channels - 1} {
		t := f.tree(c)
		for v, g := range f.shape.Nodes {
			hops := len(g.Ranks) - 1
			for up := t.parent[v]; up >= 0; up = t.parent[up] {
				hops++
			}
			deepest = max(deepest, hops)
		}
	}
	return deepest
}

// nodeTree is a binary tree over the nodes.
type nodeTree struct {
	parent   []int // −1 for the root
	children [][]int
}

// newNodeTree returns the in-order binary tree of n positions, position i held
// by node at(i). Position 0 is the root; any other hangs, by its lowest bit
// that is set, 2^k, under the position that has bit k+1 in its place:
// xx01 and xx11 under xx10. Where that lies beyond the end, it hangs under
// xx00 instead.
func newNodeTree(n int, at func(int) int) nodeTree {
	t := nodeTree{parent: make([]int, n), children: make([][]int, n)}
	t.parent[at(0)] = -1
	for i := 1; i < n; i++ {
		low := i & -i
		up := i ^ low | low<<1
		if up >= n {
			up = i ^ low
		}
		t.parent[at(i)] = at(up)
		t.children[at(up)] = append(t.children[at(up)], at(i))
	}
	return t
}
