package window

import (
	"fmt"

	"github.com/railyard/railyard/emu/transit"
	"github.com/railyard/railyard/shaping"
)

// Conductor turns reports into grants. It is a state machine: Report for every
// participant granted, then Round, and so on until a round grants nobody.
type Conductor struct {
	parts  []part
	shared *transit.Shared // nil when nothing can be contended

	// Limit, when above zero, is the longest window granted. It bounds what
	// participants hold back until a window is over, and changes no time.
	Limit shaping.Duration

	// Cap is an instant that no window passes; Never: none.
	Cap shaping.Time

	// Rounds and Grants count what the virtual clock costs.
	Rounds, Grants uint64

	horizon shaping.Time
	seen    shaping.Time // the latest instant that a participant has come to, or looked at
}

// Horizon returns the horizon of the last round. When its reports are in, every
// event before it has been handled.
func (c *Conductor) Horizon() shaping.Time { return c.horizon }

type part struct {
	Report
	waiting bool // granted, and not reported yet
	// What is in flight to this participant, sent since it was granted last.
	stamp, induced shaping.Time
	granted        shaping.Time
	end            shaping.Time // it dies then
	gone           bool         // it has
	expect         []uint64     // frames from each participant
	frames         []transit.Header
}

// New returns the conductor of n participants. Every one has to report before
// the first round. The fabric participant is shared, or nil.
func New(n int, shared *transit.Shared) *Conductor {
	c := &Conductor{parts: make([]part, n), shared: shared, Cap: shaping.Never}
	for i := range c.parts {
		c.parts[i] = part{waiting: true, end: shaping.Never, stamp: shaping.Never, induced: shaping.Never, expect: make([]uint64, n)}
	}
	return c
}

// Await makes every participant owe a report and forgets horizons: a batch has
// begun, all of which lies after everything before it.
func (c *Conductor) Await() {
	for i := range c.parts {
		c.parts[i].waiting, c.parts[i].granted = !c.parts[i].gone, 0
	}
}

// Bury makes a participant run no further than an instant: its process dies then.
// Gone tells when it has got there.
func (c *Conductor) Bury(i int, at shaping.Time) {
	if p := &c.parts[i]; !p.gone {
		p.end = at
	}
}

// Lose takes a participant out at the horizon: its process is gone. Whatever it owes
// will not come. It returns the instant.
func (c *Conductor) Lose(i int) shaping.Time {
	p := &c.parts[i]
	at := max(c.horizon, c.Now()+1)
	if c.horizon == shaping.Never {
		at = c.Now() + 1
	}
	p.end, p.gone, p.waiting = min(p.end, at), true, false
	p.Next, p.Out = shaping.Never, shaping.Never
	return p.end
}

// Untouched returns the earliest instant that nobody has come to, and of which
// nobody has looked at what faults do then. Nobody may owe a report.
func (c *Conductor) Untouched() shaping.Time {
	at := c.seen + 1
	if c.horizon != shaping.Never {
		at = max(at, c.horizon)
	}
	if c.shared != nil {
		at = max(at, c.shared.Now()+1, c.shared.Seen()+1)
	}
	return at
}

// Gone reports whether a participant that was to die has: something has happened
// after that, and it has nothing left to do before.
func (c *Conductor) Gone(i int) bool {
	p := &c.parts[i]
	p.gone = p.gone || p.end != shaping.Never && !p.waiting && p.pending() == shaping.Never && c.Now() >= p.end
	return p.gone
}

// Pass says that everything before an instant is over: a batch begins there. Who
// was to die by then has died.
func (c *Conductor) Pass(at shaping.Time) {
	for i := range c.parts {
		p := &c.parts[i]
		p.gone = p.gone || p.end <= at
	}
}

// Abort forgets what is pending and in flight: the batch has been ended. The
// participants have to be told as well.
func (c *Conductor) Abort() {
	for i := range c.parts {
		p := &c.parts[i]
		p.Next, p.Out, p.frames = shaping.Never, shaping.Never, nil
		p.stamp, p.induced = shaping.Never, shaping.Never
	}
	if c.shared != nil {
		c.shared.Clear()
	}
}

// Pending returns the instant of the earliest thing that is to be done anywhere,
// Never when there is nothing.
func (c *Conductor) Pending() shaping.Time {
	next := shaping.Never
	for i := range c.parts {
		next = min(next, c.parts[i].pending())
	}
	if c.shared != nil {
		next = min(next, c.shared.Next())
	}
	return next
}

// Expects returns how many frames a participant has been sent by each other, so
// that it can tell when none is on its way any more.
func (c *Conductor) Expects(i int) []Expect { return c.parts[i].expected() }

// pending returns the instant of the earliest thing that a participant has to do;
// Never when it dies before that.
func (p *part) pending() shaping.Time {
	if next := min(p.Next, p.stamp); next < p.end {
		return next
	}
	return shaping.Never
}

// Report takes the report of a participant that owes one.
func (c *Conductor) Report(from int, r Report) {
	p := &c.parts[from]
	if !p.waiting {
		panic(fmt.Sprintf("window: participant %d reports without a grant", from))
	}
	p.waiting = false
	p.Report = r
	c.seen = max(c.seen, r.Now, r.Seen)
	// It has promised, and asserts, to send nothing before its horizon. The
	// bound it reckons from where it stands may be weaker than that.
	p.Out = max(p.Out, p.granted)
	for _, s := range r.Sent {
		to := &c.parts[s.To]
		to.expect[from] = s.Count
		to.lower(s.Stamp, s.Induced)
	}
	for _, h := range r.Shared {
		c.shared.Accept(h)
	}
}

func (p *part) lower(stamp, induced shaping.Time) {
	p.stamp = min(p.stamp, stamp)
	p.induced = min(p.induced, induced)
}

// Waiting reports whether some participant owes a report.
func (c *Conductor) Waiting() bool {
	for i := range c.parts {
		if c.parts[i].waiting {
			return true
		}
	}
	return false
}

// Round runs the fabric, then grants a window to every participant that has
// something before the horizon. No grants: nothing is pending anywhere before Cap.
func (c *Conductor) Round() []Grant {
	for {
		before := c.fabricEvents()
		c.advance()
		if grants := c.grants(); len(grants) > 0 {
			c.Rounds++
			c.Grants += uint64(len(grants))
			return grants
		}
		if c.Pending() >= c.Cap {
			return nil
		}
		if c.fabricEvents() == before {
			c.assertOver()
			return nil
		}
	}
}

// advance settles the horizon and runs the fabric up to it.
func (c *Conductor) advance() {
	horizon := shaping.Never
	for i := range c.parts {
		p := &c.parts[i]
		if p.waiting {
			panic(fmt.Sprintf("window: a round while participant %d owes a report", i))
		}
		if p.end == shaping.Never || p.pending() != shaping.Never { // else it dies before it could send anything
			horizon = min(horizon, p.Out, p.induced)
		}
	}
	// Limit and Cap hold for the fabric as well, so they come before it runs.
	if next := c.Pending(); c.Limit > 0 && next != shaping.Never {
		horizon = min(horizon, next.Add(c.Limit))
	}
	horizon = min(horizon, c.Cap)
	if c.shared != nil {
		horizon = c.shared.Forward(horizon, c.handOn)
		horizon = min(horizon, c.shared.Bound())
	}
	c.horizon = horizon
}

func (c *Conductor) grants() (all []Grant) {
	for i := range c.parts {
		if p := &c.parts[i]; p.pending() < c.horizon {
			all = append(all, p.grant(i, min(c.horizon, p.end)))
		}
	}
	return all
}

func (c *Conductor) fabricEvents() uint64 {
	if c.shared == nil {
		return 0
	}
	return c.shared.Popped()
}

// assertOver panics when nobody is granted although something is pending. Some
// bound did not lie behind what it was reckoned from; the clock would stand
// still, and the batch would seem to have ended.
func (c *Conductor) assertOver() {
	for i := range c.parts {
		if at := c.parts[i].pending(); at != shaping.Never {
			panic(fmt.Sprintf("window: participant %d has something to do at %d ps, which the horizon %d ps does not pass",
				i, int64(at), int64(c.horizon)))
		}
	}
	if c.shared != nil && c.shared.Next() != shaping.Never {
		panic(fmt.Sprintf("window: the fabric has something to do at %d ps, which the horizon %d ps does not pass",
			int64(c.shared.Next()), int64(c.horizon)))
	}
}

// handOn keeps a frame from the fabric for its receiver's next grant.
func (c *Conductor) handOn(e transit.Emission, induced shaping.Time) {
	p := &c.parts[e.To]
	if e.Tail < p.granted {
		panic(fmt.Sprintf("window: the fabric hands on a frame stamped %d ps before the horizon %d ps", int64(e.Tail), int64(p.granted)))
	}
	p.frames = append(p.frames, e.Header)
	p.lower(e.Tail, induced)
}

func (p *part) grant(i int, until shaping.Time) Grant {
	g := Grant{To: i, Until: until, Shared: p.frames, Expect: p.expected()}
	p.frames = nil
	p.stamp, p.induced = shaping.Never, shaping.Never
	p.granted = until
	p.waiting = true
	return g
}

func (p *part) expected() (all []Expect) {
	for from, n := range p.expect {
		if n > 0 {
			all = append(all, Expect{from, n})
		}
	}
	return all
}

// Now returns the instant of the latest event handled anywhere.
func (c *Conductor) Now() shaping.Time {
	now := shaping.Time(0)
	for i := range c.parts {
		now = max(now, c.parts[i].Now)
	}
	if c.shared != nil {
		now = max(now, c.shared.Now())
	}
	return now
}

// Events returns the number of events handled, the fabric's included.
func (c *Conductor) Events() uint64 {
	var n uint64
	for i := range c.parts {
		n += c.parts[i].Events
	}
	if c.shared != nil {
		n += c.shared.Popped()
	}
	return n
}

// Frames returns the number of frames and credits that crossed between
// participants, those through the fabric left out.
func (c *Conductor) Frames() uint64 {
	var n uint64
	for i := range c.parts {
		for _, e := range c.parts[i].expect {
			n += e
		}
	}
	return n
}

// Due reports whether a participant owes a report.
func (c *Conductor) Due(i int) bool { return c.parts[i].waiting }

// Owes returns the first participant that owes a report, or 0.
func (c *Conductor) Owes() int {
	for i := range c.parts {
		if c.parts[i].waiting {
			return i
		}
	}
	return 0
}
