package collective

// On a ring, broadcast and reduce are a chain: from the root once round, or
// once round to it. A chunk is one FIFO step, as in NCCL, where 8 of them are
// under way on each connection (NCCL 2.30 src/include/device.h:
// BROADCAST_CHUNKSTEPS, REDUCE_CHUNKSTEPS).
//
//	broadcast, root 1   1 ─→ 2 ─→ 3 ─→ 0      on n = 4
//	reduce, root 1      2 ─→ 3 ─→ 0 ─→ 1
const chainChunk = 1 // FIFO steps

func buildChain(op Op, s Shape, o Options) (*Plan, error) {
	p, err := draft("ring", op, s, o, chainChunk, 1)
	if err != nil {
		return nil, err
	}
	if p.Ranks == 1 {
		return alonePlan(p), nil
	}
	p.OwnNICs = s.Cross != KeepRail
	circles := newCircles(s, o.Channels)
	steps := chainSteps(op)
	return NewPlan(p, func(rank int) []Block {
		blocks := make([]Block, len(circles))
		for c := range blocks {
			blocks[c] = circles[c].link(op, rank, o.Root, c, steps)
		}
		return blocks
	}), nil
}

// chain is the steps of the first rank of a chain, of those between, and of the
// last.
type chain [3][]Step

func chainSteps(op Op) chain {
	in, out := Ref{Input, 0}, Ref{Output, 0}
	first := Step{Kind: Send, Src: in, Send: 1}
	if op == Broadcast {
		return chain{
			{first, {Kind: Copy, Src: in, Dst: out}},
			{{Kind: RecvCopySend, Dst: out, Recv: 1, Send: 1}},
			{{Kind: Recv, Dst: out, Recv: 1}},
		}
	}
	return chain{
		{first},
		{{Kind: RecvReduceSend, Src: in, Recv: 1, Send: 1}},
		{{Kind: RecvReduceCopy, Src: in, Dst: out, Recv: 1}},
	}
}

// link returns what a rank does on a channel of a chain.
func (o circle) link(op Op, rank, root, channel int, steps chain) Block {
	n, at := len(o.order), o.at[rank]
	place := (at - o.at[root] + n) % n // links from the first
	if op == Reduce {
		place = (place + n - 1) % n
	}
	b := Block{Channel: channel, Window: only(channel), SendTo: o.rank(at + 1), RecvFrom: o.rank(at + n - 1)}
	switch place {
	case 0:
		b.RecvFrom, b.Steps = nil, steps[0]
	case n - 1:
		b.SendTo, b.Steps = nil, steps[2]
	default:
		b.Steps = steps[1]
	}
	return b
}
