package fault

import (
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
