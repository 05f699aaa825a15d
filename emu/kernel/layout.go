package kernel

import (
	"fmt"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
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
	protocol   collective.Protocol
	firstBlock int32
	firstRank  int32
}

// Begin lays out a batch and schedules its first iterations. Nothing of an
// earlier batch may be pending. Wirings are those of emu/wiring, one a run;
// Lay makes them.
func (k *Kernel) Begin(b emu.Batch, w []*wiring.Wiring) {
	if k.Next() != shaping.Never {
		panic("kernel: a batch begins while another is pending")
	}
	k.runs, k.ranks, k.blocks, k.conns, k.far = k.runs[:0], k.ranks[:0], k.blocks[:0], k.conns[:0], k.far[:0]
	k.byID = map[uint32]int32{}
	k.mark()
	for i := range b.Runs {
		k.addRun(int32(i), &b.Runs[i], w[i])
	}
	for i := range k.ranks {
		k.launch(int32(i), 0, k.runs[k.ranks[i].run].Offset)
	}
}

// Lay builds the plans of a batch and wires the ranks whose nodes hosted says
// are here. Its errors are the user's: an algorithm that does not fit.
func Lay(f *fabric.Fabric, b emu.Batch, hosted func(node int) bool) ([]*wiring.Wiring, error) {
	var ws []*wiring.Wiring
	base := wiring.BlockID(0)
	for i := range b.Runs {
		r := &b.Runs[i]
		p, err := collective.Build(r.Algorithm, r.Op, f.Shape(r.Comm), r.Options)
		if err != nil {
			return nil, err
		}
		w, err := wiring.Lay(p, base, func(rank int) bool { return hosted(f.NodeOf(r.Comm[rank])) })
		if err != nil {
			return nil, fmt.Errorf("plan %s: %w", p.Algorithm, err)
		}
		ws = append(ws, w)
		base += wiring.IDs(p)
	}
	return ws, nil
}

func (k *Kernel) addRun(i int32, r *emu.Run, w *wiring.Wiring) {
	elem := r.DType.Size()
	k.runs = append(k.runs, run{Run: *r, plan: w.Plan, wired: w, geometry: w.Plan.Size(r.Count, elem), elem: elem,
		protocol: w.Plan.Protocol, firstBlock: int32(len(k.blocks)), firstRank: int32(len(k.ranks))})
	firstConn := int32(len(k.conns))
	for c := range w.Conns {
		k.addConn(i, int32(c), r, &w.Conns[c])
	}
	last := -1
	for j := range w.Blocks {
		wb := &w.Blocks[j]
		if wb.Rank != last {
			last = wb.Rank
			k.ranks = append(k.ranks, rank{run: i, rank: int32(wb.Rank), first: int32(len(k.blocks))})
		}
		k.ranks[len(k.ranks)-1].blocks++
		k.addBlock(i, int32(j), firstConn, r, wb)
	}
}

func (k *Kernel) addBlock(i, j, firstConn int32, r *emu.Run, wb *wiring.Block) {
	b := block{id: uint32(wb.ID), run: i, wired: j, rank: int32(len(k.ranks) - 1), state: idle,
		channel: int32(wb.Channel), steps: wb.Steps, window: wb.Window, dep: none,
		sm: k.sm(r.Comm[wb.Rank], wb.Channel), smPort: k.fabric.SM(r.Comm[wb.Rank], wb.Channel)}
	for _, c := range wb.Sends {
		b.sends = append(b.sends, firstConn+int32(c))
	}
	for _, c := range wb.Recvs {
		b.recvs = append(b.recvs, firstConn+int32(c))
	}
	k.blocks = append(k.blocks, b)
}

func (k *Kernel) addConn(i, j int32, r *emu.Run, wc *wiring.Conn) {
	w := k.runs[i].wired
	from, to := r.Comm[wc.From], r.Comm[wc.To]
	c := conn{id: uint32(wc.ID), run: i, wired: j, sender: none, receiver: none, from: int32(from), to: int32(to),
		route: k.fabric.Route(from, to, wc.Channel, w.Plan.Protocol), slots: int32(w.Plan.Slots),
		fromHere: k.here(from), toHere: k.here(to)}
	first := k.runs[i].firstBlock
	if wc.Sender != wiring.None {
		c.sender = first + int32(wc.Sender)
	}
	if wc.Receiver != wiring.None {
		c.receiver = first + int32(wc.Receiver)
	}
	at := int32(len(k.conns))
	k.byID[c.id] = at
	if c.fromHere != c.toHere || k.leaves(&c.route.Wire) {
		k.far = append(k.far, at)
	}
	k.conns = append(k.conns, c)
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

// here reports whether this kernel hosts a GPU.
func (k *Kernel) here(gpu int) bool { return k.owners.Node[k.fabric.NodeOf(gpu)] == k.me }

// sm returns the copy engine of a (GPU, channel): the blocks of all runs on it
// share what one SM moves.
func (k *Kernel) sm(gpu, channel int) *shaping.Calendar {
	id := k.fabric.SM(gpu, channel)
	if c, ok := k.sms[id]; ok {
		return c
	}
	sys := k.fabric.System(k.fabric.NodeOf(gpu))
	c := shaping.NewCalendar(sys.SM.Rate, smSpan)
	if k.Record {
		c.Trace()
	}
	k.sms[id] = &c
	return &c
}

// smSpan is the span of an SM's calendar: its bookings begin now or later.
const smSpan = shaping.Microsecond
