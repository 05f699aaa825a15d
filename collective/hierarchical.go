package collective

import "fmt"

// The hierarchical all-reduce: reduce inside the nodes, all-reduce between
// them, spread inside. On each channel one rank of a node, its head, talks to
// other nodes, and the heads of a channel form a ring: they stand at the same
// rail. With as many channels as ranks on a node, or a multiple, every rank
// heads its share, so that the three parts are a reduce-scatter inside the node,
// an all-reduce along the rails, and an all-gather inside. For N nodes of g
// ranks, n in all, and buffers of S bytes:
//
//	messages of the busiest block   2N a channel; 2N − 1 where g = 1; 2 where N = 1
//	steps from end to end           2N, where a ring has 2n − 2
//	bytes on all links              2(n − 1) × S
//	of those between nodes          2(N − 1) × S, evenly over NICs
//
// Ranks of a node need not be as many as another's. The three parts run into
// each other: a head adds what the others send it while it passes the ring's
// chunk on, and sends results to them and along the ring in one step.
//
// 2 nodes of 2 ranks, a channel whose heads are 0 and 2; its chunks are a and b:
//
//	rank 1  send b ┐      send a ┐                     ┌ recv a            ┌ recv b
//	rank 0         └ send b      └ reduce a, send a ───┴ recv b ──────────┘
//	rank 2         ┌ send a      ┌ reduce b, send b ───┬ recv a ──────────┐
//	rank 3  send a ┘      send b ┘                     └ recv b            └ recv a
//
// E. Chan, R. van de Geijn, W. Gropp, R. Thakur: Collective communication on
// architectures that support simultaneous communication over multiple links,
// PPoPP 2006, for collectives composed of such parts; by rail as NCCL's rings are.
// The all-to-all of the same name is in hierarchical_alltoall.go.
var hierarchical = Algorithm{
	Name:      "hierarchical",
	Ops:       []Op{AllReduce, AllToAll},
	About:     "inside the nodes, then between them by rail; few steps on many nodes of many GPUs",
	Protocols: []Protocol{Simple, LL},
	When:      "all_reduce: at most 64 ranks a node; alltoall: as many ranks on each node as on any other",
	Legal:     func(u Use, s Shape) error { return hierarchicalLegal(u.Op, s) },
	Steps:     hierarchicalSteps,
	Wire:      hierarchicalWire,
	StepsText: "all_reduce 2N (2N − 1 if g = 1, 2 if N = 1), alltoall N (N − 1 if g = 1)",
	Paper:     "Chan, van de Geijn, Gropp, Thakur, PPoPP 2006; PXN: NCCL 2.12",
	WireText:  "all_reduce 2(n − 1) S, alltoall (N(g − 1) + g(N − 1)) S",
	Build:     buildHierarchical,
}

func buildHierarchical(op Op, s Shape, o Options) (*Plan, error) {
	if op == AllToAll {
		return buildTwoStep(s, o)
	}
	p, err := draft("hierarchical", op, s, o, ringChunk, ringSlices)
	if err != nil {
		return nil, err
	}
	if err := hierarchicalLegal(op, s); err != nil {
		return nil, err
	}
	p.Chunks *= len(s.Nodes)
	return NewPlan(p, newHeadRing(s, o.Channels).blocks), nil
}

// hierarchicalLegal says why there is no plan for a shape.
func hierarchicalLegal(op Op, s Shape) error {
	for v, g := range s.Nodes {
		if op == AllReduce && len(g.Ranks) > MaxPeers {
			return fmt.Errorf("node %d has %d ranks; the head of a channel takes in at most %d a node", v, len(g.Ranks), MaxPeers)
		}
		if first := len(s.Nodes[0].Ranks); op == AllToAll && len(g.Ranks) != first {
			return fmt.Errorf("node %d has %d ranks and node 0 has %d; the second of the two steps is between ranks of equal position, so all nodes need as many. Take direct or pairwise",
				v, len(g.Ranks), first)
		}
	}
	return nil
}

// headRing makes the blocks: one a channel.
type headRing struct {
	shape    Shape
	seats    seats
	channels int
	heads    map[int][]Step // by the number of other ranks on the node
	others   []Step
}

func newHeadRing(s Shape, channels int) *headRing {
	h := &headRing{shape: s, seats: newSeats(s), channels: channels, heads: map[int][]Step{}}
	for _, g := range s.Nodes {
		h.heads[len(g.Ranks)-1] = headSteps(len(s.Nodes), len(g.Ranks)-1)
	}
	nodes := len(s.Nodes)
	for i := range nodes {
		h.others = append(h.others, Step{Kind: Send, Src: Ref{Input, nodes - 1 - i}, Send: 1})
	}
	for i := range nodes {
		h.others = append(h.others, Step{Kind: Recv, Dst: Ref{Output, (nodes - i) % nodes}, Recv: 1})
	}
	return h
}

func (h *headRing) blocks(rank int) []Block {
	nodes, v := len(h.shape.Nodes), h.seats.node[rank]
	blocks := make([]Block, h.channels)
	for c := range blocks {
		b := &blocks[c]
		b.Channel, b.Window = c, Window{First: c * nodes, Stride: 1, Count: nodes, Shift: v}
		head := h.shape.Nodes[v].Head(c)
		if rank != head {
			b.SendTo = []int{head}
			b.RecvFrom, b.Steps = b.SendTo, h.others
			continue
		}
		if nodes > 1 {
			b.SendTo = append(b.SendTo, h.shape.Nodes[(v+1)%nodes].Head(c))
			b.RecvFrom = append(b.RecvFrom, h.shape.Nodes[(v+nodes-1)%nodes].Head(c))
		}
		for _, r := range h.shape.Nodes[v].Ranks {
			if r != head {
				b.SendTo, b.RecvFrom = append(b.SendTo, r), append(b.RecvFrom, r)
			}
		}
		b.Steps = h.heads[len(h.shape.Nodes[v].Ranks)-1]
	}
	return blocks
}

// headSteps returns the steps of a ring over the nodes, seen from a head with
// some others on its node: they are the peers after the ring's one.
func headSteps(nodes, others int) []Step {
	in, out := Ref{Input, 0}, Ref{Output, 0}
	if nodes == 1 {
		all := FirstPeers(others)
		if others == 0 {
			return []Step{{Kind: Copy, Src: in, Dst: out}}
		}
		return []Step{{Kind: RecvReduceCopySend, Src: in, Dst: out, Recv: all, Send: all}}
	}
	const ring = Mask(1)
	node := FirstPeers(others) << 1
	first := Step{Kind: RecvReduceSend, Src: Ref{Input, nodes - 1}, Recv: node, Send: ring}
	last := Step{Kind: RecvCopySend, Dst: Ref{Output, 1}, Recv: ring, Send: node}
	if others == 0 {
		first.Kind, last.Kind = Send, Recv
	}
	steps := []Step{first}
	for i := nodes - 2; i > 0; i-- {
		steps = append(steps, Step{Kind: RecvReduceSend, Src: Ref{Input, i}, Recv: ring | node, Send: ring})
	}
	steps = append(steps, Step{Kind: RecvReduceCopySend, Src: in, Dst: out, Recv: ring | node, Send: ring | node})
	for i := nodes - 1; i > 1; i-- {
		steps = append(steps, Step{Kind: RecvCopySend, Dst: Ref{Output, i}, Recv: ring, Send: ring | node})
	}
	return append(steps, last)
}

func hierarchicalSteps(op Op, s Shape) int {
	nodes, most := len(s.Nodes), 0
	for _, g := range s.Nodes {
		most = max(most, len(g.Ranks))
	}
	switch {
	case s.NRanks() == 1:
		return 0
	case op == AllToAll && most == 1:
		return nodes - 1
	case op == AllToAll:
		return nodes
	case most == 1:
		return 2*nodes - 1
	default:
		return 2 * nodes
	}
}

func hierarchicalWire(op Op, s Shape, bytes int64) int64 {
	n, nodes := int64(s.NRanks()), int64(len(s.Nodes))
	if op == AllToAll {
		g := n / nodes
		return (nodes*(g-1) + g*(nodes-1)) * bytes
	}
	return 2 * (n - 1) * bytes
}
