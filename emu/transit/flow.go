package transit

import (
	"github.com/railyard/railyard/emu/fault"
	"github.com/railyard/railyard/shaping"
)

// flow is a connection's turn at a port it does not have to itself: the frame
// whose booking ends after now, and those that wait behind it. There is a flow
// only while such a booking lasts; an idle port has none.
type flow struct {
	conn        uint32
	leg         uint8
	first, last int32
}

// quantum is the most a connection books ahead at a port downstream of the
// source. Without such a bound eight flows with unlike slots share a link 7 : 1.
const quantum = 64 * shaping.KiB

// reach handles a frame whose tail has come to a port: it books what the port
// can give it by now, or queues behind its own connection.
func (t *Transit) reach(i int32) (arrived bool) {
	f := &t.frames[i]
	if int(f.at) == len(f.path.Ports) {
		return true
	}
	f.rest, f.next = f.Bytes, -1
	// Only a peer whose ports are slower than the spec says hands on a head
	// that calendars do not remember. It must still see times, not a panic.
	f.Head = max(f.Head, t.Now().Add(-t.span))
	p := &t.ports[f.path.Ports[f.at]]
	p.tune(t.Now())
	if w := p.flow(f); w != nil {
		t.frames[w.last].next = i
		w.last = i
		return false
	}
	if p.spare && (p.weather == nil || p.Share == fault.Whole) {
		return t.leave(i, f.Head, f.Tail)
	}
	if p.Fits(f.Head, t.Now(), f.Bytes) {
		// The port had nothing else to do while the frame came in: cut-through.
		k := p.Book(t.Now(), f.Head, f.Tail, f.Bytes)
		if t.Record {
			t.note(f, p, f.Bytes, f.Bytes)
		}
		f.start = k.Start
		return t.depart(i, k.End)
	}
	end := t.book(i, f.Head)
	if end == t.Now() {
		return t.depart(i, end)
	}
	p.flows = append(p.flows, flow{f.Conn, f.Leg, i, i})
	return false
}

// book gives a frame the port's free time from head h on, in pieces of at most
// quantum, until it has it all or a booking ends after now. It returns the
// instant of that end, for which a Leave event is pending when it is not now.
func (t *Transit) book(i int32, h shaping.Time) shaping.Time {
	f := &t.frames[i]
	p := &t.ports[f.path.Ports[f.at]]
	p.tune(t.Now())
	k, part := p.Turn(t.Now(), h, f.rest, quantum)
	if t.Record {
		t.note(f, p, part, quantum)
	}
	if f.rest == f.Bytes {
		f.start = k.Start
	}
	f.rest -= part
	if k.End > t.Now() {
		f.Hop++
		t.Push(Key{k.End, Order(Leave, f.Source, f.Seq), f.Hop}, i)
	}
	return k.End
}

// resume handles the end of a booking: the frame books its next piece, or goes
// on and makes room for the next frame of its connection.
func (t *Transit) resume(i int32) (arrived bool) {
	f := &t.frames[i]
	p := &t.ports[f.path.Ports[f.at]]
	if f.rest > 0 {
		if t.book(i, t.Now()) > t.Now() {
			return false
		}
	}
	t.succeed(p, i)
	return t.depart(i, t.Now())
}

// succeed ends frame i's turn at a port and lets the next of its connection
// have it. What lies before now is not the next one's to take: its connection
// has had its booking there.
func (t *Transit) succeed(p *port, i int32) {
	w := p.flow(&t.frames[i])
	next := t.frames[i].next
	if next < 0 {
		*w = p.flows[len(p.flows)-1]
		p.flows = p.flows[:len(p.flows)-1]
		return
	}
	w.first = next
	if t.book(next, t.Now()) == t.Now() {
		// Zero bytes need no time, but their turn still ends by an event.
		f := &t.frames[next]
		f.Hop++
		t.Push(Key{t.Now(), Order(Leave, f.Source, f.Seq), f.Hop}, next)
	}
}

// flow finds the turn of a frame's connection at the port. Few connections
// contend for a port at once, so a list beats a map.
func (p *port) flow(f *Frame) *flow {
	for k := range p.flows {
		if w := &p.flows[k]; w.conn == f.Conn && w.leg == f.Leg {
			return w
		}
	}
	return nil
}
