package collective

// The direct exchange where ranks reduce: every rank owns 1/n of each channel's
// chunks. All send each owner what is its own; it reduces what it gets in one
// pass and, in an all_reduce, sends the result to all.
//
// all_reduce on n = 4, one channel, the steps of every block; piece k is that
// of the k-th position after the rank's own:
//
//	send 1, send 2, send 3   to those who own them
//	recv-reduce-copy-send 0  from all three, to all three
//	recv 3, recv 2, recv 1   from those who own them
//
// reduce_scatter is the first half. Two steps from end to end, or one, against
// the ring's 2n − 2 and n − 1: less latency for the same bytes. With more than
// 65 ranks a rank's peers fall to several blocks a channel, which reduce one
// after the other.

func buildDirectReduce(op Op, s Shape, o Options) (*Plan, error) {
	p, err := draft("direct", op, s, o, ringChunk, ringSlices)
	if err != nil {
		return nil, err
	}
	if p.Ranks == 1 {
		return alonePlan(p), nil
	}
	if op == AllReduce {
		p.Chunks *= p.Ranks
	}
	d := &directReduce{op: op, circle: seated(newSeats(s)), channels: o.Channels}
	p.Blocks = o.Channels * d.groups()
	for i := range p.Blocks {
		d.steps = append(d.steps, d.list(i))
	}
	return NewPlan(p, d.blocks), nil
}

// directReduce makes the blocks: those of channel 0 first, groups in order.
type directReduce struct {
	op       Op
	circle   circle
	channels int
	steps    [][]Step // by block
}

// seated is the circle of all ranks in node order.
func seated(s seats) circle { return circle{order: s.order, at: s.at} }

// groups returns how many blocks share the peers of a rank on a channel.
func (d *directReduce) groups() int { return max(1, (len(d.circle.order)-1+MaxPeers-1)/MaxPeers) }

// span returns which distances the peers of a group are at: from … to−1.
func (d *directReduce) span(group int) (from, to int) {
	return 1 + group*MaxPeers, min(1+(group+1)*MaxPeers, len(d.circle.order))
}

func (d *directReduce) blocks(rank int) []Block {
	blocks := make([]Block, len(d.steps))
	groups, n := d.groups(), len(d.circle.order)
	at := d.circle.at[rank]
	for i := range blocks {
		b := d.circle.block(d.op, rank, i/groups, d.channels, d.steps[i])
		b.SendTo, b.RecvFrom = nil, nil
		from, to := d.span(i % groups)
		for k := from; k < to; k++ {
			b.SendTo = append(b.SendTo, d.circle.order[(at+k)%n])
			b.RecvFrom = append(b.RecvFrom, d.circle.order[(at+n-k)%n])
		}
		blocks[i] = b
	}
	return blocks
}

// list returns the steps of a block.
func (d *directReduce) list(block int) []Step {
	n, groups := len(d.circle.order), d.groups()
	from, to := d.span(block % groups)
	all := FirstPeers(to - from)
	var steps []Step
	for k := from; k < to; k++ {
		steps = append(steps, Step{Kind: Send, Src: Ref{Input, k}, Send: Bit(k - from)})
	}
	steps = append(steps, d.reduce(block, all))
	if d.op == ReduceScatter {
		return steps
	}
	if groups == 1 {
		steps[len(steps)-1].Kind, steps[len(steps)-1].Send = RecvReduceCopySend, all
	} else {
		last := block - block%groups + groups - 1
		steps = append(steps, Step{Kind: Send, Src: Ref{Output, 0}, Send: all, Deps: []Dep{d.reduced(last)}})
	}
	for k := from; k < to; k++ {
		steps = append(steps, Step{Kind: Recv, Dst: Ref{Output, n - k}, Recv: Bit(k - from)})
	}
	return steps
}

// reduce returns the step that adds what a block's peers send to the rank's own
// piece, or to what the group before has made of it.
func (d *directReduce) reduce(block int, all Mask) Step {
	own := Ref{Output, 0}
	if d.op == ReduceScatter {
		own.Index = Own
	}
	s := Step{Kind: RecvReduceCopy, Src: Ref{Input, 0}, Dst: own, Recv: all}
	if block%d.groups() > 0 {
		s.Src, s.Deps = own, []Dep{d.reduced(block - 1)}
	}
	return s
}

// reduced is the step with which a block has reduced: the one after its sends.
func (d *directReduce) reduced(block int) Dep {
	from, to := d.span(block % d.groups())
	return Dep{Block: block, Step: to - from}
}

func directReduceSteps(op Op, n int) int {
	peers := min(n-1, MaxPeers)
	switch {
	case n == 1:
		return 0
	case op == ReduceScatter:
		return peers + 1
	case n-1 > MaxPeers:
		return 2*peers + 2
	default:
		return 2*peers + 1
	}
}
