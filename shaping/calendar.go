package shaping

import "fmt"

// Calendar is a port's busy time: which spans of emulated time are taken, and
// at which rate bytes pass in them. A transfer takes the earliest free time at
// or after its head reached the port, in pieces where need be:
//
//	busy      ████████      ███████
//	booking           ░░░░░░       ░░░░
//	          head┘   └start            └end
//
// Callers book in the kernel's order. Free time that lies further back than
// the calendar's span is forgotten: no transfer may reach it any more.
type Calendar struct {
	// What every booking touches comes first, in one cache line: a cluster has
	// more ports than a core's cache has room.
	end    Time     // of the last busy span: most bookings need to know no more
	lastB  Bytes    // the amount booked last, and what it needs: most are alike
	lastD  Duration // of lastB
	booked Bytes    // all bytes ever booked
	used   Duration // all time ever booked
	busy   []Piece  // disjoint, ascending, never adjacent

	span Duration // longest u−h of any booking; what lies behind now−span may be forgotten
	rate Rate
	head int // busy[:head] is forgotten
	// floor is the latest forgotten instant. A booking whose head lies before
	// it could borrow time that another transfer has had: it panics.
	floor  Time
	pieces *[]Piece // of the last booking; nil when not traced
}

// Piece is a span of time in which a port is busy.
type Piece struct{ Start, End Time }

// Booking is what a port gives a transfer.
type Booking struct {
	Start Time // start of the first piece: the instant the port begins with it
	End   Time // e: the last byte has left; never before the tail arrived
}

// NewCalendar returns the calendar of a port with the given rate, on which no
// booking made at instant t has a head before t−span.
func NewCalendar(rate Rate, span Duration) Calendar {
	if rate <= 0 {
		panic(fmt.Sprintf("shaping: a port needs a rate above zero, not %d B/s", int64(rate)))
	}
	return Calendar{rate: rate, span: span}
}

// Rate returns the port's rate.
func (c *Calendar) Rate() Rate { return c.rate }

// SetRate changes the rate of what is booked from now on. Bookings made earlier
// stand.
func (c *Calendar) SetRate(r Rate) {
	if r <= 0 {
		panic(fmt.Sprintf("shaping: a port needs a rate above zero, not %d B/s", int64(r)))
	}
	c.rate, c.lastB, c.lastD = r, 0, 0
}

// SetSpan changes how far behind now heads may lie from now on.
func (c *Calendar) SetSpan(d Duration) { c.span = max(c.span, d) }

// Booked returns the bytes booked so far and the time they take.
func (c *Calendar) Booked() (Bytes, Duration) { return c.booked, c.used }

// Trace makes the calendar remember the pieces of its last booking.
func (c *Calendar) Trace() { c.pieces = new([]Piece) }

// Pieces returns the pieces of the last booking of a traced calendar, valid
// until the next one. Zero bytes have none.
func (c *Calendar) Pieces() []Piece {
	if c.pieces == nil {
		return nil
	}
	return *c.pieces
}

// Fits reports whether b bytes whose head came at h all pass by instant u,
// without a look at more than the last busy span.
func (c *Calendar) Fits(h, u Time, b Bytes) bool {
	return c.end <= h && h.Add(c.need(b)) <= u
}

func (c *Calendar) need(b Bytes) Duration {
	if b != c.lastB {
		c.lastB, c.lastD = b, c.rate.Time(b)
	}
	return c.lastD
}

// Book gives b bytes, whose head reaches the port at h and whose tail at u, the
// earliest free time at or after h. It is called at instant now; h may lie in
// the past of now by at most the calendar's span, or in its future.
//
// Zero bytes take no time: they leave when their tail arrives.
func (c *Calendar) Book(now, h, u Time, b Bytes) Booking {
	c.check(now, h)
	if b == 0 {
		return Booking{Start: h, End: max(h, u)}
	}
	start, end := c.book(now, h, c.need(b), b)
	return Booking{start, max(end, u)}
}

// Rest keeps the port idle for d of the free time from an instant on, as a booking
// would, but neither bytes nor time count as used. It is called at instant now.
func (c *Calendar) Rest(now, from Time, d Duration) {
	if d <= 0 {
		return
	}
	c.check(now, from)
	c.book(now, from, d, 0)
	c.used -= d
}

// Turn gives a transfer of b bytes, whose head reached the port at h, not after
// now, the free time from then on, one quantum after the other: as many as end
// by now, and one more. It returns how many bytes that is. It books what Book
// would for one quantum after the other, in one pass.
func (c *Calendar) Turn(now, h Time, b, quantum Bytes) (Booking, Bytes) {
	if b <= quantum {
		return c.Book(now, h, now, b), b
	}
	c.check(now, h)
	whole := (b - 1) / quantum // quanta before the last, which may be smaller
	each := c.rate.Time(quantum)
	all := Duration(whole)*each + c.rate.Time(b-whole*quantum)
	if free := c.free(h, now); all > free {
		if n := Bytes(free / each); n < whole {
			b, all = (n+1)*quantum, Duration(n+1)*each
		}
	}
	start, end := c.book(now, h, all, b)
	return Booking{start, max(end, now)}, b
}

// check panics when a booking reaches back to where the calendar has forgotten
// something, or now may.
func (c *Calendar) check(now, h Time) {
	if c.pieces != nil {
		*c.pieces = (*c.pieces)[:0]
	}
	if h >= now.Add(-c.span) {
		return // and so behind nothing that may be forgotten
	}
	c.forget(now)
	if h < c.floor {
		panic(fmt.Sprintf("shaping: booking at %d ps behind the calendar's floor %d ps", int64(h), int64(c.floor)))
	}
}

func (c *Calendar) book(now, h Time, need Duration, b Bytes) (start, end Time) {
	c.booked += b
	c.used += need
	if len(c.busy) == cap(c.busy) {
		c.forget(now)
	}
	if h < c.end {
		start, end = c.fill(h, need)
		c.end = c.busy[len(c.busy)-1].End
		return start, end
	}
	end = h.Add(need)
	c.push(Piece{h, end})
	c.note(h, end)
	return h, end
}

// free returns how much of the time from h to now is free.
func (c *Calendar) free(h, now Time) Duration {
	d := now.Sub(h)
	for i := len(c.busy) - 1; i >= c.head && c.busy[i].End > h; i-- {
		if p := c.busy[i]; p.Start < now {
			d -= min(p.End, now).Sub(max(p.Start, h))
		}
	}
	return d
}

// Head returns when the first byte of a transfer leaves the port, for the next
// port of its path: not before the port began with it, and not so early that
// the next port could give it time which had passed before its bytes came. The
// transfer had its head at h and its tail at u, began at start and left at end.
// Zero bytes pass their head on as it came, unless they had to wait for a turn.
func (c *Calendar) Head(start, end, h, u Time, b Bytes) Time {
	return max(start, end.Add(-max(c.need(b), u.Sub(h))))
}

// fill marks need of free time from h on as busy, where h lies before the end
// of the last busy span, and returns the first start and the last end.
func (c *Calendar) fill(h Time, need Duration) (start, end Time) {
	i := len(c.busy) - 1
	for i > c.head && c.busy[i-1].End > h {
		i--
	}
	// busy[i] is the first piece that ends after h: fill the gaps from there.
	at, first := h, true
	j := i
	for {
		if j < len(c.busy) && c.busy[j].Start <= at {
			at = max(at, c.busy[j].End)
			j++
			continue
		}
		room := need
		if j < len(c.busy) {
			room = min(need, c.busy[j].Start.Sub(at))
		}
		if first {
			start, first = at, false
		}
		c.note(at, at.Add(room))
		need -= room
		at = at.Add(room)
		if need == 0 {
			break
		}
	}
	c.cover(i, j, start, at)
	return start, at
}

func (c *Calendar) note(start, end Time) {
	if c.pieces != nil {
		*c.pieces = append(*c.pieces, Piece{start, end})
	}
}

// cover replaces busy[i:j] and everything between start and end by one piece:
// whatever lay between is taken now. Pieces before start that the booking only
// stepped over stay as they are.
func (c *Calendar) cover(i, j int, start, end Time) {
	for i < j && c.busy[i].End < start {
		i++
	}
	merged := Piece{start, end}
	if i < j {
		merged.Start = min(start, c.busy[i].Start)
		merged.End = max(end, c.busy[j-1].End)
	}
	if i > c.head && c.busy[i-1].End == merged.Start {
		i--
		merged.Start = c.busy[i].Start
	}
	if j < len(c.busy) && c.busy[j].Start == merged.End {
		merged.End = c.busy[j].End
		j++
	}
	if i == j {
		c.busy = append(c.busy, Piece{})
		copy(c.busy[i+1:], c.busy[i:])
		c.busy[i] = merged
		return
	}
	c.busy[i] = merged
	c.busy = append(c.busy[:i+1], c.busy[j:]...)
}

// push adds a piece that begins at or after the end of all others.
func (c *Calendar) push(p Piece) {
	adjacent := p.Start == c.end && len(c.busy) > c.head
	c.end = p.End
	if adjacent {
		c.busy[len(c.busy)-1].End = p.End
		return
	}
	c.busy = append(c.busy, p)
}

// forget drops what lies behind now−span. It is called when there is no room
// for more: to look at the oldest piece at each booking would cost a cache miss.
func (c *Calendar) forget(now Time) {
	bound := now.Add(-c.span)
	for c.head < len(c.busy) && c.busy[c.head].End <= bound {
		c.floor = c.busy[c.head].End
		c.head++
	}
	if 2*c.head > len(c.busy) {
		c.busy = c.busy[:copy(c.busy, c.busy[c.head:])]
		c.head = 0
	}
}
