package fault

import (
	"math/bits"
	"sort"

	"github.com/railyard/railyard/shaping"
)

// Whole is a share of all: shares are in millionths, so that they are integers.
const Whole = 1_000_000

// State is what faults make of a port, or of a GPU's engines, at an instant.
type State struct {
	Share   int64            // of the declared rate, in millionths
	Down    bool             // what reaches it is lost
	Extra   shaping.Duration // latency on top of the declared one
	Jitter  shaping.Duration // most of what is added beyond that, drawn for each frame
	Loss    int64            // chance that a packet is lost, in billionths
	Corrupt int64            // … or damaged, which the CRC catches; it is lost as well
}

// And returns what two causes make of a part together: shares multiply, latencies
// add up, a packet has to survive both, and down is down.
func (s State) And(o State) State {
	return State{Share: times(s.Share, o.Share), Down: s.Down || o.Down,
		Extra: plus(s.Extra, o.Extra), Jitter: plus(s.Jitter, o.Jitter),
		Loss: either(s.Loss, o.Loss), Corrupt: either(s.Corrupt, o.Corrupt)}
}

// times multiplies shares. What two causes leave is never nothing, when neither
// takes all.
func times(a, b int64) int64 {
	if a == 0 || b == 0 {
		return 0
	}
	return max(a*b/Whole, 1)
}

// either returns the chance that at least one of two happens.
func either(a, b int64) int64 { return a + b - a*b/Certain }

// longest bounds what is added to a latency: faults may add up to more than
// emulated time can say.
const longest = 30 * 24 * 3600 * shaping.Second

func plus(a, b shaping.Duration) shaping.Duration { return min(a+b, longest) }

// Of returns what is left of a rate, at least 1 B/s unless the share is 0.
func (s State) Of(r shaping.Rate) shaping.Rate {
	if s.Share == 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(r), uint64(s.Share))
	q, _ := bits.Div64(hi, lo, Whole)
	return max(shaping.Rate(q), 1)
}

// Sound is the state of a part that no fault touches.
var Sound = State{Share: Whole}

// Line is what becomes of one part over time. The zero Line is sound for ever.
type Line struct {
	spans []span // ascending; each holds until the next one
}

type span struct {
	from shaping.Time
	State
}

// At returns the state at an instant, and until when it holds.
func (l *Line) At(t shaping.Time) (State, shaping.Time) {
	if l == nil {
		return Sound, shaping.Never
	}
	i := sort.Search(len(l.spans), func(i int) bool { return l.spans[i].from > t })
	until := shaping.Never
	if i < len(l.spans) {
		until = l.spans[i].from
	}
	if i == 0 {
		return Sound, until
	}
	return l.spans[i-1].State, until
}

// DownDuring reports whether the part is down at some instant from a to b, both
// included, and when first.
func (l *Line) DownDuring(a, b shaping.Time) (shaping.Time, bool) {
	for at := a; at <= b; {
		s, until := l.At(at)
		if s.Down {
			return at, true
		}
		if until == shaping.Never {
			return 0, false
		}
		at = until
	}
	return 0, false
}

// Least returns the least share above nothing that the part ever has.
func (l *Line) Least() int64 {
	least := int64(Whole)
	for i := range l.spans {
		if s := l.spans[i].Share; s > 0 {
			least = min(least, s)
		}
	}
	return least
}

// Loses reports whether the part ever loses what reaches it.
func (l *Line) Loses() bool {
	if l == nil {
		return false
	}
	for i := range l.spans {
		if s := &l.spans[i]; s.Down || s.Loss+s.Corrupt > 0 {
			return true
		}
	}
	return false
}

// Change applies edit to the state from instant a until b (Never: for good).
func (l *Line) Change(a, b shaping.Time, edit func(*State)) {
	l.cut(a)
	if b != shaping.Never {
		l.cut(b)
	}
	for i := range l.spans {
		if s := &l.spans[i]; s.from >= a && s.from < b {
			edit(&s.State)
		}
	}
}

// Changes lists the instants at which the state changes, ascending.
func (l *Line) Changes() []shaping.Time {
	if l == nil {
		return nil
	}
	all := make([]shaping.Time, len(l.spans))
	for i := range l.spans {
		all[i] = l.spans[i].from
	}
	return all
}

// Add makes a part suffer o as well, from instant a until b (Never: for good).
func (l *Line) Add(a, b shaping.Time, o State) {
	if a >= b {
		return
	}
	l.cut(a)
	if b != shaping.Never {
		l.cut(b)
	}
	first := sort.Search(len(l.spans), func(i int) bool { return l.spans[i].from >= a })
	for i := first; i < len(l.spans) && l.spans[i].from < b; i++ {
		l.spans[i].State = l.spans[i].And(o)
	}
}

// cut makes a span begin at t.
func (l *Line) cut(t shaping.Time) {
	i := sort.Search(len(l.spans), func(i int) bool { return l.spans[i].from >= t })
	if i < len(l.spans) && l.spans[i].from == t {
		return
	}
	s, _ := l.At(t)
	l.spans = append(l.spans, span{})
	copy(l.spans[i+1:], l.spans[i:])
	l.spans[i] = span{t, s}
}

// outages returns when the part is down, as spans that do not touch.
func (l *Line) outages() []Span {
	var all []Span
	for i := range l.spans {
		from, to := l.spans[i].from, shaping.Never
		if i+1 < len(l.spans) {
			to = l.spans[i+1].from
		}
		switch n := len(all); {
		case !l.spans[i].Down:
		case n > 0 && all[n-1].to == from:
			all[n-1].to = to
		default:
			all = append(all, Span{from, to})
		}
	}
	return all
}
