package collective

// The direct exchange: every rank sends straight to every other that wants
// something of it, all at once. It is what a group of ncclSend and ncclRecv
// does. For n ranks and buffers of S bytes (the larger of input and output):
//
//	op              messages of the     bytes on all links
//	                busiest block
//	alltoall(v)     max(n−g, g−1)       (n−1) × S
//	all_gather      max(n−g, g−1)       (n−1) × S
//	gather          max(n−g, g−1)       (n−1)/n × S
//	scatter         max(N−1, g−1)       (n−1)/n × S
//	sendrecv        1                   n × S
//	reduce_scatter  n                   (n−1) × S        see direct_reduce.go
//	all_reduce      2n − 1              2(n−1) × S
//
// on N nodes of g ranks; a block has at most 64 peers, and more messages fall
// to more blocks. No algorithm of these operations sends fewer bytes, and none
// has fewer steps from end to end: one. What it costs is connections, n × (n−1)
// of them.
//
// In step k each rank sends to the k-th after it and receives from the k-th
// before it, counted in node order, so that no two send to one at a time.
//
// alltoall on n = 4; who sends to whom:
//
//	            step 1   step 2   step 3
//	position 0  0 → 1    0 → 2    0 → 3
//	position 1  1 → 2    1 → 3    1 → 0
//	position 2  2 → 3    2 → 0    2 → 1
//	position 3  3 → 0    3 → 1    3 → 2
//
// Inside a node a message is spread over all channels. Between nodes it takes
// the channels of the rail on which its receiver stands (see tracks.go): the
// fabric then forwards it over NVLink to the GPU that owns the rail, and the
// last hop is from the NIC to the receiver. NCCL calls this PXN.
//
//	channel 1   GPU 0 ─ NVLink → GPU 1 ─ NIC 1 → rail 1 → NIC 1 ─ GPU 1
//	of 2 nodes  GPU 2 ─ NVLink ──┘
//
// On each channel one block sends, and one receives, what stays in the node;
// others do so for what leaves it. Messages longer than a FIFO step go round by
// round, all peers in each.
//
// R. Thakur, R. Rabenseifner, W. Gropp: Optimization of collective communication
// operations in MPICH, IJHPCA 19 (2005), section 4.3 (the order of peers).
// Message sizes as in NCCL 2.30, src/device/sendrecv.h.
var directExchange = Algorithm{
	Name:      "direct",
	Ops:       []Op{AllReduce, AllGather, ReduceScatter, AllToAll, AllToAllV, SendRecv, Gather, Scatter},
	About:     "every rank to every other in one step; all-to-all and point to point, reductions on few ranks",
	Protocols: []Protocol{Simple, LL},
	Paper:     "Thakur, Rabenseifner, Gropp, IJHPCA 19 (2005)",
	Steps:     directSteps,
	Wire:      directWire,
	StepsText: "all_reduce 2n − 1, reduce_scatter n, sendrecv 1, scatter max(N − 1, g − 1), others max(n − g, g − 1); at most 64 peers a block",
	WireText:  "all_reduce 2(n − 1) S, gather and scatter (n − 1) S/n, sendrecv n S, others (n − 1) S",
	Build:     buildDirect,
}

func buildDirect(op Op, s Shape, o Options) (*Plan, error) {
	if op == AllReduce || op == ReduceScatter {
		return buildDirectReduce(op, s, o)
	}
	p, err := draft("direct", op, s, o, 1, 1)
	if err != nil {
		return nil, err
	}
	x := newExchanger(op, s, o)
	p.Blocks, p.Widest = 0, x.tracks.widest()
	for r := range p.Ranks {
		p.Blocks = max(p.Blocks, x.count(r))
	}
	return NewPlan(p, x.blocks), nil
}

// exchanger makes the blocks of a direct exchange. Step lists are made once:
// index i means what goes to, or comes from, the block's i-th peer, so a list
// for fewer peers is the beginning of the one for 64.
type exchanger struct {
	op     Op
	root   int
	tracks *tracks
	sends  map[int][]Step // by chunks of a message
	recvs  map[int][]Step
	copies []Step
}

func newExchanger(op Op, s Shape, o Options) *exchanger {
	x := &exchanger{op: op, root: o.Root, tracks: newTracks(s, o.Channels), sends: map[int][]Step{}, recvs: map[int][]Step{}}
	for _, n := range x.tracks.counts() {
		for i := range MaxPeers {
			x.sends[n] = append(x.sends[n], Step{Kind: Send, Src: x.input(i), Count: n, Send: Bit(i)})
			x.recvs[n] = append(x.recvs[n], Step{Kind: Recv, Dst: x.output(i), Count: n, Recv: Bit(i)})
		}
	}
	x.copies = []Step{{Kind: Copy, Src: x.input(0), Dst: x.output(0)}}
	return x
}

// owes reports whether one rank has something for another, itself included.
func (x *exchanger) owes(from, to int) bool {
	switch x.op {
	case SendRecv: // to the next, as nccl-tests does
		return to == (from+1)%len(x.tracks.order)
	case Gather:
		return to == x.root
	case Scatter:
		return from == x.root
	default:
		return true
	}
}

// input is what goes to the i-th peer, output what comes from it.
func (x *exchanger) input(i int) Ref {
	if in, _ := x.op.Parts(2); in == 1 {
		return Ref{Input, Own}
	}
	return Ref{Input, i}
}

func (x *exchanger) output(i int) Ref {
	if _, out := x.op.Parts(2); out == 1 {
		return Ref{Output, Own}
	}
	return Ref{Output, i}
}

func (x *exchanger) blocks(rank int) []Block {
	var blocks []Block
	for _, g := range x.groups(rank, 1) {
		b := x.block(g, x.sends)
		b.SendTo = g.peers
		blocks = append(blocks, b)
	}
	for _, g := range x.groups(rank, -1) {
		b := x.block(g, x.recvs)
		b.RecvFrom = g.peers
		blocks = append(blocks, b)
	}
	if x.owes(rank, rank) {
		for c := range x.tracks.channels {
			self := group{way: stretch{channel: c, first: c, count: 1}, peers: []int{rank}}
			b := x.block(self, nil)
			b.Steps = x.copies
			blocks = append(blocks, b)
		}
	}
	return blocks
}

// block returns a block whose index i is the part of its i-th peer.
func (x *exchanger) block(g group, steps map[int][]Step) Block {
	b := Block{Channel: g.way.channel, Window: Window{
		First: g.way.first, Stride: x.tracks.channels, Count: len(g.peers), Order: g.peers}}
	if steps != nil {
		b.Steps = steps[g.way.count][:len(g.peers):len(g.peers)]
	}
	return b
}

// count returns how many blocks a rank has.
func (x *exchanger) count(rank int) int {
	n := len(x.groups(rank, 1)) + len(x.groups(rank, -1))
	if x.owes(rank, rank) {
		n += x.tracks.channels
	}
	return n
}

// group is what one block sends or receives: the same chunks of the parts of
// several peers.
type group struct {
	way   stretch
	peers []int
}

// groups returns the peers to which a rank sends (direction 1) or from which it
// receives (−1), nearest first, gathered by the way that messages take.
func (x *exchanger) groups(rank, direction int) []group {
	var groups []group
	open := map[stretch]int{} // way → position of its last group
	n := len(x.tracks.order)
	for k := 1; k < n; k++ {
		peer := x.tracks.order[(x.tracks.at[rank]+direction*k+n)%n]
		from, to := rank, peer
		if direction < 0 {
			from, to = peer, rank
		}
		if !x.owes(from, to) {
			continue
		}
		for _, w := range x.tracks.ways(from, to) {
			i, ok := open[w]
			if !ok || len(groups[i].peers) == MaxPeers {
				i = len(groups)
				open[w] = i
				groups = append(groups, group{way: w})
			}
			groups[i].peers = append(groups[i].peers, peer)
		}
	}
	return groups
}

func directSteps(op Op, s Shape) int {
	n, busiest := s.NRanks(), 0
	switch op {
	case AllReduce, ReduceScatter:
		return directReduceSteps(op, n)
	case SendRecv:
		return min(1, n-1)
	}
	l := newTracks(s, s.Rails())
	for v, g := range s.Nodes {
		away := n - len(g.Ranks)
		if op == Scatter {
			away = l.mostOnRail(v)
		}
		busiest = max(busiest, away, len(g.Ranks)-1)
	}
	return min(busiest, MaxPeers)
}

func directWire(op Op, s Shape, bytes int64) int64 {
	n := int64(s.NRanks())
	switch {
	case op == AllReduce:
		return 2 * (n - 1) * bytes
	case op == Gather || op == Scatter:
		return (n - 1) * (bytes / n)
	case op == SendRecv && n > 1:
		return n * bytes
	default:
		return (n - 1) * bytes
	}
}
