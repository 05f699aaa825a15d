package collective

import (
	"slices"
	"testing"
)

func in(i int) Ref  { return Ref{Input, i} }
func out(i int) Ref { return Ref{Output, i} }
func tmp(i int) Ref { return Ref{Scratch, i} }

// direct returns a plan in which every chunk goes straight from its owner to
// whoever is promised it, and one that all must have added up is received from
// all in one pass. It is as general as the operations are.
func direct(op Op, n int) *Plan {
	ranks := make([][]Block, n)
	for r := range ranks {
		b := Block{}
		for q := range n {
			if q != r {
				b.SendTo, b.RecvFrom = append(b.SendTo, q), append(b.RecvFrom, q)
			}
		}
		for to := range n {
			if src, ok := directSource(op, n, r, to); ok && to != r {
				b.Steps = append(b.Steps, Step{Kind: Send, Src: in(src), Send: peerBit(r, to)})
			}
		}
		b.Steps = append(b.Steps, directReceipt(op, n, r)...)
		ranks[r] = []Block{b}
	}
	return explicit(Plan{Op: op, Algorithm: "direct"}, ranks...)
}

// peerBit is the bit of a peer in a list of all ranks but the rank itself.
func peerBit(rank, peer int) Mask {
	if peer > rank {
		peer--
	}
	return 1 << peer
}

// directSource returns which part of its input a rank owes to another.
func directSource(op Op, n, from, to int) (part int, owed bool) {
	switch op {
	case Broadcast:
		return 0, from == 0
	case Scatter:
		return to, from == 0
	case Gather, Reduce:
		return 0, to == 0
	case SendRecv:
		return 0, to == (from+1)%n
	case AllToAll, AllToAllV, ReduceScatter:
		return to, true
	default:
		return 0, true
	}
}

func directReceipt(op Op, n, rank int) []Step {
	var steps []Step
	_, parts := op.Parts(n)
	all := FirstPeers(n - 1)
	for from := range n {
		src, owed := directSource(op, n, from, rank)
		dst := out(0)
		if parts > 1 {
			dst = out(from)
		}
		switch {
		case !owed || (op.Reduces() && from != rank):
		case op.Reduces():
			steps = append(steps, Step{Kind: RecvReduceCopy, Src: in(src), Dst: dst, Recv: all})
		case from == rank:
			steps = append(steps, Step{Kind: Copy, Src: in(src), Dst: dst})
		default:
			steps = append(steps, Step{Kind: Recv, Dst: dst, Recv: peerBit(rank, from)})
		}
	}
	return steps
}

func TestEveryOperationIsUnderstood(t *testing.T) {
	for _, op := range Ops() {
		p := direct(op, 4)
		if err := Check(p); err != nil {
			t.Errorf("%v: %v", op, err)
		}
		for r := range p.Ranks {
			for i := range p.Rank(r)[0].Steps {
				q, ranks := unrolled(p)
				ranks[r][0].Steps = slices.Delete(ranks[r][0].Steps, i, i+1)
				caught(t, q, Place{r, 0, i}, "a lost step")
			}
		}
	}
}
