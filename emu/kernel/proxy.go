package kernel

import (
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/transit"
	"github.com/railyard/railyard/shaping"
)

// remote is what a connection between nodes needs besides its slots.
type remote struct {
	route    *fabric.Route
	fromHere bool // its sender is hosted here
	// At the sender: slices carried out by the SM that the NIC has not begun
	// with, and how many of them are whole in the buffer, and so posted.
	waiting bool // a Post event is pending at nicBusy
	whole   int32
	staged  queue[staged]
	nicBusy shaping.Time // end of the connection's last booking at the NIC
	guard   int32        // position in Kernel.guards; none where nothing gets lost

	// What follows serves bounds alone, and decides no instant.
	hop    shaping.Duration // latency from the sender's SM to the buffer
	refill shaping.Duration // least that the sender's SM needs to fill a freed slot
	// due holds, for each frame that another participant sent and the block has
	// not got yet, an instant before which it won't. They come in order.
	due queue[shaping.Time]
}

// staged is a slice on its way to the NIC.
type staged struct {
	wire    shaping.Bytes
	whole   shaping.Time // it is not in the buffer before
	posted  shaping.Time // when the proxy is through with it, once it is whole
	payload bool
}

// completed handles a slice that is whole in the buffer the NIC reads from: the
// proxy posts it at once, ahead of the NIC.
func (k *Kernel) completed(ci int32) {
	c := k.remoteOf(ci)
	c.staged.ref(int(c.whole)).posted = k.proxy(c.route.SendProxy, c.route.Post)
	c.whole++
	k.transmit(ci)
}

// remoteOf returns what a connection between nodes needs besides its slots.
func (k *Kernel) remoteOf(ci int32) *remote { return &k.remotes[k.conns[ci].remote] }

// mayPost handles the end of a connection's booking at the NIC.
func (k *Kernel) mayPost(ci int32) {
	k.remoteOf(ci).waiting = false
	k.transmit(ci)
}

// transmit gives the NIC the oldest whole slice, unless the connection's last
// one still has it: one booking at a time, so that connections with many slots
// do not crowd out those with few.
func (k *Kernel) transmit(ci int32) {
	c := k.remoteOf(ci)
	if c.guard != none {
		k.transmitGuarded(ci, c, &k.guards[c.guard])
		return
	}
	if c.whole == 0 || c.waiting {
		return
	}
	if c.nicBusy > k.Now() {
		k.postAt(ci, c.nicBusy)
		return
	}
	c.whole--
	s := c.staged.pop()
	at := max(k.Now(), s.posted)
	f := k.frame(&k.blocks[k.conns[ci].sender], ci, transit.Wire, s.wire, s.payload)
	c.nicBusy = k.Inject(f, &c.route.Wire, at, at)
	k.drain()
	if c.whole > 0 {
		k.postAt(ci, c.nicBusy)
	}
}

func (k *Kernel) postAt(ci int32, at shaping.Time) {
	b := &k.blocks[k.conns[ci].sender]
	k.remoteOf(ci).waiting = true
	k.Push(transit.Key{At: at, Ord: transit.Order(transit.Post, b.id, b.count())}, ci)
}

// proxy books a GPU's proxy, which serves one request after another in the
// order of events, and returns when it is through with this one.
func (k *Kernel) proxy(gpu int, cost shaping.Duration) shaping.Time {
	at := max(k.Now(), k.proxies[gpu])
	k.seen = max(k.seen, at)
	if len(k.halts) > 0 {
		if until, paused := k.paused(gpu, at); paused {
			at = until
		}
	}
	at = at.Add(cost)
	k.proxies[gpu] = at
	return at
}

// receive handles a frame whose last byte is in the receiver's memory: the
// proxy sees it, flushes, and tells the GPU.
func (k *Kernel) receive(i, ci int32) {
	route := k.remoteOf(ci).route
	at := k.Now()
	if route.RecvPost > 0 {
		at = k.proxy(route.RecvProxy, route.RecvPost)
	}
	f := k.Frame(i)
	f.Hop++
	k.Push(transit.Key{At: at.Add(route.Receive), Ord: transit.Order(transit.Deliver, f.Source, f.Seq), Hop: f.Hop}, i)
}

// deliver hands a slice from another node to its block.
func (k *Kernel) deliver(i int32) {
	f := k.Frame(i)
	ci := f.Local
	if f.Flip > 0 {
		c := &k.conns[ci]
		k.effects.Moves = append(k.effects.Moves, Move{Run: c.run, Block: ci - k.runs[c.run].firstConn, Slice: c.ready, Flip: int32(f.Flip)})
	}
	k.Release(i)
	if r := k.remoteOf(ci); !r.fromHere {
		r.due.pop()
	}
	k.hand(ci)
}
