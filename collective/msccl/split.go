package msccl

import (
	"fmt"

	"github.com/railyard/railyard/collective"
)

// splitter turns the blocks of a rank into blocks with at most one peer to send
// to and one to receive from, which is all that the XML knows.
//
// A block that has more becomes one block for each of its connections, and
// each of its steps a chain of steps, each of which waits for the one before:
//
//	recv-reduce-copy-send  input 0 ⊕ a ⊕ b → output 0, c
//
//	tb from a   rrc  input 0 ⊕ a → output 0
//	tb from b   rrc  output 0 ⊕ b → output 0
//	tb to c     s    output 0 → c
//
// What such a step sends without storing it goes by way of more scratch.
type splitter struct {
	plan    *collective.Plan
	rank    int
	blocks  []collective.Block
	scratch int // chunks, grown
	out     []thin
	// last is where each step of the plan ends up: its last piece.
	last map[collective.Dep]place
	// numbers are the steps' numbers in the file, nops counted.
	numbers map[place]int
}

// place is a piece: block and position in it.
type place struct{ block, step int }

// thin is a block with at most one peer on either side, or -1.
type thin struct {
	send, recv, channel int
	steps               []piece
}

// piece is a step of the file.
type piece struct {
	kind     collective.StepKind
	src, dst collective.Ref
	count    int
	deps     []place
	// waits are dependencies in the plan's numbers, resolved at the end.
	waits []collective.Dep
}

// size returns how many steps of the file a piece takes.
func (p *piece) size() int { return max(len(p.deps), 1) }

func (s *splitter) split() error {
	s.last, s.numbers = map[collective.Dep]place{}, map[place]int{}
	for i := range s.blocks {
		b := &s.blocks[i]
		if b.Unit != collective.SM {
			return fmt.Errorf("rank %d block %d runs in %s, which MSCCL cannot say; export an algorithm of SMs alone", s.rank, i, b.Unit)
		}
		if len(b.SendTo) > 1 || len(b.RecvFrom) > 1 {
			s.spread(i, b)
		} else {
			s.keep(i, b)
		}
	}
	for i := range s.out {
		n := 0
		for k := range s.out[i].steps {
			p := &s.out[i].steps[k]
			for _, d := range p.waits {
				if at := s.last[d]; at.block != i {
					p.deps = append(p.deps, at)
				}
			}
			n += p.size()
			s.numbers[place{i, k}] = n - 1
		}
	}
	return nil
}

// told returns the pieces that others wait for.
func (s *splitter) told() map[place]bool {
	all := map[place]bool{}
	for i := range s.out {
		for k := range s.out[i].steps {
			for _, d := range s.out[i].steps[k].deps {
				all[d] = true
			}
		}
	}
	return all
}

// keep copies a block that has a form in the file.
func (s *splitter) keep(i int, b *collective.Block) {
	t := thin{send: -1, recv: -1, channel: b.Channel}
	if len(b.SendTo) > 0 {
		t.send = b.SendTo[0]
	}
	if len(b.RecvFrom) > 0 {
		t.recv = b.RecvFrom[0]
	}
	for k := range b.Steps {
		st := &b.Steps[k]
		s.last[collective.Dep{Block: i, Step: k}] = place{len(s.out), k}
		t.steps = append(t.steps, piece{kind: st.Kind, src: whole(b, st.Src), dst: whole(b, st.Dst), count: st.Chunks(), waits: st.Deps})
	}
	s.out = append(s.out, t)
}

// whole returns a reference without a window.
func whole(b *collective.Block, r collective.Ref) collective.Ref {
	if r.Buffer != collective.Scratch {
		r.Index = b.Window.Chunk(r.Index)
	}
	return r
}

// chain is a block's step on its way to becoming pieces.
type chain struct {
	*splitter
	count int
	waits []collective.Dep
	prev  place
	begun bool
}

// add appends a piece to one of the thin blocks, after the piece before it.
func (c *chain) add(block int, kind collective.StepKind, src, dst collective.Ref) {
	p := piece{kind: kind, src: src, dst: dst, count: c.count, waits: c.waits}
	if c.begun && c.prev.block != block {
		p.deps = []place{c.prev}
	}
	t := &c.out[block]
	c.prev, c.begun, c.waits = place{block, len(t.steps)}, true, nil
	t.steps = append(t.steps, p)
}

// spread gives each connection of a block a thin block of its own, and its
// local steps to the first.
func (s *splitter) spread(i int, b *collective.Block) {
	recvs, sends := len(s.out), len(s.out)+len(b.RecvFrom)
	for _, r := range b.RecvFrom {
		s.out = append(s.out, thin{send: -1, recv: r, channel: b.Channel})
	}
	for _, r := range b.SendTo {
		s.out = append(s.out, thin{send: r, recv: -1, channel: b.Channel})
	}
	c := chain{splitter: s}
	spare := -1 // scratch for what is sent and not stored
	for k := range b.Steps {
		st := &b.Steps[k]
		c.count, c.waits = st.Chunks(), st.Deps
		src, dst := whole(b, st.Src), whole(b, st.Dst)
		if st.Kind == collective.RecvReduceSend {
			if spare < 0 {
				spare = s.scratch
			}
			s.scratch = max(s.scratch, spare+st.Chunks())
			dst = collective.Ref{Buffer: collective.Scratch, Index: spare}
		}
		if !st.Kind.Receives() && !st.Kind.Sends() {
			c.add(recvs, st.Kind, src, dst)
		}
		kind := collective.Recv
		if st.Kind.ReadsSrc() {
			kind = collective.RecvReduceCopy
		}
		from := src
		for m := st.Recv; m != 0 && st.Kind.Receives(); m &= m - 1 {
			c.add(recvs+m.Lowest(), kind, from, dst)
			from = dst
		}
		for m := st.Send; m != 0 && st.Kind.Sends(); m &= m - 1 {
			c.add(sends+m.Lowest(), collective.Send, from, from)
		}
		s.last[collective.Dep{Block: i, Step: k}] = c.prev
	}
}
