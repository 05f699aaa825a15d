package collective

import "fmt"

// CollNet direct, for all_reduce on several nodes: the fabric's switches reduce
// (SHARP). On each channel the ranks of a node send to its head over NVLink, the
// head adds its own and sends the sum to the switch tree, which reduces over the
// nodes and sends the result to every head; heads hand it on. Over all channels
// that is a reduce-scatter inside the node, one trip through the fabric, and an
// all-gather. For n ranks, N nodes, g = n/N, buffers of S bytes:
//
//	steps                1 a block
//	chain of steps       4, for any number of nodes
//	NVLink out of a GPU  (g−1)/g × S to the heads and as much from it as a head
//	NIC of a head        S/g out and S/g in, where a ring's has 2(n−1)/n × S/g
//	bytes on all links   (2n − N + 1) × S
//
// On all links are (n−N) × S to the heads and as much from them, N × S to the switch
// tree and S from it: what leaves it for many counts once.
//
// n = 4 as two nodes of two ranks, a channel whose heads are 0 and 2:
//
//	1 ─► 0 ─┐           ┌─► 0 ─► 1
//	        ├─► [SHARP] ┤
//	3 ─► 2 ─┘           └─► 2 ─► 3
//
// R. L. Graham et al.: Scalable Hierarchical Aggregation Protocol (SHArP): a
// hardware architecture for efficient data reduction, 1st Workshop on Optimization
// of Communication in HPC (COMHPC), 2016. R. L. Graham et al.: Scalable Hierarchical
// Aggregation and Reduction Protocol (SHARP): streaming-aggregation hardware design
// and evaluation, ISC High Performance, 2020. Stages as in NCCL 2.30, src/device/
// all_reduce.h (COLLNET_DIRECT).
var collnetDirect = Algorithm{
	Name:      "collnetdirect",
	Ops:       []Op{AllReduce},
	About:     "the fabric's switches reduce (SHARP); inside a node straight to the heads; for many nodes",
	Protocols: []Protocol{Simple},
	When:      collnetWhen,
	Legal:     collnetLegal,
	Paper:     "Graham et al., COMHPC 2016 and ISC 2020",
	Steps:     func(Op, Shape) int { return 1 },
	Wire:      collnetWire,
	StepsText: "1",
	WireText:  "(2n − N + 1) S",
	Build: func(op Op, s Shape, o Options) (*Plan, error) {
		return buildCollNet("collnetdirect", op, s, o, directKin)
	},
}

const collnetWhen = "2 to 64 nodes joined by switches that reduce (SHARP); sum, min, max of half, bfloat16, float, double " +
	"and 32- and 64-bit integers"

// collnetNodes is how few nodes CollNet needs (NCCL_COLLNET_NODE_THRESHOLD).
const collnetNodes = 2

func collnetLegal(u Use, s Shape) error {
	if n := len(s.Nodes); n < collnetNodes {
		return fmt.Errorf("nodes %d: it takes %d or more; inside one use ring, tree or nvls", n, collnetNodes)
	}
	if !s.SHARP {
		return fmt.Errorf("the fabric's switches do not reduce (SHARP); use a link whose switches do, such as hdr, ndr or xdr")
	}
	if err := s.fewNodes(); err != nil {
		return err
	}
	if err := s.fewPeers(); err != nil {
		return err
	}
	return adds("SHARP", u, sharpTypes)
}

// sharpTypes lists what streaming aggregation reduces in every release: 16-, 32-
// and 64-bit types. 8-bit integers only where library and switch say so (UCC,
// tl_sharp: not in its table of types), so they are left out.
var sharpTypes = map[DType][]RedOp{
	Float16: {Sum, Min, Max}, BFloat16: {Sum, Min, Max}, Float32: {Sum, Min, Max}, Float64: {Sum, Min, Max},
	Int32: {Sum, Min, Max}, Uint32: {Sum, Min, Max}, Int64: {Sum, Min, Max}, Uint64: {Sum, Min, Max},
}

func collnetWire(_ Op, s Shape, bytes int64) int64 {
	return int64(2*s.NRanks()-len(s.Nodes)+1) * bytes
}

// branch is a rank's place below the head of its node on a channel.
type branch struct {
	head     bool
	parent   []int // inside the node; nil for a head
	children []int
}

// buildCollNet returns the plan in which kin says who is below whom in a node,
// and how many steps it is from the farthest rank to the head.
func buildCollNet(algorithm string, op Op, s Shape, o Options, kin func(g Group, rank, channel int) branch) (*Plan, error) {
	p, err := draft(algorithm, op, s, o, 1, 1)
	if err != nil {
		return nil, err
	}
	for _, few := range []error{s.fewNodes(), s.fewPeers()} {
		if few != nil {
			return nil, few
		}
	}
	p.Blocks, p.SHARP, p.Depth = o.Channels*3, true, 2+collnetDepth(s, kin)
	node := newSeats(s).node
	return NewPlan(p, func(rank int) []Block {
		var blocks []Block
		for c := range o.Channels {
			k := kin(s.Nodes[node[rank]], rank, c)
			root := s.root(c)
			blocks = append(blocks, k.blocks(c, root)...)
			if rank == root {
				blocks = append(blocks, s.sharpBlock(c))
			}
		}
		return blocks
	}), nil
}

// root returns the rank at which the payload of a channel's switch tree meets.
// Channels of one rail have one tree; trees are spread over the nodes.
func (s Shape) root(channel int) int {
	return s.Nodes[channel%s.Rails()%len(s.Nodes)].Head(channel)
}

// sharpBlock is the switch tree of a channel.
func (s Shape) sharpBlock(channel int) Block {
	var heads []int
	for _, g := range s.Nodes {
		heads = append(heads, g.Head(channel))
	}
	all := FirstPeers(len(heads))
	b := Block{Channel: channel, Window: only(channel), Unit: SHARP,
		Steps: []Step{{Kind: Forward, Recv: all, Send: all}}}
	return b.from(heads, nil).to(heads, nil)
}

var sharpOnly = []Unit{SHARP}

// blocks returns what a rank does on a channel: one block towards the switch,
// one away from it.
func (k branch) blocks(channel, root int) []Block {
	block := func(s Step) Block { return Block{Channel: channel, Window: only(channel), Steps: []Step{s}} }
	in, out, children := Ref{Input, 0}, Ref{Output, 0}, FirstPeers(len(k.children))
	rise, fall := Step{Kind: Send, Src: in, Send: 1}, Step{Kind: Recv, Dst: out, Recv: 1}
	if k.children != nil {
		rise = Step{Kind: RecvReduceSend, Src: in, Recv: children, Send: 1}
		fall = Step{Kind: RecvCopySend, Dst: out, Recv: 1, Send: children}
	}
	up, units := k.parent, []Unit(nil)
	if k.head {
		up, units = []int{root}, sharpOnly
	}
	return []Block{
		block(rise).from(k.children, nil).to(up, units),
		block(fall).from(up, units).to(k.children, nil),
	}
}

// collnetDepth returns how many ranks are on the longest way to a head.
func collnetDepth(s Shape, kin func(g Group, rank, channel int) branch) int {
	deepest := 0
	for _, g := range s.Nodes {
		for _, r := range g.Ranks {
			hops := 0
			for at := kin(g, r, 0); !at.head; at = kin(g, at.parent[0], 0) {
				hops++
			}
			deepest = max(deepest, hops)
		}
	}
	return deepest
}

// directKin: every rank of a node hangs under its head.
func directKin(g Group, rank, channel int) branch {
	head := g.Head(channel)
	if rank != head {
		return branch{parent: []int{head}}
	}
	k := branch{head: true}
	for _, r := range g.Ranks {
		if r != head {
			k.children = append(k.children, r)
		}
	}
	return k
}
