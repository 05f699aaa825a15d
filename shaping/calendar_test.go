package shaping

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// naive is a calendar that writes down every picosecond on its own and forgets
// nothing. It is slow and there is nothing in it to get wrong.
type naive struct {
	rate Rate
	busy []bool
}

func (n *naive) book(h, u Time, b Bytes) (Booking, []Piece) {
	if b == 0 {
		return Booking{h, max(h, u)}, nil
	}
	var pieces []Piece
	at := h
	for need := n.rate.Time(b); need > 0; at++ {
		if n.busy[at] {
			continue
		}
		n.busy[at] = true
		need--
		if k := len(pieces); k > 0 && pieces[k-1].End == at {
			pieces[k-1].End++
		} else {
			pieces = append(pieces, Piece{at, at + 1})
		}
	}
	return Booking{pieces[0].Start, max(at, u)}, pieces
}

// request is what a calendar is asked for.
type request struct {
	now, h, u Time
	b         Bytes
}

func (r request) String() string {
	return fmt.Sprintf("at %d: head %d, tail %d, %d B", r.now, r.h, r.u, r.b)
}

// drawRequests returns requests in the order of a kernel: now never goes back,
// no head lies more than span behind it, and some heads lie ahead of it.
func drawRequests(rng *rand.Rand, n int, span Duration) []request {
	var all []request
	now, pause := Time(0), 20+rng.IntN(180) // from a port that drowns to one that idles
	for range n {
		if rng.IntN(3) > 0 {
			now += Time(rng.IntN(pause))
		}
		back := rng.Int64N(min(int64(span), int64(now)) + 1)
		r := request{now: now, h: now - Time(back), b: Bytes(rng.IntN(30))}
		switch rng.IntN(4) {
		case 0:
			r.h = now + Time(rng.IntN(200)) // a proxy's post, or an SM that is through later
		case 1:
			r.h = now
		}
		r.u = r.h
		if r.h <= now && rng.IntN(2) == 0 {
			r.u = now // a tail that has just come
		}
		all = append(all, r)
	}
	return all
}

// rates of the property tests: a picosecond a byte, and some that do not divide.
var rates = []Rate{1000 * GBps, 500 * GBps, 300 * GBps, 1700 * GBps}

func TestCalendarAgainstNaive(t *testing.T) {
	const span = 100
	pieced, fitting := 0, 0
	for seed := range uint64(150) {
		rng := rand.New(rand.NewPCG(seed, 3))
		rate := rates[rng.IntN(len(rates))]
		c := NewCalendar(rate, span)
		c.Trace()
		untraced, elephant := NewCalendar(rate, span), NewCalendar(rate, Duration(1)<<40)
		ref := naive{rate: rate, busy: make([]bool, 1<<16)}
		for i, r := range drawRequests(rng, 200, span) {
			fits := c.Fits(r.h, r.u, r.b)
			want, pieces := ref.book(r.h, r.u, r.b)
			got := c.Book(r.now, r.h, r.u, r.b)
			if got != want || !slices.Equal(c.Pieces(), pieces) {
				t.Fatalf("seed %d, booking %d, %v: got %v in %v, want %v in %v", seed, i, r, got, c.Pieces(), want, pieces)
			}
			if fits && (got.Start != r.h || got.End != r.u || len(pieces) > 1) {
				t.Fatalf("seed %d, booking %d, %v: said to fit, but got %v in %v", seed, i, r, got, pieces)
			}
			if other := untraced.Book(r.now, r.h, r.u, r.b); other != got {
				t.Fatalf("seed %d, booking %d, %v: %v, without a trace %v", seed, i, r, got, other)
			}
			if other := elephant.Book(r.now, r.h, r.u, r.b); other != got {
				t.Fatalf("seed %d, booking %d, %v: %v, without forgetting %v", seed, i, r, got, other)
			}
			if len(pieces) > 1 {
				pieced++
			}
			if fits {
				fitting++
			}
		}
	}
	if pieced < 1200 || fitting < 600 {
		t.Fatalf("%d bookings in pieces and %d that fit: too few to show anything", pieced, fitting)
	}
}

// TestPortNeverHoldsTwo looks at pieces alone, without a reference: no two
// overlap, and in no span, wherever it begins, did more bytes pass than the rate
// allows.
func TestPortNeverHoldsTwo(t *testing.T) {
	const span = 500
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 4))
		c := NewCalendar(300*GBps, span)
		c.Trace()
		var all []Piece
		var bytes Bytes
		var used Duration
		for _, r := range drawRequests(rng, 300, span) {
			c.Book(r.now, r.h, r.u, r.b)
			bytes += r.b
			for _, p := range c.Pieces() {
				used += p.End.Sub(p.Start)
			}
			all = append(all, c.Pieces()...)
		}
		slices.SortFunc(all, func(a, b Piece) int { return int(a.Start - b.Start) })
		for i := 1; i < len(all); i++ {
			if all[i].Start < all[i-1].End {
				t.Fatalf("seed %d: the port is held from %v and from %v at once", seed, all[i-1], all[i])
			}
		}
		if b, d := c.Booked(); b != bytes || d != used || c.Rate().Carries(used) < bytes {
			t.Fatalf("seed %d: booked %d B in %d ps; given %d B in %d ps, in which %d fit",
				seed, b, d, bytes, used, c.Rate().Carries(used))
		}
	}
}

// TestFitsIsNotTooShy: where nothing is booked from the head on, Fits says yes
// whenever Book would be through by the tail. A shy one would cost cut-through.
func TestFitsIsNotTooShy(t *testing.T) {
	c := NewCalendar(1000*GBps, 1000)
	c.Book(0, 0, 0, 10)
	for _, tc := range []struct {
		h, u Time
		b    Bytes
		want bool
	}{
		{10, 20, 10, true},
		{10, 19, 10, false}, // a byte too many
		{9, 30, 10, false},  // the port is busy when the head comes
		{10, 10, 0, true},
		{30, 40, 10, true},
	} {
		if got := c.Fits(tc.h, tc.u, tc.b); got != tc.want {
			t.Errorf("head %d, tail %d, %d B: fits %v, want %v", tc.h, tc.u, tc.b, got, tc.want)
		}
	}
}

// TestHeadsNeverBorrow sends transfers along rows of loaded ports and holds
// what the next port is told against what cut-through and forgetting rest on:
// nothing is passed on before the port began with it or faster than the port
// sends, and tail − head stays below the largest single serialisation on the
// path, or what the source took.
func TestHeadsNeverBorrow(t *testing.T) {
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 5))
		ports := make([]Calendar, 4)
		for i := range ports {
			ports[i] = NewCalendar(rates[rng.IntN(len(rates))], 1<<40)
			ports[i].Trace()
		}
		for _, r := range drawRequests(rng, 100, 100) {
			travel(t, seed, ports, r)
		}
	}
}

func travel(t *testing.T, seed uint64, ports []Calendar, r request) {
	t.Helper()
	longest := r.u.Sub(r.h)
	for i := range ports {
		c := &ports[i]
		k := c.Book(r.now, r.h, r.u, r.b)
		longest = max(longest, c.Rate().Time(r.b))
		next := request{now: k.End, h: c.Head(k.Start, k.End, r.h, r.u, r.b), u: k.End, b: r.b}
		switch {
		case next.h < r.h || (r.b > 0 && next.h < k.Start) || next.h > next.u:
			t.Fatalf("seed %d, port %d, %v: begins %d, leaves %d, but the next port is told head %d", seed, i, r, k.Start, k.End, next.h)
		case next.u < r.u || next.u.Sub(next.h) > longest:
			t.Fatalf("seed %d, port %d, %v: on with head %d and tail %d, %d apart; at most %d", seed, i, r, next.h, next.u, next.u.Sub(next.h), longest)
		case r.b > 0 && next.u.Sub(next.h) < c.Rate().Time(r.b):
			t.Fatalf("seed %d, port %d, %v: %d B pass on in %d ps, faster than the port", seed, i, r, r.b, next.u.Sub(next.h))
		}
		r = next
	}
}

func TestCalendarRefuses(t *testing.T) {
	behind := func(h Time) func() {
		return func() {
			c := NewCalendar(GBps, 20)
			c.Book(0, 0, 0, 10)
			c.Book(20_000, h, 20_000, 1)
		}
	}
	for _, tc := range []struct {
		name string
		do   func()
		want string
	}{
		{"no rate", func() { NewCalendar(0, Second) }, "rate above zero, not 0 B/s"},
		{"negative rate", func() { NewCalendar(-1, Second) }, "rate above zero, not -1 B/s"},
		{"behind the floor", behind(9_999), "booking at 9999 ps behind the calendar's floor 10000 ps"},
		{"at the floor", behind(10_000), ""},
	} {
		if got := panics(t, tc.do); got == "" != (tc.want == "") || !strings.Contains(got, tc.want) {
			t.Errorf("%s: panic %q, want %q", tc.name, got, tc.want)
		}
	}
}

// TestForgettingKeepsMemoryBounded books for long on one port, with gaps, and
// sees no allocation once the calendar has its size.
func TestForgettingKeepsMemoryBounded(t *testing.T) {
	c := NewCalendar(1000*GBps, 1000)
	now := Time(0)
	book := func(n int) {
		for range n {
			now += 20
			c.Book(now, now, now, 10)
		}
	}
	book(1000)
	if n := testing.AllocsPerRun(1, func() { book(100_000) }); n != 0 {
		t.Errorf("%v allocations in 100000 bookings", n)
	}
}

// A port that rests carries nothing meanwhile, takes the rest from free time alone,
// and counts it as neither bytes nor use.
func TestCalendarRests(t *testing.T) {
	c := NewCalendar(1000*GBps, 1000) // a byte a picosecond
	c.Book(0, 0, 0, 10)
	c.Book(0, 15, 15, 5)
	c.Rest(0, 10, 8) // 10 to 15, and 20 to 23
	if k := c.Book(0, 0, 0, 2); k.Start != 23 || k.End != 25 {
		t.Errorf("a booking from %d to %d, want 23 to 25", k.Start, k.End)
	}
	c.Rest(0, 0, 0)
	if b, used := c.Booked(); b != 17 || used != 17 {
		t.Errorf("%d bytes in %d ps, want 17 in 17", b, used)
	}
}
