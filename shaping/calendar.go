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
	rate Rate
	span Duration // longest u−h of any booking; what lies behind now−span is forgotten
	busy []Piece  // disjoint, ascending, never adjacent
	head int      // busy[:head] is forgotten
	// floor is the latest forgotten instant. A booking whose head lies before
	// it could borrow time that another transfer has had: it panics.
	floor  Time
	booked Bytes    // all bytes ever booked
	used   Duration // all time ever booked
	lastB  Bytes    // the amount booked last, and what it needs: most are alike
	lastD  Duration
	traced bool
	pieces []Piece // of the last booking, when traced
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

// Booked returns the bytes booked so far and the time they take.
func (c *Calendar) Booked() (Bytes, Duration) { return c.booked, c.used }

// Trace makes the calendar remember the pieces of its last booking.
func (c *Calendar) Trace() { c.traced = true }

// Pieces returns the pieces of the last booking of a traced calendar, valid
// until the next one. Zero bytes have none.
func (c *Calendar) Pieces() []Piece { return c.pieces }

// Fits reports whether b bytes whose head came at h all pass by instant u,
// without a look at more than the last busy span.
func (c *Calendar) Fits(h, u Time, b Bytes) bool {
	if n := len(c.busy); n > c.head && c.busy[n-1].End > h {
		return false
	}
	return h.Add(c.need(b)) <= u
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
	c.forget(now)
	if h < c.floor {
		panic(fmt.Sprintf("shaping: booking at %d ps behind the calendar's floor %d ps", int64(h), int64(c.floor)))
	}
	c.pieces = c.pieces[:0]
	if b == 0 {
		return Booking{Start: h, End: max(h, u)}
	}
	need := c.need(b)
	c.booked += b
	c.used += need
	k := Booking{}
	k.Start, k.End = c.take(h, need)
	k.End = max(k.End, u)
	return k
}

// Head returns when the first byte of a transfer leaves the port, for the next
// port of its path: not before the port began with it, and not so early that
// the next port could give it time which had passed before its bytes came. The
// transfer had its head at h and its tail at u, began at start and left at end.
// Zero bytes pass their head on as it came, unless they had to wait for a turn.
func (c *Calendar) Head(start, end, h, u Time, b Bytes) Time {
	return max(start, end.Add(-max(c.need(b), u.Sub(h))))
}

// take marks need of free time from h on as busy and returns the first start
// and the last end.
func (c *Calendar) take(h Time, need Duration) (start, end Time) {
	if n := len(c.busy); n == c.head || h >= c.busy[n-1].End {
		end = h.Add(need)
		c.push(Piece{h, end})
		c.note(h, end)
		return h, end
	}
	i := len(c.busy)
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
	if c.traced {
		c.pieces = append(c.pieces, Piece{start, end})
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

func (c *Calendar) push(p Piece) {
	if n := len(c.busy); n > c.head && c.busy[n-1].End == p.Start {
		c.busy[n-1].End = p.End
		return
	}
	c.busy = append(c.busy, p)
}

// forget drops what lies behind now−span and keeps the slice short: the live
// part moves to the front when the dead part is the larger.
func (c *Calendar) forget(now Time) {
	bound := now.Add(-c.span)
	for c.head < len(c.busy) && c.busy[c.head].End <= bound {
		c.floor = c.busy[c.head].End
		c.head++
	}
	if c.head > 8 && 2*c.head > len(c.busy) {
		c.busy = c.busy[:copy(c.busy, c.busy[c.head:])]
		c.head = 0
	}
}
