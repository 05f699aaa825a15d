package transit

import (
	"fmt"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/fault"
	"github.com/railyard/railyard/shaping"
)

// Owners says which participant owns what: each hosts some nodes, and one more
// may own the shared ports.
type Owners struct {
	// Node is the participant that hosts each node.
	Node []int
	// Shared is the participant that owns the shared ports.
	Shared int
}

// Port returns the participant that owns a port.
func (o *Owners) Port(p fabric.Port) int {
	if p.Node == fabric.Shared {
		return o.Shared
	}
	return o.Node[p.Node]
}

// Transit carries frames over the ports of one participant.
type Transit struct {
	Queue
	fabric *fabric.Fabric
	owner  []int32 // port → participant
	hosts  []int   // node → participant
	me     int32
	ports  []port
	span   shaping.Duration // of their calendars
	frames []Frame
	free   []int32

	faults *fault.Schedule // nil: none
	deaths bool            // some node dies
	Ways   *Ways           // nil without faults
	fate   Fate            // of the frame injected last
	gaps   map[uint32]gap  // of connections that lost a frame at a shared port
	lost   []Loss          // news on its way to senders here, by the number that events carry
	seen   shaping.Time    // see Seen

	// Left collects the frames that left for another participant, in order.
	Left []Emission
	// Records collects the ports' records, when Record is set.
	Records []emu.Record
	Record  bool
	index   uint32 // position among the records of the current event
	lastKey Key
}

// Emission is a header on its way to another participant.
type Emission struct {
	To    int
	Local int32 // of the frame
	Header
}

type port struct {
	shaping.Calendar
	flows []flow
	*weather
	spare bool // nothing is booked, unless a fault has taken some of its rate
}

// MaxFrame is the most bytes a frame may have on the wire: more than a slice
// ever has, which is at most 8 steps of 512 KiB, flags included.
const MaxFrame = 8 * shaping.MiB

// New returns the transit of participant me over the ports it owns.
func New(f *fabric.Fabric, o Owners, me int, record bool) *Transit {
	t := &Transit{fabric: f, me: int32(me), Record: record, span: span(f, nil), hosts: o.Node,
		owner: make([]int32, f.Ports()), ports: make([]port, f.Ports())}
	for i := range t.owner {
		p := f.Port(fabric.PortID(i))
		t.owner[i] = int32(o.Port(p))
		if t.owner[i] != t.me {
			continue
		}
		t.ports[i].Calendar, t.ports[i].spare = shaping.NewCalendar(p.Rate, t.span), p.Spare
		if record {
			t.ports[i].Trace()
		}
	}
	return t
}

// Suffer makes faults strike the ports; after sweep switches route round what is
// dead, never with 0. A schedule that replaces another must agree
// with it up to what has been Seen.
func (t *Transit) Suffer(s *fault.Schedule, sweep shaping.Duration) {
	t.faults, t.deaths, t.span = s, s.Deadly(), span(t.fabric, s)
	t.Ways = newWays(t.fabric, s, sweep)
	for i := range t.ports {
		p := &t.ports[i]
		switch line := s.Port(fabric.PortID(i)); {
		case line == nil:
			p.weather = nil
		case p.weather == nil:
			p.weather = &weather{line: line, declared: t.fabric.Port(fabric.PortID(i)).Rate, State: fault.Sound}
		default: // what is booked leaves as it would have
			p.line, p.until = line, 0
		}
		if t.owner[i] == t.me {
			p.SetSpan(t.span)
		}
	}
}

// span returns the longest that the head of a frame may lie behind its tail: what
// the slowest port, SM or switch needs for the largest. More than that no calendar has
// to remember, and a shorter memory is one that fits a cache.
func span(f *fabric.Fabric, s *fault.Schedule) shaping.Duration {
	slowest := f.Port(0).Rate
	for i := range f.Ports() {
		r := f.Port(fabric.PortID(i)).Rate
		if l := s.Port(fabric.PortID(i)); l != nil {
			r = r.Part(l.Least(), fault.Whole)
		}
		slowest = min(slowest, r)
	}
	for i := range f.Nodes() {
		slowest = min(slowest, f.System(i).SM.Rate, f.System(i).SM.Host)
	}
	if r := f.SwitchRate(); r > 0 {
		slowest = min(slowest, r)
	}
	return slowest.Part(s.LeastSpeed(), fault.Whole).Time(MaxFrame)
}

// Seen returns the latest instant of which it mattered what faults do then: frames
// that are on their way have been found to get to their next ports. A schedule may
// be replaced by one that differs from it after that, and nobody can tell that it
// was not the one to begin with.
func (t *Transit) Seen() shaping.Time { return t.seen }

// Use returns the bytes a port has carried and for how long it was busy.
func (t *Transit) Use(id fabric.PortID) (shaping.Bytes, shaping.Duration) {
	return t.ports[id].Booked()
}

// Owns reports whether this participant owns the port.
func (t *Transit) Owns(id fabric.PortID) bool { return t.owner[id] == t.me }

// Frame returns a frame by the number that events carry.
func (t *Transit) Frame(i int32) *Frame { return &t.frames[i] }

// Release gives back a frame that has arrived.
func (t *Transit) Release(i int32) { t.free = append(t.free, i) }

// admit makes room for a frame. The frame released last gives its place: that
// is in the cache.
func (t *Transit) admit() int32 {
	if n := len(t.free); n > 0 {
		i := t.free[n-1]
		t.free = t.free[:n-1]
		return i
	}
	t.frames = append(t.frames, Frame{})
	return int32(len(t.frames) - 1)
}

// Inject books frame f, whose bytes become available at the source from head h
// to tail u, on the ports up to the source's egress, and sends it on its way.
// It returns the end of the egress booking: a connection may inject again then.
// A switch has no egress of its own: nothing is booked, the latency goes by.
func (t *Transit) Inject(f Frame, path *fabric.Path, h, u shaping.Time) shaping.Time {
	if path.Inject < 1 && path.Lead == 0 {
		panic("transit: a path without an egress")
	}
	end := u
	h, u = h.Add(path.Lead), u.Add(path.Lead)
	for at, id := range path.Ports[:path.Inject] {
		p := &t.ports[id]
		p.tune(t.Now())
		k := p.Book(t.Now(), h, u, f.Bytes)
		if t.Record {
			f.path, f.at = path, int32(at)
			t.note(&f, p, f.Bytes, f.Bytes)
		}
		lat := path.Latency[at] + p.delay(t, id, &f)
		h, u, end = p.Head(k.Start, k.End, h, u, f.Bytes).Add(lat), p.inOrder(&f, k.End.Add(lat)), k.End
	}
	f.path, f.at, f.Head, f.Tail = path, int32(path.Inject), h, u
	t.seen = max(t.seen, u)
	if t.faults != nil && !t.departs(&f, end) {
		return end
	}
	i := t.admit()
	t.frames[i] = f
	t.forward(i)
	return end
}

// Rest keeps an owned port idle for a while after what it carried until an instant.
func (t *Transit) Rest(id fabric.PortID, from shaping.Time, d shaping.Duration) {
	t.ports[id].Rest(t.Now(), from, d)
}

// forward schedules the arrival of a frame at its next port, here or at the
// participant that owns it.
func (t *Transit) forward(i int32) {
	f := &t.frames[i]
	if t.deaths && t.intoGrave(f) {
		t.Release(i)
		return
	}
	to := t.me
	if int(f.at) < len(f.path.Ports) {
		to = t.owner[f.path.Ports[f.at]]
	} else if f.path.InSwitch {
		to = int32(t.hosts[f.path.Node])
	}
	if to != t.me {
		t.Left = append(t.Left, Emission{int(to), f.Local, f.header()})
		t.Release(i)
		return
	}
	t.Push(Key{f.Tail, Order(Arrive, f.Source, f.Seq), f.Hop}, i)
}

// Accept takes a frame that another participant handed on.
func (t *Transit) Accept(h Header, path *fabric.Path, local int32) {
	i := t.admit()
	t.frames[i] = Frame{Source: h.Source, Seq: h.Seq, Hop: h.Hop, Conn: h.Conn, Local: local, Leg: Wire, Payload: h.Payload,
		From: h.From, To: h.To, Channel: h.Channel, Protocol: h.Protocol,
		path: path, at: h.At, Bytes: h.Bytes, Head: h.Head, Tail: h.Tail, PSN: h.PSN, Way: h.Way, Flip: h.Flip}
	t.Push(h.Key(), i)
}

func (f *Frame) header() Header {
	return Header{Conn: f.Conn, Source: f.Source, Seq: f.Seq, Hop: f.Hop, Payload: f.Payload, At: f.at,
		Head: f.Head, Tail: f.Tail, Bytes: f.Bytes, PSN: f.PSN, Way: f.Way, Flip: f.Flip, From: f.From, To: f.To, Channel: f.Channel, Protocol: f.Protocol}
}

// Step carries frame i on from an Arrive or Leave event. It reports whether the
// frame has reached the end of its path, now.
func (t *Transit) Step(k Kind, i int32) (arrived bool) {
	if k == Leave {
		return t.resume(i)
	}
	return t.reach(i)
}

// depart takes a frame that leaves its port at instant e, which is now, on to
// the next port or the end of its path.
func (t *Transit) depart(i int32, e shaping.Time) (arrived bool) {
	f := &t.frames[i]
	if e != t.Now() {
		panic(fmt.Sprintf("transit: frame departs at %d ps, now is %d ps", int64(e), int64(t.Now())))
	}
	p := &t.ports[f.path.Ports[f.at]]
	return t.leave(i, p.Head(f.start, e, f.Head, f.Tail, f.Bytes), e)
}

// leave takes a frame on whose first byte leaves its port at head and whose last
// one now.
func (t *Transit) leave(i int32, head, e shaping.Time) (arrived bool) {
	f := &t.frames[i]
	p := &t.ports[f.path.Ports[f.at]]
	lat := f.path.Latency[f.at] + p.delay(t, f.path.Ports[f.at], f)
	f.Head, f.Tail = head.Add(lat), p.inOrder(f, e.Add(lat))
	t.seen = max(t.seen, f.Tail)
	f.at++
	f.Hop++
	if lat > 0 || f.Tail > e { // no latency, but the frame ahead had some, of a fault's
		if t.faults != nil && !t.carries(i) {
			return false
		}
		t.forward(i)
		return false
	}
	if int(f.at) == len(f.path.Ports) {
		return true
	}
	if t.owner[f.path.Ports[f.at]] != t.me {
		panic("transit: no latency between two participants")
	}
	return t.reach(i)
}

// note records what a port has just booked for b bytes of a frame: one record a
// piece, cut where one quantum ends and the next begins.
func (t *Transit) note(f *Frame, p *port, b, quantum shaping.Bytes) {
	pieces := p.Pieces()
	for b > 0 {
		part := min(b, quantum)
		pieces = t.noteQuantum(f, p, part, pieces)
		b -= part
	}
}

// noteQuantum records the pieces in which b bytes pass and returns those that
// are left.
func (t *Transit) noteQuantum(f *Frame, p *port, b shaping.Bytes, pieces []shaping.Piece) []shaping.Piece {
	need := p.Rate().Time(b)
	var done shaping.Bytes
	var busy shaping.Duration
	for busy < need {
		piece := &pieces[0]
		start, d := piece.Start, min(piece.End.Sub(piece.Start), need-busy)
		if piece.Start = start.Add(d); piece.Start == piece.End {
			pieces = pieces[1:]
		}
		busy += d
		part := b - done
		if busy < need {
			part = min(part, p.Rate().Carries(busy)-done)
		}
		done += part
		t.Log(emu.Record{Start: start, Duration: d, Rank: f.From, Peer: f.To, Channel: fabric.ChannelOf(f.Channel),
			Run: -1, Block: -1, Step: -1, Kind: emu.Carry, Port: f.path.Ports[f.at], Bytes: part})
	}
	return pieces
}

// Log adds a record of the current event.
func (t *Transit) Log(r emu.Record) {
	if k := t.Current(); k != t.lastKey {
		t.lastKey, t.index = k, 0
	}
	r.At, r.Ord, r.Hop, r.Index = t.lastKey.At, t.lastKey.Ord, t.lastKey.Hop, t.index
	t.index++
	t.Records = append(t.Records, r)
}
