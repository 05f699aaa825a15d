package kernel

import (
	"github.com/railyard/railyard/emu/catalog"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/transit"
	"github.com/railyard/railyard/shaping"
)

const none = -1

// conn is a connection of a run: a FIFO with slots.
type conn struct {
	id         uint32
	run, wired int32
	sender     int32 // positions in Kernel.blocks; none when not hosted
	receiver   int32
	from, to   int32 // GPUs
	fromHere   bool
	toHere     bool
	route      fabric.Route

	slots int32 // free at the sender, as far as it knows now
	// freed holds the instants at which more slots, a slice's worth each, come
	// free: announced when consumption starts. Only inside a node; across nodes
	// a credit is an event.
	freed queue[shaping.Time]
	ready int32 // messages the receiver may take

	// Across nodes, at the sender: slices carried out by the SM and not yet
	// posted, and how many of them are whole in the buffer.
	staged  queue[staged]
	whole   int32
	nicBusy shaping.Time // end of the connection's last booking at the NIC
	waiting bool         // a Post event is pending at nicBusy
}

// staged is a slice on its way to the NIC.
type staged struct {
	wire    shaping.Bytes
	payload bool
}

// freeAt returns the instant at which n slots are free, Never when that is not
// known yet. An instant in the past means now.
func (c *conn) freeAt(n int32, slice int32) shaping.Time {
	if c.slots >= n {
		return 0
	}
	have := c.slots
	for i := range c.freed.len() {
		if have += slice; have >= n {
			return c.freed.at(i)
		}
	}
	return shaping.Never
}

// settle turns credits that have come due into free slots.
func (c *conn) settle(now shaping.Time, slice int32) {
	for c.freed.len() > 0 && c.freed.at(0) <= now {
		c.freed.pop()
		c.slots += slice
	}
}

// free announces, at the start of a slice's consumption, that its slots come
// free at instant end.
func (k *Kernel) free(b *block, ci int32, end shaping.Time) {
	c := &k.conns[ci]
	stamp := end.Add(c.route.Credit)
	if !c.route.Remote {
		c.freed.push(stamp)
		if s := &k.blocks[c.sender]; s.state == waitSlot {
			k.retry(c.sender)
		}
		return
	}
	key := transit.Key{At: stamp, Ord: transit.Order(transit.Credit, b.id, b.count())}
	if c.fromHere {
		k.Push(key, ci)
		return
	}
	h := transit.Header{Conn: c.id, Source: b.id, Seq: uint32(key.Ord), Credit: true, Tail: stamp}
	to := k.owners.Node[k.fabric.NodeOf(int(c.from))]
	k.emit(to, c, h, c.route.CreditReaction(stamp))
}

// credited handles news of freed slots from another node.
func (k *Kernel) credited(ci int32) {
	c := &k.conns[ci]
	c.slots += k.slice(c.run)
	if k.blocks[c.sender].state == waitSlot {
		k.advance(c.sender)
	}
}

// slice returns the number of slots a slice of a run takes.
func (k *Kernel) slice(run int32) int32 { return int32(k.runs[run].geometry.SlotsPerSlice) }

// hand gives a message to the receiving block.
func (k *Kernel) hand(ci int32) {
	c := &k.conns[ci]
	c.ready++
	if k.blocks[c.receiver].state == waitData {
		k.advance(c.receiver)
	}
}

// frame returns the frame of a slice on a connection, ready to be injected.
func (k *Kernel) frame(b *block, ci int32, leg uint8, wire shaping.Bytes, payload bool) transit.Frame {
	c := &k.conns[ci]
	return transit.Frame{Local: ci, Source: b.id, Seq: b.count(), Conn: c.id, Leg: leg, Payload: payload,
		From: c.from, To: c.to, Channel: b.channel, Protocol: k.runs[c.run].protocol, Bytes: wire}
}

// send puts a slice on a connection: the SM writes it from h to u. It returns
// when the last byte has left the SM's GPU, or the SM.
func (k *Kernel) send(b *block, ci int32, data shaping.Bytes, payload bool, h, u shaping.Time) shaping.Time {
	c := &k.conns[ci]
	c.slots -= k.slice(c.run)
	wire := catalog.WireBytes(k.runs[c.run].protocol, data)
	if c.route.Remote {
		c.staged.push(staged{wire, payload})
		if len(c.route.Local.Ports) == 0 {
			k.Push(transit.Key{At: u, Ord: transit.Order(transit.Complete, b.id, b.count())}, ci)
			return u
		}
	}
	end := k.Inject(k.frame(b, ci, transit.Inside, wire, payload), &c.route.Local, h, u)
	return max(u, end)
}

// arrived handles a frame at the end of its path.
func (k *Kernel) arrived(i int32) {
	f := k.Frame(i)
	ci := f.Local
	switch {
	case f.Leg == transit.Wire:
		k.receive(i, ci)
		return
	case k.conns[ci].route.Remote:
		k.completed(ci)
	default:
		k.hand(ci)
	}
	k.Release(i)
}
