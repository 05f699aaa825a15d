package shaping

import (
	"fmt"
	"math"
	"math/bits"
)

// Time is an instant of emulated time: picoseconds since the session began.
// The unit is small because 128 B at 1.8 TB/s take 71 ps; int64 holds 106 days.
type Time int64

// Duration is a span of emulated time in picoseconds.
type Duration int64

// Never is later than every instant: "no event pending", "no bound known".
const Never Time = math.MaxInt64

// Spans of emulated time.
const (
	Picosecond  Duration = 1
	Nanosecond           = 1000 * Picosecond
	Microsecond          = 1000 * Nanosecond
	Millisecond          = 1000 * Microsecond
	Second               = 1000 * Millisecond
)

// Add returns the instant d after t. Never stays Never, and a sum that leaves
// int64 panics: an instant that wrapped round would be a silent wrong answer.
func (t Time) Add(d Duration) Time {
	if t == Never {
		return Never
	}
	s := t + Time(d)
	if (d >= 0) != (s >= t) {
		panic(fmt.Sprintf("shaping: instant overflow: %d ps + %d ps", int64(t), int64(d)))
	}
	return s
}

// Sub returns the span from u to t.
func (t Time) Sub(u Time) Duration { return Duration(t - u) }

// Bytes is an amount of data in bytes.
type Bytes int64

// Binary sizes, as nccl-tests counts them (K = 1024).
const (
	KiB Bytes = 1 << 10
	MiB Bytes = 1 << 20
	GiB Bytes = 1 << 30
)

// Rate is a data rate in bytes per second. Link rates of the field are whole
// numbers of it (400 Gb/s = 50 000 000 000 B/s), so no float is needed.
type Rate int64

// Decimal rates. Vendors and nccl-tests alike mean 10^9 by G in GB/s and Gb/s.
const (
	BytePerSecond Rate = 1
	MBps               = 1_000_000 * BytePerSecond
	GBps               = 1_000_000_000 * BytePerSecond
	Gbps               = GBps / 8
)

// Permille returns r scaled by n/1000, rounded down: wire rate times
// efficiency gives usable rate.
func (r Rate) Permille(n int64) Rate {
	hi, lo := bits.Mul64(uint64(r), uint64(n))
	q, _ := bits.Div64(hi, lo, 1000)
	return Rate(q)
}

// Part returns r scaled by n/whole, rounded down, but at least 1 B/s.
func (r Rate) Part(n, whole int64) Rate {
	hi, lo := bits.Mul64(uint64(r), uint64(n))
	q, _ := bits.Div64(hi, lo, uint64(whole))
	return max(Rate(q), 1)
}

// Time returns how long b bytes take at rate r, rounded up to a picosecond, so
// that a port never carries more than rate × time. It multiplies in 128 bits:
// bytes × 10^12 leaves int64 at 9.2 MB. A span beyond int64 panics.
func (r Rate) Time(b Bytes) Duration {
	if b == 0 {
		return 0
	}
	if r <= 0 || b < 0 {
		panic(fmt.Sprintf("shaping: %d bytes at %d B/s", int64(b), int64(r)))
	}
	hi, lo := bits.Mul64(uint64(b), uint64(Second))
	lo, carry := bits.Add64(lo, uint64(r-1), 0)
	hi += carry
	if hi >= uint64(r) {
		panic(fmt.Sprintf("shaping: %d bytes at %d B/s take longer than emulated time can say", int64(b), int64(r)))
	}
	q, _ := bits.Div64(hi, lo, uint64(r))
	if q > math.MaxInt64 {
		panic(fmt.Sprintf("shaping: %d bytes at %d B/s take longer than emulated time can say", int64(b), int64(r)))
	}
	return Duration(q)
}

// Carries returns the most bytes rate r can carry in d, rounded down. It is
// the checkers' side of Time: r.Carries(r.Time(b)) >= b for every b.
func (r Rate) Carries(d Duration) Bytes {
	if d <= 0 || r <= 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(r), uint64(d))
	if hi >= uint64(Second) {
		return math.MaxInt64
	}
	q, _ := bits.Div64(hi, lo, uint64(Second))
	if q > math.MaxInt64 {
		return math.MaxInt64
	}
	return Bytes(q)
}
