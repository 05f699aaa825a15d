package collective

import "slices"

// Gather and scatter on the tree of binomial.go, which has their steps, bytes,
// drawing and paper.

// collect returns the blocks of a position in a gather or a scatter. Messages
// are runs of whole parts, of which each channel takes a share.
func (t binomialTree) collect(op Op, v, channels int) []Block {
	s := subtree{binomialTree: t, v: v, children: t.children(v)}
	up, down := t.parent(v), t.ranks(s.children)
	if op == Gather {
		s.gather()
		return s.blocks(channels, up, down)
	}
	s.scatter()
	return s.blocks(channels, down, up)
}

// subtree makes the steps of one position, in units of parts. In scratch lies
// the part of the position itself first, then those of the positions after it.
type subtree struct {
	binomialTree
	v        int
	children []int
	steps    []Step
	// waits lists the steps before which the channels must have finished all
	// earlier ones: they use what another channel, with other shares, wrote.
	waits []int
}

func (s *subtree) add(step Step) { s.steps = append(s.steps, step) }

func (s *subtree) wait() {
	if len(s.steps) > 0 {
		s.waits = append(s.waits, len(s.steps))
	}
}

func (s *subtree) blocks(channels int, sendTo, recvFrom []int) []Block {
	blocks := make([]Block, channels)
	for c := range blocks {
		steps := make([]Step, len(s.steps))
		for i, step := range s.steps {
			steps[i] = step.share(c, channels)
		}
		blocks[c] = Block{Channel: c, SendTo: sendTo, RecvFrom: recvFrom, Steps: steps}
	}
	if channels == 1 {
		return blocks
	}
	for _, i := range s.waits {
		deps := together(0, channels, i-1)
		for c := range blocks {
			blocks[c].Steps[i].Deps = deps
		}
	}
	return blocks
}

func (s *subtree) gather() {
	switch {
	case s.v == 0:
		s.gatherRoot()
	case len(s.children) == 0:
		s.add(Step{Kind: Send, Src: Ref{Input, 0}, Send: 1})
	default:
		s.add(Step{Kind: Copy, Src: Ref{Input, 0}, Dst: Ref{Scratch, 0}})
		for i, u := range s.children {
			s.add(Step{Kind: Recv, Dst: Ref{Scratch, u - s.v}, Count: s.size(u), Recv: Bit(i)})
		}
		s.wait()
		s.add(Step{Kind: Send, Src: Ref{Scratch, 0}, Count: s.size(s.v), Send: 1})
	}
}

func (s *subtree) gatherRoot() {
	s.add(Step{Kind: Copy, Src: Ref{Input, 0}, Dst: Ref{Output, s.order[0]}})
	for i, u := range s.children {
		runs := s.runs(u)
		if len(runs) == 1 {
			s.add(Step{Kind: Recv, Dst: Ref{Output, runs[0].rank}, Count: runs[0].n, Recv: Bit(i)})
			continue
		}
		s.wait() // for scratch to be free again
		s.add(Step{Kind: Recv, Dst: Ref{Scratch, 0}, Count: s.size(u), Recv: Bit(i)})
		s.wait()
		for _, r := range runs {
			s.add(Step{Kind: Copy, Src: Ref{Scratch, r.at}, Dst: Ref{Output, r.rank}, Count: r.n})
		}
	}
}

func (s *subtree) scatter() {
	switch {
	case s.v == 0:
		s.scatterRoot()
	case len(s.children) == 0:
		s.add(Step{Kind: Recv, Dst: Ref{Output, 0}, Recv: 1})
	default:
		s.add(Step{Kind: Recv, Dst: Ref{Scratch, 0}, Count: s.size(s.v), Recv: 1})
		s.wait()
		for i, u := range slices.Backward(s.children) {
			s.add(Step{Kind: Send, Src: Ref{Scratch, u - s.v}, Count: s.size(u), Send: Bit(i)})
		}
		s.add(Step{Kind: Copy, Src: Ref{Scratch, 0}, Dst: Ref{Output, 0}})
	}
}

func (s *subtree) scatterRoot() {
	for i, u := range slices.Backward(s.children) {
		runs := s.runs(u)
		if len(runs) == 1 {
			s.add(Step{Kind: Send, Src: Ref{Input, runs[0].rank}, Count: runs[0].n, Send: Bit(i)})
			continue
		}
		s.wait() // for scratch to be free again
		for _, r := range runs {
			s.add(Step{Kind: Copy, Src: Ref{Input, r.rank}, Dst: Ref{Scratch, r.at}, Count: r.n})
		}
		s.wait()
		s.add(Step{Kind: Send, Src: Ref{Scratch, 0}, Count: s.size(u), Send: Bit(i)})
	}
	s.add(Step{Kind: Copy, Src: Ref{Input, s.order[0]}, Dst: Ref{Output, 0}})
}

// run is a row of positions of a subtree whose ranks count up one by one: n of
// them, from the at-th of the subtree on, which is the given rank.
type run struct{ at, rank, n int }

// runs cuts the subtree of a position into as few runs as possible.
func (t binomialTree) runs(v int) []run {
	var list []run
	for i, rank := range t.order[v : v+t.size(v)] {
		if k := len(list) - 1; k >= 0 && list[k].rank+list[k].n == rank {
			list[k].n++
			continue
		}
		list = append(list, run{at: i, rank: rank, n: 1})
	}
	return list
}
