package pace

import (
	"math/bits"

	"github.com/railyard/railyard/shaping"
)

// Mapping is how emulated time follows from a clock.
type Mapping struct {
	Origin   shaping.Time // emulated instant at Start
	Start    int64        // on the clock, in nanoseconds
	Dilation int64        // wall time for each unit of emulated time, at least 1
}

const psPerNs = 1000

// Never is later than any time of a clock.
const Never int64 = 1<<63 - 1

// MaxDilation is the largest dilation: a microsecond then takes 100 s.
const MaxDilation = 100_000_000

// Emulated returns the emulated instant at a time of the clock, rounded down. It
// lies before Origin when the time lies before Start.
func (m *Mapping) Emulated(at int64) shaping.Time {
	if at < m.Start {
		return m.Origin - 1 - shaping.Time(scale(m.Start-at, psPerNs, m.Dilation))
	}
	return m.Origin.Add(shaping.Duration(scale(at-m.Start, psPerNs, m.Dilation)))
}

// Wall returns the earliest time of the clock at which the emulated instant has
// come; Never for an instant that never comes.
func (m *Mapping) Wall(t shaping.Time) int64 {
	if t == shaping.Never {
		return Never
	}
	if t <= m.Origin {
		return m.Start
	}
	d := scale(int64(t-m.Origin), m.Dilation, psPerNs)
	if d >= Never-m.Start-1 {
		return Never
	}
	at := m.Start + d
	if m.Emulated(at) < t {
		at++
	}
	return at
}

// Lasts returns what an emulated duration takes in wall time, in nanoseconds.
func (m *Mapping) Lasts(d shaping.Duration) int64 { return scale(int64(d), m.Dilation, psPerNs) }

// Spans returns the emulated duration that so many nanoseconds of wall time are.
func (m *Mapping) Spans(ns int64) shaping.Duration {
	return shaping.Duration(scale(ns, psPerNs, m.Dilation))
}

// scale returns v·num/den, rounded down and capped; v is not negative.
func scale(v, num, den int64) int64 {
	hi, lo := bits.Mul64(uint64(v), uint64(num))
	if hi >= uint64(den) {
		return Never
	}
	q, _ := bits.Div64(hi, lo, uint64(den))
	return int64(min(q, uint64(Never)))
}
