package collective

// The binomial tree: the root serves a rank half of all away, then both serve
// one a quarter away, and so on. For n ranks, K = ⌈log2 n⌉, buffers of S bytes
// (the larger of input and output):
//
//	op               steps   bytes all ranks send
//	broadcast        K       (n − 1) × S
//	reduce           K       (n − 1) × S
//	gather, scatter  K       S/n × Σ over v < n of the ones in v
//
// It takes the fewest rounds of all; a ring chain takes n − 1. In gather and
// scatter a part goes by several ranks, and a message is all parts of a
// subtree: for n a power of two S/2 × log2 n bytes are sent, where sending each
// part straight to the root takes (n − 1)/n × S. So: short parts, many ranks.
//
// On n = 4, root 0; positions count from the root. A position's parent is it
// without its lowest bit, so that a subtree is a row of positions:
//
//	0 ──→ 2 ──→ 3       broadcast, scatter: 0 sends to 2, then to 1
//	└──→ 1              reduce, gather: 0 receives from 1, then from 2
//
// Positions go round by nodes, each from the root's place in its node on: near
// edges stay in the node, far ones on the root's rail. Any rank can be root.
//
// A gather's inner ranks collect their subtree in scratch. The root receives
// each subtree straight into its output if its ranks count up one by one, as
// they do unless the root stands in the middle of its node; else by way of
// scratch. Scatter is the same backwards.
//
// R. Thakur, R. Rabenseifner, W. Gropp: Optimization of collective
// communication operations in MPICH, IJHPCA 19 (2005).
var binomial = Algorithm{
	Name:      "binomial",
	Ops:       []Op{Broadcast, Reduce, Gather, Scatter},
	About:     "binomial tree from or to the root; log2 n steps; for short messages",
	Paper:     "Thakur, Rabenseifner, Gropp: Optimization of collective communication operations in MPICH, IJHPCA 19 (2005)",
	Steps:     func(_ Op, s Shape) int { return log2up(s.NRanks()) },
	StepsText: "⌈log2 n⌉",
	Wire:      binomialWire,
	WireText:  "broadcast, reduce (n − 1) S; gather, scatter S/n Σ ones(v), v < n",
	Build:     buildBinomial,
}

func binomialWire(op Op, s Shape, size int64) int64 {
	n := s.NRanks()
	if op == Broadcast || op == Reduce {
		return int64(n-1) * size
	}
	var hops int64
	for v := range n {
		hops += int64(Mask(v).Count())
	}
	return size / int64(n) * hops
}

func buildBinomial(op Op, s Shape, o Options) (*Plan, error) {
	p, err := draft("binomial", op, s, o, ringChunk, ringSlices)
	if err != nil {
		return nil, err
	}
	if p.Ranks == 1 {
		return alonePlan(p), nil
	}
	t := newBinomialTree(s, o.Root)
	switch op {
	case Gather, Scatter:
		p.Widest = t.largest()
		p.Scratch = p.Widest * p.Channels
		return NewPlan(p, func(rank int) []Block { return t.collect(op, t.at[rank], p.Channels) }), nil
	case Reduce:
		p.Scratch = p.Channels
		p.Depth = log2up(p.Ranks)
		return NewPlan(p, func(rank int) []Block { return t.reduce(t.at[rank], p.Channels) }), nil
	default:
		p.Depth = log2up(p.Ranks)
		return NewPlan(p, func(rank int) []Block {
			v := t.at[rank]
			return everyChannel(p.Channels, 1, t.ranks(t.children(v)), t.parent(v), t.broadcast(v))
		}), nil
	}
}

// binomialTree is the tree over positions; position 0 is the root.
type binomialTree struct {
	order, at []int // rank at a position, position of a rank
	rounds    int   // ⌈log2 n⌉
}

func newBinomialTree(s Shape, root int) binomialTree {
	order := s.around(root)
	return binomialTree{order: order, at: positions(order), rounds: log2up(len(order))}
}

// around returns the ranks node by node from the root's on, each node from the
// root's place in its own on.
func (s Shape) around(root int) []int {
	home, place := 0, 0
	for v, g := range s.Nodes {
		for i, r := range g.Ranks {
			if r == root {
				home, place = v, i
			}
		}
	}
	order := make([]int, 0, s.NRanks())
	for v := range s.Nodes {
		ranks := s.Nodes[(home+v)%len(s.Nodes)].Ranks
		first := place % len(ranks)
		order = append(append(order, ranks[first:]...), ranks[:first]...)
	}
	return order
}

// levels returns how many children a position may have: as many as there are
// zeros at the end of it.
func (t binomialTree) levels(v int) int {
	if v == 0 {
		return t.rounds
	}
	return Mask(v).Lowest()
}

// children returns the children of a position, the nearest first: that is also
// the one with the least under it.
func (t binomialTree) children(v int) []int {
	var list []int
	for j := 0; j < t.levels(v) && v+1<<j < len(t.order); j++ {
		list = append(list, v+1<<j)
	}
	return list
}

// parent returns the rank of a position's parent, as a list of one; none for
// the root.
func (t binomialTree) parent(v int) []int {
	if v == 0 {
		return nil
	}
	up := v & (v - 1)
	return t.order[up : up+1 : up+1]
}

func (t binomialTree) ranks(positions []int) []int {
	list := make([]int, len(positions))
	for i, v := range positions {
		list[i] = t.order[v]
	}
	return list
}

// size returns how many positions are in the subtree of one.
func (t binomialTree) size(v int) int { return min(1<<t.levels(v), len(t.order)-v) }

// largest returns the size of the largest subtree below the root.
func (t binomialTree) largest() int {
	most := 0
	for _, v := range t.children(0) {
		most = max(most, t.size(v))
	}
	return most
}

// broadcast serves the farthest child first, for its subtree is the deepest.
func (t binomialTree) broadcast(v int) []Step {
	children := len(t.children(v))
	src, dst := Ref{Output, 0}, Ref{Output, 0}
	var steps []Step
	switch {
	case v == 0:
		src = Ref{Input, 0}
	case children == 0:
		return []Step{{Kind: Recv, Dst: dst, Recv: 1}}
	default:
		children--
		steps = append(steps, Step{Kind: RecvCopySend, Dst: dst, Recv: 1, Send: Bit(children)})
	}
	for children--; children >= 0; children-- {
		steps = append(steps, Step{Kind: Send, Src: src, Send: Bit(children)})
	}
	if v == 0 {
		steps = append(steps, Step{Kind: Copy, Src: src, Dst: dst})
	}
	return steps
}

// reduce adds up what children send, the nearest first, for it is ready first:
// the root in its output, others in scratch, since their output is not to be
// written.
func (t binomialTree) reduce(v, channels int) []Block {
	children, up := t.ranks(t.children(v)), t.parent(v)
	blocks := everyChannel(channels, 1, up, children, nil)
	for c := range blocks {
		src, sum := Ref{Input, 0}, Ref{Output, 0}
		if v != 0 {
			sum = Ref{Scratch, c}
		}
		steps := make([]Step, 0, len(children)+1)
		for i := range children {
			steps = append(steps, Step{Kind: RecvReduceCopy, Src: src, Dst: sum, Recv: Bit(i)})
			src = sum
		}
		switch {
		case v == 0:
		case len(children) == 0:
			steps = append(steps, Step{Kind: Send, Src: src, Send: 1})
		default:
			last := &steps[len(steps)-1]
			last.Kind, last.Dst, last.Send = RecvReduceSend, Ref{}, 1
		}
		blocks[c].Steps = steps
	}
	return blocks
}
