package kernel

import (
	"github.com/railyard/railyard/emu/transit"
	"github.com/railyard/railyard/shaping"
)

// completed handles a slice that is whole in the buffer the NIC reads from.
func (k *Kernel) completed(ci int32) {
	c := &k.conns[ci]
	c.whole++
	k.post(ci)
}

// mayPost handles the end of a connection's booking at the NIC.
func (k *Kernel) mayPost(ci int32) {
	k.conns[ci].waiting = false
	k.post(ci)
}

// post lets the proxy give the NIC the oldest whole slice, unless the
// connection's last one still has the NIC: one booking at a time, so that
// connections with many slots do not crowd out those with few.
func (k *Kernel) post(ci int32) {
	c := &k.conns[ci]
	if c.whole == 0 || c.waiting {
		return
	}
	if c.nicBusy > k.Now() {
		k.postAt(ci, c.nicBusy)
		return
	}
	c.whole--
	s := c.staged.pop()
	at := k.proxy(c.route.SendProxy, c.route.Post)
	f := k.frame(&k.blocks[c.sender], ci, transit.Wire, s.wire, s.payload)
	c.nicBusy = k.Inject(f, &c.route.Wire, at, at)
	k.drain()
	if c.whole > 0 {
		k.postAt(ci, c.nicBusy)
	}
}

func (k *Kernel) postAt(ci int32, at shaping.Time) {
	c := &k.conns[ci]
	b := &k.blocks[c.sender]
	c.waiting = true
	k.Push(transit.Key{At: at, Ord: transit.Order(transit.Post, b.id, b.count())}, ci)
}

// proxy books a GPU's proxy, which serves one request after another in the
// order of events, and returns when it is through with this one.
func (k *Kernel) proxy(gpu int, cost shaping.Duration) shaping.Time {
	at := max(k.Now(), k.proxies[gpu]).Add(cost)
	k.proxies[gpu] = at
	return at
}

// receive handles a frame whose last byte is in the receiver's memory: the
// proxy sees it, flushes, and tells the GPU.
func (k *Kernel) receive(i, ci int32) {
	c := &k.conns[ci]
	at := k.Now()
	if c.route.RecvPost > 0 {
		at = k.proxy(c.route.RecvProxy, c.route.RecvPost)
	}
	f := k.Frame(i)
	f.Hop++
	k.Push(transit.Key{At: at.Add(c.route.Receive), Ord: transit.Order(transit.Deliver, f.Source, f.Seq), Hop: f.Hop}, i)
}

// deliver hands a slice from another node to its block.
func (k *Kernel) deliver(i int32) {
	ci := k.Frame(i).Local
	k.Release(i)
	k.hand(ci)
}
