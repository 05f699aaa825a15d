package transit_test

import (
	"testing"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/transit"
	"github.com/railyard/railyard/shaping"
)

// rig drives a Transit over ports of chosen rates as a node kernel does: a
// connection injects its next message when a slot is free and its last booking
// at the egress has ended, and gets the slot back some time after delivery.
type rig struct {
	*transit.Transit
	ports []fabric.PortID // by position in the rates given
	rates []shaping.Rate
	conns []*connection
}

// message is what a connection is given to send.
type message struct {
	name  byte
	at    shaping.Time // not before
	bytes shaping.Bytes
}

// delivery is a message that has reached the end of its path.
type delivery struct {
	message
	seq  uint32
	left shaping.Time // when its last byte left the egress
	at   shaping.Time
}

// connection is a source of messages and the way they go.
type connection struct {
	path   fabric.Path
	credit shaping.Duration
	slots  int // free
	// next returns the message to send after the one before, none at the end.
	next func() (message, bool)

	waiting   *message
	busy      shaping.Time // end of the last booking at the egress
	woken     shaping.Time // the latest instant for which a look is pending
	seq       uint32
	sent      map[uint32]delivery
	delivered []delivery
}

// newRig returns a rig with one port for each rate. They are ports of a DGX
// that stand in for others: a Transit knows nothing but rates.
func newRig(t *testing.T, record bool, rates ...shaping.Rate) *rig {
	t.Helper()
	f, err := fabric.New(emu.Cluster{Groups: []emu.Group{{Count: 1, System: "dgx-h100"}}})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{rates: rates}
	for i, rate := range rates {
		f.SetRate(fabric.PortID(i), rate)
		r.ports = append(r.ports, fabric.PortID(i))
	}
	r.Transit = transit.New(f, transit.Owners{Node: []int{0}}, 0, record)
	return r
}

// connect adds a connection over the given ports, the first of which is its
// egress, with a latency behind each.
func (r *rig) connect(slots int, credit shaping.Duration, ports []int, latency ...shaping.Duration) *connection {
	c := &connection{slots: slots, credit: credit, woken: -1, sent: map[uint32]delivery{}}
	for _, p := range ports {
		c.path.Ports = append(c.path.Ports, r.ports[p])
	}
	c.path.Latency, c.path.Inject = latency, 1
	r.conns = append(r.conns, c)
	return c
}

// each makes a connection send a list of messages.
func (c *connection) each(list ...message) {
	c.next = func() (message, bool) {
		if len(list) == 0 {
			return message{}, false
		}
		m := list[0]
		list = list[1:]
		return m, true
	}
}

// ever makes a connection send messages of one size without end.
func (c *connection) ever(bytes shaping.Bytes) {
	c.next = func() (message, bool) { return message{bytes: bytes}, true }
}

// run handles every event before an instant.
func (r *rig) run(until shaping.Time) {
	for i := range r.conns {
		r.look(i)
	}
	for r.Next() < until {
		k, arg := r.Pop()
		switch k.Kind() {
		case transit.Arrive, transit.Leave:
			if r.Step(k.Kind(), arg) {
				r.deliver(arg)
			}
		case transit.Credit:
			r.conns[arg].slots++
			r.look(int(arg))
		case transit.Post:
			r.look(int(arg))
		}
	}
}

func (r *rig) deliver(i int32) {
	f := r.Frame(i)
	ci := int(f.Conn)
	c := r.conns[ci]
	d := c.sent[f.Seq]
	d.at = r.Now()
	c.delivered = append(c.delivered, d)
	delete(c.sent, f.Seq)
	r.Release(i)
	r.push(ci, transit.Credit, r.Now().Add(c.credit))
}

func (r *rig) push(ci int, k transit.Kind, at shaping.Time) {
	c := r.conns[ci]
	c.seq++
	r.Push(transit.Key{At: at, Ord: transit.Order(k, uint32(ci), c.seq)}, int32(ci))
}

// look lets a connection inject what it may inject by now.
func (r *rig) look(ci int) {
	c := r.conns[ci]
	for {
		if c.waiting == nil {
			m, ok := c.next()
			if !ok {
				return
			}
			c.waiting = &m
		}
		if c.slots == 0 {
			return
		}
		if at := max(c.waiting.at, c.busy); at > r.Now() {
			if at != c.woken {
				c.woken = at
				r.push(ci, transit.Post, at)
			}
			return
		}
		r.inject(ci)
	}
}

func (r *rig) inject(ci int) {
	c := r.conns[ci]
	m := *c.waiting
	c.waiting = nil
	c.slots--
	c.seq++
	f := transit.Frame{Source: uint32(ci), Seq: c.seq, Conn: uint32(ci), Local: int32(ci),
		From: int32(ci), To: 0, Bytes: m.bytes}
	c.busy = r.Inject(f, &c.path, r.Now(), r.Now())
	c.sent[f.Seq] = delivery{message: m, seq: f.Seq, left: c.busy}
}

// held returns for how long each connection had a port in a span of time, as
// the records say.
func (r *rig) held(port int, from, to shaping.Time) []shaping.Duration {
	got := make([]shaping.Duration, len(r.conns))
	for _, x := range r.Records {
		if x.Port != r.ports[port] {
			continue
		}
		start, end := max(from, x.Start), min(to, x.Start.Add(x.Duration))
		if start < end {
			got[x.Rank] += end.Sub(start)
		}
	}
	return got
}
