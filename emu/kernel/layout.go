package kernel

import (
	"fmt"
	"slices"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/catalog"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/wiring"
	"github.com/railyard/railyard/shaping"
)

// run is one run of the current batch.
type run struct {
	emu.Run
	plan       *collective.Plan
	wired      *wiring.Wiring
	geometry   collective.Geometry
	elem       int64
	ordered    bool // what a rank issues may wait for the end of a run
	depth      int  // of the switch trees that join the communicator's nodes
	protocol   collective.Protocol
	own        int32 // fabric.OwnNICs where the plan asks for that, to be added to channels
	firstBlock int32
	firstConn  int32
	unit       int32 // slots that a slice takes
	fifo       int32 // slices that a connection holds

	// least is the data of the smallest slice of a chunk. When the count divides,
	// as it mostly does, all are even, and a slice costs seven divisions less.
	least shaping.Bytes
	even  bool
	// The data asked for last, and what it makes on a link.
	lastData, lastWire shaping.Bytes
}

// routeKey is what a route depends on.
type routeKey struct {
	from, to       fabric.End
	channel, depth int
	protocol       collective.Protocol
	sharp          bool
}

// Begin lays out a batch and schedules its first iterations. Nothing of an
// earlier batch may be pending. Wirings are those of emu/wiring, one a run;
// Lay makes them.
func (k *Kernel) Begin(b emu.Batch, w []*wiring.Wiring) {
	if k.Next() != shaping.Never {
		panic("kernel: a batch begins while another is pending")
	}
	k.runs, k.ranks, k.guards = k.runs[:0], k.ranks[:0], k.guards[:0]
	k.blocks, k.states, k.windows = k.blocks[:0], k.states[:0], k.windows[:0]
	k.conns, k.recvs, k.freed, k.remotes, k.far = k.conns[:0], k.recvs[:0], k.freed[:0], k.remotes[:0], k.far[:0]
	k.byID = map[uint32]int32{}
	k.spent = [numStates]shaping.Duration{}
	k.mark()
	k.ordered = slices.ContainsFunc(b.Runs, func(r emu.Run) bool { return len(r.After) > 0 })
	k.redone, k.failovers = 0, 0
	k.sharp = slices.ContainsFunc(w, func(w *wiring.Wiring) bool { return w.Plan.SHARP })
	for i := range b.Runs {
		k.addRun(int32(i), &b.Runs[i], w[i])
	}
	for i := range k.ranks {
		k.call(int32(i))
	}
}

// Lay builds the plans of a batch and wires the ranks whose nodes hosted says
// are here. Its errors are the user's: an algorithm that does not fit.
func Lay(f *fabric.Fabric, b emu.Batch, hosted func(node int) bool) ([]*wiring.Wiring, error) {
	var ws []*wiring.Wiring
	base := wiring.BlockID(0)
	for i := range b.Runs {
		r := &b.Runs[i]
		p, err := r.Build(f.Shape(r.Comm))
		if err != nil {
			return nil, err
		}
		w, err := wiring.Lay(p, base, func(rank int) bool { return hosted(f.NodeOf(r.Comm[rank])) })
		if err == nil {
			err = reachable(f, r, w)
		}
		if err != nil {
			return nil, fmt.Errorf("plan %s: %w", p.Algorithm, err)
		}
		ws = append(ws, w)
		base += wiring.IDs(p)
	}
	return ws, nil
}

// reachable reports a block in a switch that is not there, or that its peer is
// not joined to.
func reachable(f *fabric.Fabric, r *emu.Run, w *wiring.Wiring) error {
	for i := range w.Conns {
		c := &w.Conns[i]
		from, to := fabric.End{GPU: r.Comm[c.From], Unit: c.Out}, fabric.End{GPU: r.Comm[c.To], Unit: c.In}
		if err := f.Joined(from, to); err != nil {
			return fmt.Errorf("rank %d sends to rank %d on channel %d: %w", c.From, c.To, c.Channel, err)
		}
	}
	return nil
}

func (k *Kernel) addRun(i int32, r *emu.Run, w *wiring.Wiring) {
	k.runs = append(k.runs, k.newRun(r, w))
	for c := range w.Conns {
		k.addConn(i, r, &w.Conns[c])
	}
	last, first := -1, len(k.ranks)
	for j := range w.Blocks {
		wb := &w.Blocks[j]
		if wb.Rank != last {
			last = wb.Rank
			k.ranks = append(k.ranks, rank{run: i, rank: int32(wb.Rank), first: int32(len(k.blocks))})
		}
		k.ranks[len(k.ranks)-1].blocks++
		k.addBlock(i, int32(j), r, wb)
	}
	for j := first; j < len(k.ranks); j++ {
		k.share(&k.ranks[j])
	}
}

func (k *Kernel) newRun(r *emu.Run, w *wiring.Wiring) run {
	elem := r.DType.Size()
	g := w.Plan.Size(r.Count, elem)
	n := run{Run: *r, plan: w.Plan, wired: w, geometry: g, elem: elem, protocol: w.Plan.Protocol,
		firstBlock: int32(len(k.blocks)), firstConn: int32(len(k.conns)),
		unit: int32(g.SlotsPerSlice), fifo: int32(w.Plan.Slots / g.SlotsPerSlice)}
	even, least := g.Even()
	n.even, n.least = even, shaping.Bytes(least*elem)
	n.ordered = k.ordered
	if w.Plan.OwnNICs {
		n.own = fabric.OwnNICs
	}
	if w.Plan.SHARP {
		n.depth = k.fabric.Depth(r.Comm)
	}
	return n
}

func (k *Kernel) addBlock(i, j int32, r *emu.Run, wb *wiring.Block) {
	first := k.runs[i].firstConn
	b := block{id: uint32(wb.ID), run: i, wired: j, rank: int32(len(k.ranks) - 1),
		channel: int32(wb.Channel), steps: wb.Steps, dep: none, engine: k.engine(fabric.End{GPU: r.Comm[wb.Rank], Unit: wb.Unit}, wb.Channel),
		recvs: int32(len(k.recvs)), peersOut: int32(len(wb.Sends)), peersIn: int32(len(wb.Recvs))}
	for n, c := range wb.Sends {
		if n == 0 {
			b.sends = first + int32(c)
		}
		if first+int32(c) != b.sends+int32(n) {
			panic("kernel: the connections that a block sends on do not stand side by side")
		}
	}
	for _, c := range wb.Recvs {
		k.recvs = append(k.recvs, first+int32(c))
	}
	k.blocks = append(k.blocks, b)
	k.states = append(k.states, idle)
	k.windows = append(k.windows, wb.Window)
}

func (k *Kernel) addConn(i int32, r *emu.Run, wc *wiring.Conn) {
	run := &k.runs[i]
	from, to := fabric.End{GPU: r.Comm[wc.From], Unit: wc.Out}, fabric.End{GPU: r.Comm[wc.To], Unit: wc.In}
	route := k.route(routeKey{from, to, wc.Channel | int(run.own), run.depth, run.protocol, k.sharp})
	c := conn{id: uint32(wc.ID), run: i, sender: none, receiver: none, from: int32(from.GPU), to: int32(to.GPU),
		local: &route.Local, credit: route.Credit, slots: int32(run.plan.Slots), remote: none}
	if wc.Sender != wiring.None {
		c.sender = run.firstBlock + int32(wc.Sender)
	}
	if wc.Receiver != wiring.None {
		c.receiver = run.firstBlock + int32(wc.Receiver)
	}
	if route.FromSwitch {
		c.local = nil
	}
	at := int32(len(k.conns))
	k.byID[c.id] = at
	if route.Remote {
		_, rate := k.fabric.Engine(from, wc.Channel)
		c.remote = k.addRemote(at, route, &c, rate)
	} else {
		c.freed.at = int32(len(k.freed))
		k.freed = append(k.freed, make([]shaping.Time, run.fifo)...)
	}
	k.conns = append(k.conns, c)
}

// addRemote adds what connection ci needs to cross between nodes. Its sender's
// engine has the given rate.
func (k *Kernel) addRemote(ci int32, route *fabric.Route, c *conn, rate shaping.Rate) int32 {
	run := &k.runs[c.run]
	r := remote{route: route, fromHere: k.hostOf(c.from) == k.me, guard: none,
		refill: rate.Time(catalog.EngineBytes(run.protocol, run.least))}
	for _, l := range route.Local.Latency {
		r.hop += l
	}
	if toHere := k.hostOf(c.to) == k.me; r.fromHere != toHere || k.leaves(&route.Wire) {
		k.far = append(k.far, ci)
	}
	if r.fromHere && !route.FromSwitch && k.mayLose(c, &route.Wire) {
		r.guard = int32(len(k.guards))
		k.guards = append(k.guards, newGuard(route))
	}
	k.remotes = append(k.remotes, r)
	return int32(len(k.remotes) - 1)
}

// leaves reports whether some port of a path belongs to another participant.
func (k *Kernel) leaves(p *fabric.Path) bool {
	for _, id := range p.Ports {
		if !k.Owns(id) {
			return true
		}
	}
	return false
}

// route returns the way from one end to another. Connections share it: each
// with one of its own, a thousand ranks' would not fit a cache.
func (k *Kernel) route(key routeKey) *fabric.Route {
	if key.from.Unit != collective.SHARP && key.to.Unit != collective.SHARP {
		key.depth = 0
		if k.fabric.Close(key.from.GPU, key.to.GPU) {
			key.channel = 0 // inside a node, or domain, the way is the same on all
		}
	}
	r, ok := k.routes[key]
	if !ok {
		made := k.fabric.Between(key.from, key.to, key.channel, key.depth, key.protocol)
		if key.sharp {
			k.fabric.Hasten(&made)
		}
		r = &made
		k.routes[key] = r
		for _, p := range []*fabric.Path{&made.Local, &made.Wire} {
			k.slow = k.slow || p.Copy > 0 || p.Fetch > 0 || p.Pause > 0
		}
	}
	return r
}
