package collective

// The two-step all-to-all: first inside the nodes, so that each GPU collects
// what its node has for its own rail, then between nodes along the rail, all
// that goes to one GPU together. On N nodes of g ranks, n in all, for buffers of
// S bytes a rank:
//
//	messages of the busiest block   N, or N − 1 where g = 1
//	steps from end to end           2
//	bytes on all links              (N(g − 1) + g(N − 1)) × S, a little less
//	                                than twice what direct sends
//	messages between nodes a rank   N − 1 for each of the m channels of its
//	                                rail, of g/m parts each; direct: m(n − g)
//
// Between nodes no byte is sent twice: the first step costs NVLink, and saves a
// factor g of messages on the NICs, which counts where messages are short.
//
// From rank 0 of 2 nodes of 2, to all; s is scratch:
//
//	rank 0 ── copies to its output
//	       ── to 1, its output
//	       ── for 2: keeps in s ┐                ┌ to 2, with what 1 has for 2
//	       ── for 3: to 1's s ──┼─ on the rails ─┴ to 3, with what 1 has for 3
//
// What rank i of a node has for the ranks of position j goes by way of rank j of
// its own node, and from there on a channel of j's rail; where that has several
// channels, sources are spread over them. The parts for a node leave as soon as
// the sources of their channel have brought theirs; nodes are visited in rotated
// order.
//
// NCCL forwards likewise over the GPU that owns the rail (PXN), with messages
// of several senders under one post: K. Aimuyo, S. Jeaugey, Doubling all2all
// performance with NVIDIA Collective Communication Library 2.12, NVIDIA
// technical blog, 2022.

func buildTwoStep(s Shape, o Options) (*Plan, error) {
	p, err := draft("hierarchical", AllToAll, s, o, 1, 1)
	if err != nil {
		return nil, err
	}
	if err := hierarchicalLegal(AllToAll, s); err != nil {
		return nil, err
	}
	t := newTwoStep(s, o.Channels)
	p.Blocks, p.Chunks, p.Scratch, p.Widest = 0, 1, (t.nodes-1)*t.gpus, 1
	for j := range t.gpus {
		p.Blocks = max(p.Blocks, t.count(j))
		for _, l := range t.legs[j] {
			p.Widest = max(p.Widest, l.to-l.from)
		}
	}
	return NewPlan(p, t.blocks), nil
}

// twoStep makes the blocks. A rank has, in this order: one that sends to each
// other rank of its node, by distance; one that receives from each, by distance;
// one that copies; and for the legs of its rail those that send to other nodes,
// then those that receive.
type twoStep struct {
	shape       Shape
	seats       seats
	nodes, gpus int
	channels    int
	legs        [][]leg // of each position
	parts       [][]int // position → the ranks there, node by node
	sends       []Step
	recvs       [][]Step // by position of the source
	copies      [][]Step // by position
}

// leg is what one channel of a rail carries: the parts of the sources at
// positions from … to−1.
type leg struct{ channel, from, to int }

func newTwoStep(s Shape, channels int) *twoStep {
	t := &twoStep{shape: s, seats: newSeats(s), nodes: len(s.Nodes), gpus: len(s.Nodes[0].Ranks), channels: channels}
	for j := range t.gpus {
		list, _ := s.Nodes[0].channelsOf(j, channels)
		list = list[:min(len(list), t.gpus)]
		var legs []leg
		for k, c := range list {
			legs = append(legs, leg{c, k * t.gpus / len(list), (k + 1) * t.gpus / len(list)})
		}
		t.legs = append(t.legs, legs)
		var ranks []int
		for _, g := range s.Nodes {
			ranks = append(ranks, g.Ranks[j])
		}
		t.parts = append(t.parts, ranks)
		t.recvs = append(t.recvs, t.collect(j, Recv))
		t.copies = append(t.copies, t.collect(j, Copy))
	}
	for i := range t.nodes {
		t.sends = append(t.sends, Step{Kind: Send, Src: t.round(i), Send: 1})
	}
	return t
}

// round is what goes to the node of round i: the i+1-th after the rank's own,
// which itself comes last. Index k of the window is the k-th node after it.
func (t *twoStep) round(i int) Ref { return Ref{Input, (i + 1) % t.nodes} }

// scratch is where a rank keeps what the source at a position has for the node
// of round i.
func (t *twoStep) scratch(i, source int) Ref { return Ref{Scratch, i*t.gpus + source} }

// collect returns the steps that take in, round by round, what one source of the
// node has for the rank's rail; what stays in the node goes to the output.
func (t *twoStep) collect(source int, kind StepKind) []Step {
	var steps []Step
	for i := range t.nodes {
		s := Step{Kind: kind, Dst: t.scratch(i, source)}
		last := i == t.nodes-1
		switch {
		case kind == Copy:
			s.Src = t.round(i)
			if last {
				s.Dst = Ref{Output, 0}
			}
		default:
			s.Recv = 1
			if last {
				s.Dst = Ref{Output, Own}
			}
		}
		steps = append(steps, s)
	}
	return steps
}

// channel returns the channel on which a source's parts for the rail of position
// j reach the rank there. Inside the node any will do. The rank takes each source
// on one of its own, but on none of a rail of either: their SMs have most to copy,
// and whoever waits for one more message there holds up all that leave with it.
func (t *twoStep) channel(j, source int) int {
	distance := (j - source + t.gpus) % t.gpus
	if 2*distance%t.gpus == 0 {
		distance = 1 // j + g/2 would be the source's own rail
	}
	return (j + distance) % t.channels
}

// toward is the window whose index k is the part of the rank at position j on
// the k-th node after node v.
func (t *twoStep) toward(j, v int) Window {
	return Window{Stride: 1, Count: t.nodes, Shift: v, Order: t.parts[j]}
}

func (t *twoStep) blocks(rank int) []Block {
	v := t.seats.node[rank]
	ranks := t.shape.Nodes[v].Ranks
	j := t.seats.at[rank] - v*t.gpus
	blocks := make([]Block, 0, t.count(j))
	for k := 1; k < t.gpus; k++ {
		to := (j + k) % t.gpus
		blocks = append(blocks, Block{Channel: t.channel(to, j), SendTo: ranks[to : to+1],
			Window: t.toward(to, v), Steps: t.sends})
	}
	for k := 1; k < t.gpus; k++ {
		from := (j + t.gpus - k) % t.gpus
		blocks = append(blocks, Block{Channel: t.channel(j, from), RecvFrom: ranks[from : from+1],
			Window: Window{First: ranks[from]}, Steps: t.recvs[from]})
	}
	blocks = append(blocks, Block{Channel: t.channel(j, j), Window: t.toward(j, v), Steps: t.copies[j]})
	for _, l := range t.legs[j] {
		blocks = append(blocks, t.departures(l, j, v)...)
	}
	for _, l := range t.legs[j] {
		blocks = append(blocks, t.arrivals(l, j, v)...)
	}
	return blocks
}

// perLeg returns how many blocks share the nodes that a leg leads to.
func (t *twoStep) perLeg() int { return (t.nodes - 1 + MaxPeers - 1) / MaxPeers }

// count returns how many blocks a rank at position j has.
func (t *twoStep) count(j int) int { return 2*(t.gpus-1) + 1 + 2*len(t.legs[j])*t.perLeg() }

// collector is which of the blocks of a rank at position j takes in what a
// source has.
func (t *twoStep) collector(j, source int) int {
	if source == j {
		return 2 * (t.gpus - 1)
	}
	return t.gpus - 1 + (j-source+t.gpus)%t.gpus - 1
}

// departures returns the blocks of a leg that send what position j of node v has
// collected to the other nodes.
func (t *twoStep) departures(l leg, j, v int) []Block {
	var blocks []Block
	for k := 1; k < t.nodes; k++ {
		blocks = extend(blocks, l.channel)
		b := &blocks[len(blocks)-1]
		bit := Bit(len(b.SendTo))
		b.SendTo = append(b.SendTo, t.parts[j][(v+k)%t.nodes])
		var deps []Dep
		for source := l.from; source < l.to; source++ {
			deps = append(deps, Dep{Block: t.collector(j, source), Step: k - 1})
		}
		for _, run := range t.runs(l, v) {
			b.Steps = append(b.Steps, Step{Kind: Send, Src: t.scratch(k-1, run.from), Count: run.to - run.from, Send: bit, Deps: deps})
			deps = nil
		}
	}
	return blocks
}

// arrivals returns the blocks of a leg that receive from the other nodes.
func (t *twoStep) arrivals(l leg, j, v int) []Block {
	var blocks []Block
	for k := 1; k < t.nodes; k++ {
		from := (v + t.nodes - k) % t.nodes
		blocks = extend(blocks, l.channel)
		b := &blocks[len(blocks)-1]
		bit := Bit(len(b.RecvFrom))
		b.RecvFrom = append(b.RecvFrom, t.parts[j][from])
		for _, run := range t.runs(l, from) {
			first := t.shape.Nodes[from].Ranks[run.from]
			b.Steps = append(b.Steps, Step{Kind: Recv, Dst: Ref{Output, first}, Count: run.to - run.from, Recv: bit})
		}
	}
	return blocks
}

// extend appends a block when there is none yet, or the last has all the peers
// it may have.
func extend(blocks []Block, channel int) []Block {
	if n := len(blocks); n > 0 && max(len(blocks[n-1].SendTo), len(blocks[n-1].RecvFrom)) < MaxPeers {
		return blocks
	}
	return append(blocks, Block{Channel: channel})
}

// runs cuts a leg's sources on a node into those whose ranks, and so the parts
// they send, follow one another: one message each.
func (t *twoStep) runs(l leg, node int) []leg {
	ranks := t.shape.Nodes[node].Ranks
	runs := []leg{{l.channel, l.from, l.from + 1}}
	for i := l.from + 1; i < l.to; i++ {
		if ranks[i] == ranks[i-1]+1 {
			runs[len(runs)-1].to = i + 1
		} else {
			runs = append(runs, leg{l.channel, i, i + 1})
		}
	}
	return runs
}
