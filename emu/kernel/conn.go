package kernel

import (
	"github.com/railyard/railyard/emu/catalog"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/transit"
	"github.com/railyard/railyard/shaping"
)

const none = -1

// conn is a connection of a run: a FIFO with slots. It fills one cache line, and
// what only connections between nodes need stands in remote: with a thousand
// ranks there are more connections than a core's cache holds.
type conn struct {
	slots    int32 // free at the sender, as far as it knows now
	ready    int32 // messages the receiver may take
	sender   int32 // positions in Kernel.blocks; none when not hosted
	receiver int32
	// freed holds the instants at which more slots, a slice's worth each, come
	// free: announced when consumption starts. Only inside a node; across nodes
	// a credit is an event.
	freed  ring
	remote int32            // position in Kernel.remotes; none inside a node
	local  *fabric.Path     // to the peer, or to the buffer that the NIC reads; nil from a switch of the fabric
	credit shaping.Duration // how long the news of a freed slot travels

	id       uint32
	from, to int32 // GPUs
	run      int32
}

// slotFree returns the instant at which a slice's slots are free, Never when
// that is not known yet. An instant in the past means now.
func (k *Kernel) slotFree(c *conn) shaping.Time {
	r := &k.runs[c.run]
	for c.freed.len > 0 && c.freed.first(k.freed) <= k.Now() {
		c.freed.pop(r.fifo)
		c.slots += r.unit
	}
	switch {
	case c.slots >= r.unit:
		return 0
	case c.freed.len > 0:
		return c.freed.first(k.freed)
	}
	return shaping.Never
}

// free announces, at the start of a slice's consumption, that its slots come
// free at instant end.
func (k *Kernel) free(b *block, ci int32, end shaping.Time) {
	c := &k.conns[ci]
	stamp := end.Add(c.credit)
	if c.remote == none {
		c.freed.push(k.freed, k.runs[c.run].fifo, stamp)
		if k.states[c.sender] == waitSlot {
			k.retry(c.sender)
		}
		return
	}
	k.seen = max(k.seen, stamp)
	if k.faults.Deadly() && stamp >= k.faults.Dead(k.fabric.NodeOf(int(c.from))) {
		return // nobody is there to hear of it
	}
	key := transit.Key{At: stamp, Ord: transit.Order(transit.Credit, b.id, b.count())}
	r := &k.remotes[c.remote]
	if r.fromHere {
		k.Push(key, ci)
		return
	}
	h := transit.Header{Conn: c.id, Source: b.id, Seq: uint32(key.Ord), Credit: true, Tail: stamp}
	k.emit(k.hostOf(c.from), ci, h, r.route.CreditReaction(stamp.Add(r.refill)), end)
}

// credited handles news of freed slots from another node.
func (k *Kernel) credited(ci int32) {
	c := &k.conns[ci]
	c.slots += k.runs[c.run].unit
	if g := k.remotes[c.remote].guard; g != none {
		k.guards[g].acknowledge()
	}
	if k.states[c.sender] == waitSlot {
		k.advance(c.sender)
	}
}

// hand gives a message to the receiving block.
func (k *Kernel) hand(ci int32) {
	c := &k.conns[ci]
	c.ready++
	if k.states[c.receiver] == waitData {
		k.advance(c.receiver)
	}
}

// frame returns the frame of a slice on a connection, ready to be injected.
func (k *Kernel) frame(b *block, ci int32, leg uint8, wire shaping.Bytes, payload bool) transit.Frame {
	c := &k.conns[ci]
	flip := uint32(0)
	if len(k.flips) > 0 && payload && leg == transit.Wire {
		flip = k.strike(ci)
	}
	return transit.Frame{Flip: flip, Local: ci, Source: b.id, Seq: b.count(), Conn: c.id, Leg: leg, Payload: payload,
		From: c.from, To: c.to, Channel: b.channel | k.runs[c.run].own, Protocol: k.runs[c.run].protocol, Bytes: wire}
}

// send puts a slice on a connection: the SM writes it from h to u. It returns
// when the last byte has left the SM's GPU, or the SM.
func (k *Kernel) send(b *block, ci int32, data shaping.Bytes, payload bool, h, u shaping.Time) shaping.Time {
	c := &k.conns[ci]
	r := &k.runs[c.run]
	c.slots -= r.unit
	if c.local == nil {
		path := &k.remoteOf(ci).route.Wire
		end := k.Inject(k.frame(b, ci, transit.Wire, path.Bytes(r.onWire(data)), payload), path, h, u)
		k.fence(b, path, data, end)
		if k.faults != nil && k.Fate().Lost {
			k.severed(ci)
		}
		k.drain()
		return max(u, end)
	}
	wire := r.onWire(data)
	end := u
	if len(c.local.Ports) == 0 {
		k.Push(transit.Key{At: u, Ord: transit.Order(transit.Complete, b.id, b.count())}, ci)
	} else {
		out := k.Inject(k.frame(b, ci, transit.Inside, c.local.Bytes(wire), payload), c.local, h, u)
		k.fence(b, c.local, data, out)
		end = max(u, out)
		if k.faults != nil && k.Fate().Lost {
			k.severed(ci)
		}
	}
	if c.remote != none {
		r := &k.remotes[c.remote]
		r.staged.push(staged{wire: wire, whole: end.Add(r.hop), payload: payload})
	}
	return end
}

// onWire returns the bytes on a link for a slice's data. Most slices of a run
// are alike.
func (r *run) onWire(data shaping.Bytes) shaping.Bytes {
	if data != r.lastData {
		r.lastData, r.lastWire = data, catalog.WireBytes(r.protocol, data)
	}
	return r.lastWire
}

// arrived handles a frame at the end of its path. It is released first: what
// comes of it will need a frame, and this one's memory is in the cache.
func (k *Kernel) arrived(i int32) {
	f := k.Frame(i)
	ci := f.Local
	if f.Leg == transit.Wire {
		k.receive(i, ci)
		return
	}
	k.Release(i)
	if k.conns[ci].remote != none {
		k.completed(ci)
	} else {
		k.hand(ci)
	}
}
