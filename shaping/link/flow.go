package link

import (
	"time"

	"github.com/railyard/railyard/shaping"
	"github.com/railyard/railyard/shaping/pacer"
)

// mark says what a segment is. All but data are of no size, and the last or last
// but one of their flow.
type mark int

const (
	data mark = iota
	half      // no more data in this direction, for the reason in err
	full      // the connection is closed
)

// segment is a part of a stream on its way.
type segment struct {
	mark  mark
	err   error // of half
	data  []byte
	buf   *[]byte       // that data lies in; nil when it is not the pool's
	at    shaping.Bytes // where it begins in the stream
	since shaping.Time  // when it was put
	due   shaping.Time  // when it arrives
}

// overhead is what a segment counts as, on top of its bytes, against the bounds
// of a flow: many small ones need memory too.
const overhead = 256

func (s *segment) cost() int { return len(s.data) + overhead }

// flow is one connection's bytes in one direction. Its fields are guarded by the
// link's mutex.
type flow struct {
	link   *Link
	way    *way
	stream uint64
	offset shaping.Bytes // of what is put next

	waiting fifo         // not yet sent
	flying  fifo         // sent, in the order in which they arrive
	ready   fifo         // arrived
	left    shaping.Time // of the segment sent last
	last    shaping.Time // when the segment sent last arrives
	queued  int          // cost of waiting
	credit  int          // bytes that earlier turns left over
	held    int          // cost of all that is put and not released
	dropped bool         // what is put goes nowhere

	// Whoever waits for room has something to send all the while, whenever the host
	// lets it run. So what it then puts counts as put when there was room.
	blocked bool             // somebody waits
	freed   shaping.Time     // as of when there is room for it; Never: there is none yet
	lag     shaping.Duration // by how much it is behind what it would have put by now

	leaving       bool // leave is set
	leave, arrive pacer.Event
	// Each holds one: there may be room, there may be something ready. Either has
	// one goroutine that waits.
	roomy, some chan struct{}

	direct  func([]byte) int // writes without waiting; nil where that can't be
	pumping bool             // the pump may be writing
}

func newFlow(l *Link, w *way, stream uint64) *flow {
	f := &flow{link: l, way: w, stream: stream, roomy: make(chan struct{}, 1), some: make(chan struct{}, 1)}
	f.leave.Func, f.arrive.Func = f.onLeave, f.onArrive
	return f
}

// room reports whether a segment may be put. What waits is shared by all
// connections; what is in memory only by those that have a lot of it, so that one
// that is busy beside many at rest fills the link.
func (f *flow) room() bool {
	queue := max(leastBuf, f.link.buffer/max(len(f.link.conns), 1))
	window := max(leastBuf, f.link.window/max(f.way.large, 1))
	return f.dropped || f.queued < queue && f.held < window
}

// mayPut reports whether there is room, for who then puts at once or waits.
func (f *flow) mayPut() bool {
	switch {
	case !f.room():
		f.blocked, f.freed = true, shaping.Never
		return false
	case f.blocked:
		// What it was behind before counts still, until it has caught up: then it
		// waited for what the link holds to be taken away, which is the host's part too.
		f.lag = max(f.lag, f.link.now().Sub(f.freed))
		f.blocked = false
	}
	return true
}

// giveUp says that who waited for room does so no more.
func (f *flow) giveUp() {
	f.link.mu.Lock()
	defer f.link.mu.Unlock()
	f.blocked = false
}

// free notes that there may be room as of an instant, and says so.
func (f *flow) free(at shaping.Time) {
	if f.blocked && f.freed == shaping.Never && f.room() {
		f.freed = at
	}
	signal(f.roomy)
}

// asOf returns as of when something is put. Whoever is behind, and does not keep the
// link busy even so, has been at rest: it is behind no more.
func (f *flow) asOf(now shaping.Time) shaping.Time {
	at := now.Add(-f.lag)
	if f.waiting.empty() && at >= f.left {
		f.lag = 0
		return now
	}
	return at
}

// hold counts what a flow has in memory.
func (f *flow) hold(cost int) {
	if f.dropped {
		return
	}
	was := f.held > leastBuf
	f.held += cost
	switch is := f.held > leastBuf; {
	case is && !was:
		f.way.large++
	case was && !is:
		f.way.large--
	}
}

// cut returns how much of n bytes is put as one segment. Segments end at fixed
// places of the stream, so that the same stream is cut alike whenever there was
// room.
func (f *flow) cut(n int) int {
	return min(n, f.link.quantum-int(f.offset%shaping.Bytes(f.link.quantum)))
}

// put sends a segment, or has it wait for its turn.
func (f *flow) put(s segment) {
	if f.dropped {
		f.link.recycle(&s)
		return
	}
	f.link.rest()
	now := f.link.now()
	s.since, s.at = f.asOf(now), f.offset
	f.offset += shaping.Bytes(len(s.data))
	f.hold(s.cost())
	f.link.busy++
	if f.waiting.empty() && now >= f.left {
		f.send(now, max(f.left, s.since), s)
		return
	}
	f.queued += s.cost()
	f.waiting.push(s)
	f.awaitLeave()
}

func (f *flow) awaitLeave() {
	if !f.leaving && !f.waiting.empty() {
		f.leaving = true
		f.link.pacer.Set(&f.leave, f.link.instant(f.left))
	}
}

// send books a segment on the ports, as if at an instant that may be past.
func (f *flow) send(now, at shaping.Time, s segment) {
	if at < now.Add(-patience) {
		f.way.stats.Overrun++
	}
	size := shaping.Bytes(len(s.data))
	p := f.way.chain.Pass(now, at, shaping.Segment{Stream: f.stream, Offset: s.at, Size: size})
	if f.left = p.Left; f.left > now {
		f.lag = 0
	}
	f.last = max(f.last, p.Arrives)
	s.due = f.last
	f.way.stats.Lost += int64(p.Lost)
	if s.due <= now && f.flying.empty() { // no latency, or the host is late
		f.arrived(now, s)
		signal(f.some)
		return
	}
	f.flying.push(s)
	if f.flying.len() == 1 {
		f.awaitArrive()
	}
}

// onLeave runs when the ports are through with what was sent and more waits: it is
// the flow's turn. A turn is a quantum, whatever the segments' size, and what is
// left of it counts for the next one (deficit round robin).
func (f *flow) onLeave(time.Duration) {
	f.link.mu.Lock()
	defer f.link.mu.Unlock()
	f.leaving = false
	if f.dropped || f.waiting.empty() {
		return
	}
	now := f.link.now()
	f.credit += f.link.quantum
	for !f.waiting.empty() && len(f.waiting.first().data) <= f.credit {
		s := f.waiting.pop()
		at := max(f.left, s.since)
		f.queued -= s.cost()
		f.credit -= len(s.data)
		f.free(at)
		f.send(now, at, s)
	}
	if f.waiting.empty() {
		f.credit = 0
	}
	f.awaitLeave()
}

// onArrive runs when the first segment that flies is due, or shortly before.
func (f *flow) onArrive(late time.Duration) {
	f.link.mu.Lock()
	defer f.link.mu.Unlock()
	if f.dropped {
		return
	}
	now := f.link.now()
	if late <= directLate {
		f.short(now)
	}
	for !f.flying.empty() && f.flying.first().due <= now {
		f.arrived(now, f.flying.pop())
	}
	f.awaitArrive()
	if !f.ready.empty() {
		signal(f.some)
	}
}

// awaitArrive sets the event of the first segment that flies.
func (f *flow) awaitArrive() {
	if f.flying.empty() {
		return
	}
	s := f.flying.first()
	at := s.due
	if now := f.link.now(); f.isShort(s) && at.Add(-f.link.lead) > now {
		at = at.Add(-f.link.lead)
	}
	f.link.pacer.Set(&f.arrive, f.link.instant(at))
}

// arrived makes a segment ready.
func (f *flow) arrived(now shaping.Time, s segment) {
	f.way.stats.arrived(len(s.data), now.Sub(s.due))
	f.ready.push(s)
	f.link.busy--
}

// take takes the first segment that is ready.
func (f *flow) take() (segment, bool) {
	f.link.mu.Lock()
	defer f.link.mu.Unlock()
	if f.ready.empty() {
		return segment{}, false
	}
	return f.ready.pop(), true
}

// takeSome takes as many segments of data as are ready, or else one mark.
func (f *flow) takeSome(into []segment) []segment {
	f.link.mu.Lock()
	defer f.link.mu.Unlock()
	for len(into) < most && !f.ready.empty() {
		if f.ready.first().mark != data && len(into) > 0 {
			break
		}
		into = append(into, f.ready.pop())
		if into[len(into)-1].mark != data {
			break
		}
	}
	f.pumping = len(into) > 0
	return into
}

// release says that a segment which was taken is through.
func (f *flow) release(s *segment) {
	f.link.mu.Lock()
	defer f.link.mu.Unlock()
	f.hold(-s.cost())
	f.link.recycle(s)
	f.free(f.link.now())
}

// drop forgets all that is under way, and what will be put.
func (f *flow) drop() {
	f.link.mu.Lock()
	defer f.link.mu.Unlock()
	if f.dropped {
		return
	}
	f.hold(-f.held)
	f.dropped = true
	f.link.busy -= f.waiting.len() + f.flying.len()
	f.link.pacer.Stop(&f.leave)
	f.link.pacer.Stop(&f.arrive)
	f.waiting, f.flying, f.ready = fifo{}, fifo{}, fifo{}
	signal(f.roomy)
	signal(f.some)
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
