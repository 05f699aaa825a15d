package collective

// Bruck and PAT are all-gathers in which every rank does the same, seen from
// its own number, and reduce-scatters that are the same backwards. They differ
// in who is near whom first, and so in how parts lie in scratch.

// rounds is the schedule all ranks share. Scratch has a place for each part;
// in a round every rank sends a row of what it has to the rank dist before it,
// and stores what the rank dist after it sends.
type rounds struct {
	ranks int
	home  int // place of a rank's own part
	list  []round
}

// round is one message, of so many parts: from place src of the sender to place
// dst of the receiver. The first sends the one part at home.
type round struct{ dist, src, dst, parts int }

// widest returns the most parts of a message.
func (r rounds) widest() int {
	most := 0
	for _, x := range r.list {
		most = max(most, x.parts)
	}
	return most
}

// peers returns the ranks that a rank sends to and receives from, round by
// round. Backwards they change places.
func (r rounds) peers(rank int) (sendTo, recvFrom []int) {
	for _, x := range r.list {
		sendTo = append(sendTo, (rank-x.dist+r.ranks)%r.ranks)
		recvFrom = append(recvFrom, (rank+x.dist)%r.ranks)
	}
	return sendTo, recvFrom
}

// received is the step of a gathering block that ends a round.
func received(round int) int { return 2*round + 2 }

// gather returns the steps of an all-gather on a channel. From the second round
// on a channel's share holds what others have received: it waits for them.
func (r rounds) gather(c, channels int) []Step {
	steps := []Step{
		{Kind: Send, Src: Ref{Input, c}, Send: 1},
		{Kind: Copy, Src: Ref{Input, c}, Dst: Ref{Scratch, r.home*channels + c}},
	}
	for i, x := range r.list {
		if i > 0 {
			send := Step{Kind: Send, Src: Ref{Scratch, x.src}, Count: x.parts, Send: Bit(i)}.share(c, channels)
			send.Deps = together(0, channels, received(i-1))
			steps = append(steps, send)
		}
		recv := Step{Kind: Recv, Dst: Ref{Scratch, x.dst}, Count: x.parts, Recv: Bit(i)}
		steps = append(steps, recv.share(c, channels))
	}
	return steps
}

// reduce returns the steps of a reduce-scatter on a channel: the rounds
// backwards, once scratch is filled, which the packing blocks have done after
// the given step. The last sum, of the one part at home, goes to the output.
func (r rounds) reduce(c, channels, packed int) []Step {
	var steps []Step
	deps := together(channels, channels, packed)
	for i := len(r.list) - 1; i >= 0; i-- {
		x := r.list[i]
		send := Step{Kind: Send, Src: Ref{Scratch, x.dst}, Count: x.parts, Send: Bit(i)}.share(c, channels)
		send.Deps = deps
		recv := Step{Kind: RecvReduceCopy, Src: Ref{Scratch, x.src}, Dst: Ref{Scratch, x.src}, Count: x.parts, Recv: Bit(i)}
		recv = recv.share(c, channels)
		if i == 0 {
			recv.Dst = Ref{Output, c}
		}
		steps = append(steps, send, recv)
		deps = together(0, channels, len(steps)-1)
	}
	return steps
}

// plan returns the plan of op in these rounds. Each channel has two blocks: one
// for messages, the same for all ranks, and one that copies between scratch
// and the buffer of all parts. The latter is the algorithm's own: pack returns
// it for a rank and a channel. A reduce-scatter waits for its last step.
func (r rounds) plan(p Plan, packed int, pack func(rank, channel int) Block) *Plan {
	p.Blocks *= 2
	p.Scratch = r.ranks * p.Channels
	p.Widest = r.widest()
	steps := make([][]Step, p.Channels)
	for c := range steps {
		if p.Op == AllGather {
			steps[c] = r.gather(c, p.Channels)
		} else {
			steps[c] = r.reduce(c, p.Channels, packed)
		}
	}
	return NewPlan(p, func(rank int) []Block {
		sendTo, recvFrom := r.peers(rank)
		if p.Op == ReduceScatter {
			sendTo, recvFrom = recvFrom, sendTo
		}
		blocks := make([]Block, p.Blocks)
		for c := range steps {
			blocks[c] = Block{Channel: c, SendTo: sendTo, RecvFrom: recvFrom, Steps: steps[c]}
			blocks[p.Channels+c] = pack(rank, c)
		}
		return blocks
	})
}

// roundSteps and roundWire are the formulas of both algorithms.
func roundSteps(_ Op, s Shape) int { return 2 * log2up(s.NRanks()) }

func roundWire(_ Op, s Shape, bytes int64) int64 { return int64(s.NRanks()-1) * bytes }
