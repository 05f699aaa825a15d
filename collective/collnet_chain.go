package collective

import "slices"

// CollNet chain: as collnet_direct.go, but inside a node the ranks form a chain
// to the head, so that a GPU needs only two neighbours and no NVSwitch. For n
// ranks, N nodes, g = n/N, buffers of S bytes:
//
//	steps                1 a block
//	chain of steps       2(g−1) + 2
//	NVLink out of a GPU  about 2 S: S up the chains and S down
//	NIC of a head        S/g out and S/g in
//	bytes on all links   (2n − N + 1) × S, as in collnet_direct.go
//
// n = 4 as two nodes of two ranks, a channel whose heads are 0 and 2:
//
//	1 ─► 0 ─┐           ┌─► 0 ─► 1
//	        ├─► [SHARP] ┤
//	3 ─► 2 ─┘           └─► 2 ─► 3
//
// A node of four on channel 1:
//
//	0 ─► 3 ─► 2 ─► 1 ─► [SHARP] ─► 1 ─► 2 ─► 3 ─► 0
//
// R. L. Graham et al.: Scalable Hierarchical Aggregation Protocol (SHArP): a
// hardware architecture for efficient data reduction, 1st Workshop on Optimization
// of Communication in HPC (COMHPC), 2016. R. L. Graham et al.: Scalable Hierarchical
// Aggregation and Reduction Protocol (SHARP): streaming-aggregation hardware design
// and evaluation, ISC High Performance, 2020. Stages as in NCCL 2.30, src/
// device/all_reduce.h (COLLNET_CHAIN).
var collnetChain = Algorithm{
	Name:      "collnetchain",
	Ops:       []Op{AllReduce},
	About:     "the fabric's switches reduce (SHARP); inside a node a chain to the head",
	Protocols: []Protocol{Simple},
	When:      collnetWhen,
	Legal:     collnetLegal,
	Paper:     "Graham et al., COMHPC 2016 and ISC 2020",
	Steps:     func(Op, Shape) int { return 1 },
	Wire:      collnetWire,
	StepsText: "1",
	WireText:  "(2n − N + 1) S",
	Build: func(op Op, s Shape, o Options) (*Plan, error) {
		return buildCollNet("collnetchain", op, s, o, chainKin)
	},
}

// chainKin: the ranks of a node hang one under the other, in order, from the
// head on.
func chainKin(g Group, rank, channel int) branch {
	n := len(g.Ranks)
	head, at := slices.Index(g.Ranks, g.Head(channel)), slices.Index(g.Ranks, rank)
	k := branch{head: at == head}
	if !k.head {
		k.parent = []int{g.Ranks[(at+n-1)%n]}
	}
	if next := (at + 1) % n; next != head {
		k.children = []int{g.Ranks[next]}
	}
	return k
}
