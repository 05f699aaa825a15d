package collective

import (
	"errors"
	"slices"
)

// PAT, parallel aggregated trees: for each rank a binomial tree that spreads
// its part, far ranks first; all trees run at once, and what several of them
// send over one connection in one round is one message. For n ranks,
// K = ⌈log2 n⌉, buffers of S bytes (the larger of input and output):
//
//	op              steps   bytes a rank sends
//	all_gather      2K      (n − 1)/n × S
//	reduce_scatter  2K      (n − 1)/n × S
//
// Each round is a send and a receipt. Rounds and bytes are Bruck's; but the far
// rounds carry one part and the near ones many, which is what a tapered fabric
// wants.
//
// all_gather on n = 4; what scratch holds, so that a message is all of it:
//
//	rank             0        1        2        3
//	                 0        1        2        3
//	distance 2       02       13       20       31
//	distance 1       0231     1302     2013     3120
//
// For other n the trees are cut off: a part goes to the n − 1 ranks after its
// own and no farther, so of a message the part that has come farthest may be
// left out. It is kept last: what is received goes behind the rest if the
// message was whole, else before it.
//
// NCCL packs the parts of a message in the slots of a FIFO; we pack them in
// scratch, as long as the output, and copy each to its place. NCCL puts fewer
// parts in a message the longer they are, and then takes the trees one after
// another instead of at once; we cut parts into chunks small enough for all to
// be one message, and loop. NCCL 2.26 carries out up to 16 parts of a step at
// once; here a message is one step of a block.
//
// As in NCCL it is for one GPU a node, and protocol Simple. S. Jeaugey: PAT: a
// new algorithm for all-gather and reduce-scatter operations at scale,
// arXiv:2506.20252 (2025).
var pat = Algorithm{
	Name:      "pat",
	Ops:       []Op{AllGather, ReduceScatter},
	About:     "parallel aggregated trees, far ranks first; log2 n rounds; one GPU a node, short messages",
	Protocols: []Protocol{Simple},
	When:      "one GPU a node",
	Legal:     patLegal,
	Paper:     "Jeaugey: PAT: a new algorithm for all-gather and reduce-scatter operations at scale, arXiv:2506.20252 (2025)",
	Steps:     roundSteps,
	StepsText: "2⌈log2 n⌉",
	Wire:      roundWire,
	WireText:  "(n − 1) S",
	Build:     buildPAT,
}

func patLegal(_ Use, s Shape) error {
	for _, g := range s.Nodes {
		if len(g.Ranks) > 1 {
			return errors.New("is for one GPU a node, as in NCCL; use ring or bruck, or a communicator with one rank on each node")
		}
	}
	return nil
}

// patChunk: a message takes one FIFO step, as in NCCL (2.30 src/device/
// prims_simple.h, patCopy).
const patChunk = 1 // FIFO steps

func buildPAT(op Op, s Shape, o Options) (*Plan, error) {
	p, err := draft("pat", op, s, o, patChunk, 1)
	if err != nil {
		return nil, err
	}
	if p.Ranks == 1 {
		return alonePlan(p), nil
	}
	r, offsets := patRounds(p.Ranks)
	copies := make([][]Step, p.Channels)
	for c := range copies {
		copies[c] = r.patCopies(op, offsets, c, p.Channels)
	}
	return r.plan(p, p.Ranks-1, func(rank, c int) Block {
		return Block{Channel: c, Steps: copies[c], Window: Window{First: c, Stride: p.Channels, Count: p.Ranks, Shift: rank}}
	}), nil
}

// patRounds returns the rounds, and the offset at each place of scratch: place
// i holds the part of the rank offsets[i] before the rank itself. In a round of
// distance d a rank has the multiples of 2d, the greatest last; it sends on
// those that have room for d more, which are all, or all but the last.
func patRounds(n int) (r rounds, offsets []int) {
	r.ranks, offsets = n, []int{0}
	for d := 1 << log2up(n) / 2; d >= 1; d /= 2 {
		var sent []int
		for _, o := range offsets {
			if o+d < n {
				sent = append(sent, o+d)
			}
		}
		if parts := len(sent); parts == len(offsets) {
			r.list = append(r.list, round{dist: n - d, src: 0, dst: parts, parts: parts})
			offsets = slices.Concat(offsets, sent)
		} else {
			r.shift(parts)
			r.list = append(r.list, round{dist: n - d, src: parts, dst: 0, parts: parts})
			offsets = slices.Concat(sent, offsets)
		}
	}
	r.home = slices.Index(offsets, 0)
	return r, offsets
}

// shift moves all places of the rounds so far up, to make room before them.
func (r rounds) shift(by int) {
	for i := range r.list {
		r.list[i].src += by
		r.list[i].dst += by
	}
}

// patCopies returns the copies between scratch and the buffer of all parts, a
// part each, in the order in which an all-gather receives them: each as soon
// as all channels have their share of the message. Index i is the part of the
// rank i after the rank itself.
func (r rounds) patCopies(op Op, offsets []int, c, channels int) []Step {
	n := len(offsets)
	steps := make([]Step, 0, n)
	move := func(place int, deps []Dep) {
		packed, part := Ref{Scratch, place*channels + c}, (n-offsets[place])%n
		s := Step{Kind: Copy, Src: packed, Dst: Ref{Output, part}, Deps: deps}
		if op == ReduceScatter {
			s = Step{Kind: Copy, Src: Ref{Input, part}, Dst: packed}
		}
		steps = append(steps, s)
	}
	move(r.home, together(c, 1, 1))
	for i, x := range r.list {
		deps := together(0, channels, received(i))
		for place := x.dst; place < x.dst+x.parts; place++ {
			move(place, deps)
			deps = nil
		}
	}
	return steps
}
