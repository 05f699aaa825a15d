package collective

// Bruck's algorithm: each rank sends all it has to the rank 1 before it, then
// 2, then 4 …, so that what it has doubles. For n ranks, K = ⌈log2 n⌉, buffers
// of S bytes (the larger of input and output):
//
//	op              steps   bytes a rank sends
//	all_gather      2K      (n − 1)/n × S
//	reduce_scatter  2K      (n − 1)/n × S
//
// Each round is a send and a receipt. As few bytes as a ring in log2 n rounds,
// for any n; but half of the bytes go farthest, and parts pass through scratch.
// For short messages.
//
// all_gather on n = 4; what scratch holds. Place i is the part of the rank i
// after the rank itself, so that messages are rows of parts:
//
//	rank             0        1        2        3
//	                 0        1        2        3
//	distance 1       01       12       23       30
//	distance 2       0123     1230     2301     3012
//	copy to output   0123     0123     0123     0123
//
// reduce_scatter is the same backwards: copy the input to scratch in that
// order, send the second half of it to the rank 2 after, add what comes to the
// first half, and so on.
//
// With several channels each takes a share of every message (channels.go).
//
// J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal, D. Weathersby: Efficient algorithms
// for all-to-all communications in multiport message-passing systems, IEEE
// TPDS 8 (1997).
var bruck = Algorithm{
	Name:      "bruck",
	Ops:       []Op{AllGather, ReduceScatter},
	About:     "send all one has at distances 1, 2, 4 …; log2 n rounds for any n; for short messages",
	Paper:     "Bruck, Ho, Kipnis, Upfal, Weathersby: Efficient algorithms for all-to-all communications in multiport message-passing systems, IEEE TPDS 8 (1997)",
	Steps:     roundSteps,
	StepsText: "2⌈log2 n⌉",
	Wire:      roundWire,
	WireText:  "(n − 1) S",
	Build:     buildBruck,
}

func buildBruck(op Op, s Shape, o Options) (*Plan, error) {
	p, err := draft("bruck", op, s, o, ringChunk, ringSlices)
	if err != nil {
		return nil, err
	}
	if p.Ranks == 1 {
		return alonePlan(p), nil
	}
	r := bruckRounds(p.Ranks)
	unpacked := together(0, p.Channels, received(len(r.list)-1))
	return r.plan(p, 1, func(rank, c int) Block {
		return Block{Channel: c, Steps: bruckCopies(op, p.Ranks, rank, c, p.Channels, unpacked)}
	}), nil
}

func bruckRounds(n int) rounds {
	r := rounds{ranks: n}
	for d := 1; d < n; d *= 2 {
		r.list = append(r.list, round{dist: d, src: 0, dst: d, parts: min(d, n-d)})
	}
	return r
}

// bruckCopies turns parts round, from the rank's own order to that of the
// buffer or the other way. These are two rows of parts, cut where the last rank
// is followed by rank 0; rank 0 itself, which has one row, is cut after its own
// part, so that all ranks wait for the same step.
func bruckCopies(op Op, n, rank, c, channels int, unpacked []Dep) []Step {
	cut := n - rank
	if rank == 0 {
		cut = 1
	}
	first := Step{Kind: Copy, Src: Ref{Scratch, 0}, Dst: Ref{Output, rank}, Count: cut}
	second := Step{Kind: Copy, Src: Ref{Scratch, cut}, Dst: Ref{Output, (rank + cut) % n}, Count: n - cut}
	steps := []Step{first.share(c, channels), second.share(c, channels)}
	if op == AllGather {
		steps[0].Deps = unpacked
		return steps
	}
	for i := range steps {
		s := &steps[i]
		s.Src, s.Dst = Ref{Input, s.Dst.Index}, Ref{Scratch, s.Src.Index}
	}
	return steps
}
