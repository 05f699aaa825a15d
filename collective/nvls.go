package collective

import (
	"fmt"
	"slices"
)

// NVLS: NVSwitches reduce what all GPUs of a node, or NVLink domain, send, and
// multicast what one of them sends. Each of h heads has 1/h of the data: it takes
// the sum of that part from the switch, and gives it back to be multicast. Every
// rank is a head, up to 32; of more ranks 32 are, spread evenly, and only
// all_reduce is done. For n ranks and buffers of S bytes (the larger of input and
// output):
//
//	op              steps   a head sends   a head receives   bytes on all links
//	all_reduce      h       (h+1)/h × S    (h+1)/h × S       (n + 3) × S
//	all_gather      n           1/n × S              S             2 × S
//	reduce_scatter  n                 S          1/n × S     (n + 1) × S
//
// On all links are n × S to the switch and S from it to the heads, then S from the
// heads and S that it multicasts: what leaves a switch for many counts once.
//
// A ring's rank sends and receives 2(n−1)/n × S in an all-reduce: on 8 GPUs 1.75
// where NVLS has 1.125, which is why its bus bandwidth may exceed the rate of the
// wire. A head's own share passes the switch like everybody else's. The blocks of
// the switch are its heads': there, on whichever server of a domain that is, the
// payload meets.
//
// all_reduce on n = 4, the part that rank 1 heads; every rank does the same for
// its own part, and the three stages run one after the other slice by slice:
//
//	scatter              reduce, relay              gather
//	rank 0 ─┐                                  ┌──► rank 0
//	rank 1 ─┼─► [NVSwitch] ─► rank 1 ─► [Multicast]──► rank 1
//	rank 2 ─┤                                  ├──► rank 2
//	rank 3 ─┘                                  └──► rank 3
//
// reduce_scatter is the left half, all_gather the right one.
//
// B. Klenk, N. Jiang, G. Thorson, L. Dennison: An in-network architecture for
// accelerating shared-memory multiprocessor collectives, 47th International
// Symposium on Computer Architecture (ISCA), 2020. Stages, chunks and heads as in NCCL
// 2.30, src/device/all_reduce.h (NVLS) and src/graph/search.cc.
var nvls = Algorithm{
	Name:      "nvls",
	Ops:       []Op{AllReduce, AllGather, ReduceScatter},
	About:     "NVSwitches reduce and multicast; one node or NVLink domain; for long messages",
	Protocols: []Protocol{Simple},
	When: "one node, or NVLink domain, of 5 to 576 ranks whose NVSwitches compute, all_gather and reduce_scatter up to 32; sum, min, " +
		"max of half, bfloat16 and 32- and 64-bit integers, sum of float and double; all_gather takes any type",
	Legal:     nvlsLegal,
	Paper:     "Klenk et al., ISCA 2020",
	Steps:     func(_ Op, s Shape) int { return min(s.NRanks(), NVLSHeads) },
	Wire:      nvlsWire,
	StepsText: "n, at most 32",
	WireText:  "all_reduce (n+3) S, all_gather 2 S, reduce_scatter (n+1) S",
	Build:     buildNVLS,
}

// NVLSChunk is the largest chunk of NVLS and NVLSTree, in bytes for one head:
// NCCL_NVLS_CHUNKSIZE's default (2.30).
const NVLSChunk = 128 << 10

// NVLSHeads is how many heads NVLS has at most (NCCL_MAX_NVLS_ARITY). Where not
// every rank can be one, there is nobody to take a rank's own part.
const NVLSHeads = 32

// nvlsRanks is how many ranks NVLS is not worth its while for: on 4 × H200 a
// ring is chosen, on 5 NVLS.
const nvlsRanks = 4

func nvlsLegal(u Use, s Shape) error {
	if len(s.Nodes) != 1 {
		return fmt.Errorf("nodes %d: all ranks must be behind one NVSwitch; between nodes use nvlstree", len(s.Nodes))
	}
	if n := s.NRanks(); n <= nvlsRanks {
		return fmt.Errorf("ranks %d: it takes more than %d to be worth it; use ring or tree", n, nvlsRanks)
	}
	if n := s.NRanks(); n > NVLSHeads && u.Op != AllReduce {
		return fmt.Errorf("ranks %d: %s takes every rank for a head, of which there are at most %d; use ring", n, u.Op, NVLSHeads)
	}
	return nvlsNodes(u, s)
}

// nvlsNodes reports what the nodes' NVSwitches cannot do.
func nvlsNodes(u Use, s Shape) error {
	if !s.NVLS {
		return fmt.Errorf("the nodes have no NVSwitch that reduces and multicasts; use ring or tree")
	}
	if err := s.fewPorts(); err != nil {
		return err
	}
	if !u.Op.Reduces() {
		return nil
	}
	return adds("the NVSwitch", u, nvlsTypes)
}

// nvlsTypes lists what an NVSwitch of the third generation reduces, and how.
var nvlsTypes = map[DType][]RedOp{
	Float16: {Sum, Min, Max}, BFloat16: {Sum, Min, Max},
	Int32: {Sum, Min, Max}, Uint32: {Sum, Min, Max}, Int64: {Sum, Min, Max}, Uint64: {Sum, Min, Max},
	Float32: {Sum}, Float64: {Sum},
}

// adds reports why what a switch can do leaves out a use.
func adds(who string, u Use, can map[DType][]RedOp) error {
	ops, ok := can[u.DType]
	if !ok {
		var types []DType
		for _, d := range DTypes() {
			if can[d] != nil {
				types = append(types, d)
			}
		}
		return fmt.Errorf("type %s: %s does not reduce it; allowed are %s", u.DType, who, list(types))
	}
	if !slices.Contains(ops, u.RedOp) {
		return fmt.Errorf("reduction %s of %s: %s does not do it; allowed: %s", u.RedOp, u.DType, who, list(ops))
	}
	return nil
}

func nvlsWire(op Op, s Shape, bytes int64) int64 {
	switch n := int64(s.NRanks()); op {
	case AllGather:
		return 2 * bytes
	case ReduceScatter:
		return (n + 1) * bytes
	default:
		return (n + 3) * bytes
	}
}

func buildNVLS(op Op, s Shape, o Options) (*Plan, error) {
	p, err := draft("nvls", op, s, o, 1, 1)
	if err != nil {
		return nil, err
	}
	if err := s.fewPorts(); err != nil {
		return nil, err
	}
	if len(s.Nodes) != 1 {
		return nil, fmt.Errorf("nodes %d: all ranks must be behind one NVSwitch", len(s.Nodes))
	}
	p.Blocks, p.ChunkBytes, p.Ports = o.Channels*3, NVLSChunk, p.Ranks
	switch {
	case op == AllReduce:
		p.Blocks, p.Chunks = o.Channels*5, o.Channels*min(p.Ranks, NVLSHeads)
	case p.Ranks > NVLSHeads:
		return nil, fmt.Errorf("ranks %d: %s takes every rank for a head, of which there are at most %d", p.Ranks, op, NVLSHeads)
	}
	stars := make([]star, o.Channels)
	for c := range stars {
		stars[c] = newStar(op, s.Nodes[0].Ranks, c, o.Channels)
	}
	return NewPlan(p, func(rank int) []Block {
		var blocks []Block
		for c := range stars {
			blocks = append(blocks, stars[c].blocks(op, rank, len(blocks))...)
		}
		return blocks
	}), nil
}

// star is a channel of a node, or domain: its ranks around their switch. Index i
// of the window is the part that heads[i] heads; each channel begins with another,
// so that not all wait for the same one.
type star struct {
	channel          int
	ranks, heads     []int
	window           Window
	toReduce, toCast []Unit
	scatter, gather  []Step
}

func newStar(op Op, ranks []int, channel, channels int) star {
	n := min(len(ranks), NVLSHeads)
	heads := make([]int, n)
	for i := range heads {
		heads[i] = ranks[i*len(ranks)/n]
	}
	shift := channel % n
	t := star{channel: channel, ranks: ranks, heads: slices.Concat(heads[shift:], heads[:shift]),
		toReduce: slices.Repeat([]Unit{NVSwitch}, n), toCast: slices.Repeat([]Unit{Multicast}, n)}
	if op == AllReduce {
		t.window = Window{First: channel * n, Stride: 1, Count: n, Shift: shift}
	} else {
		t.window = Window{First: channel, Stride: channels, Count: n, Shift: shift, Order: heads}
	}
	for i := range n {
		t.scatter = append(t.scatter, Step{Kind: Send, Src: Ref{Input, i}, Send: Bit(i)})
		t.gather = append(t.gather, Step{Kind: Recv, Dst: Ref{Output, i}, Recv: Bit(i)})
	}
	return t
}

// blocks returns what a rank and its share of the switch do.
func (t *star) blocks(op Op, rank, first int) []Block {
	own := Ref{Input, slices.Index(t.heads, rank)}
	scatter := t.block(t.scatter...).to(t.heads, t.toReduce)
	gather := t.block(t.gather...).from(t.heads, t.toCast)
	switch {
	case own.Index < 0:
		return []Block{scatter, gather}
	case op == AllGather:
		own.Index = Own
		give := t.block(Step{Kind: Send, Src: own, Send: 1}).to([]int{rank}, multicastOnly)
		return []Block{give, t.spread(rank, own), gather}
	case op == ReduceScatter:
		take := t.block(Step{Kind: Recv, Dst: Ref{Output, Own}, Recv: 1}).from([]int{rank}, nvswitchOnly)
		return []Block{scatter, t.sum(rank, own, Dep{Block: first, Step: len(t.scatter) - 1}), take}
	default:
		relay := t.block(Step{Kind: Forward, Src: own, Recv: 1, Send: 1}).
			from([]int{rank}, nvswitchOnly).to([]int{rank}, multicastOnly)
		return []Block{scatter, t.sum(rank, own, Dep{Block: first, Step: len(t.scatter) - 1}), relay, t.spread(rank, own), gather}
	}
}

var (
	nvswitchOnly  = []Unit{NVSwitch}
	multicastOnly = []Unit{Multicast}
)

func (t *star) block(steps ...Step) Block {
	return Block{Channel: t.channel, Window: t.window, Steps: steps}
}

// sum is the switch's block that reduces the part of a head: once that has scattered
// the parts of all, as NCCL sends all heads their chunks in one step.
func (t *star) sum(head int, part Ref, scattered Dep) Block {
	b := t.block(Step{Kind: Forward, Src: part, Recv: FirstPeers(len(t.ranks)), Send: 1, Deps: []Dep{scattered}})
	b.Unit, b.RecvFrom, b.SendTo = NVSwitch, t.ranks, []int{head}
	return b
}

// spread is the switch's block that multicasts what a head sends.
func (t *star) spread(head int, part Ref) Block {
	b := t.block(Step{Kind: Forward, Src: part, Recv: 1, Send: FirstPeers(len(t.ranks))})
	b.Unit, b.RecvFrom, b.SendTo = Multicast, []int{head}, t.ranks
	return b
}
