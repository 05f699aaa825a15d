package shaping

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// turnByTurn is what Turn stands for: one booking for each quantum, until one
// ends after now.
func turnByTurn(c *Calendar, now, h Time, b, quantum Bytes) (k Booking, booked Bytes, pieces []Piece) {
	for {
		part, u := quantum, h
		if b-booked <= quantum {
			part, u = b-booked, now
		}
		got := c.Book(now, h, u, part)
		pieces = append(pieces, c.Pieces()...)
		if booked == 0 {
			k.Start = got.Start
		}
		k.End = got.End
		if booked += part; k.End > now || booked == b {
			return k, booked, pieces
		}
	}
}

// merged joins pieces that touch: where one quantum ends and the next begins is
// for whoever asks to reckon.
func merged(pieces []Piece) []Piece {
	var all []Piece
	for _, p := range pieces {
		if n := len(all); n > 0 && all[n-1].End == p.Start {
			all[n-1].End = p.End
			continue
		}
		all = append(all, p)
	}
	return all
}

func TestTurnIsBookingsInARow(t *testing.T) {
	const span = 400
	whole, cut, pieced := 0, 0, 0
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 6))
		rate := rates[rng.IntN(len(rates))]
		fast, slow := NewCalendar(rate, span), NewCalendar(rate, span)
		fast.Trace()
		slow.Trace()
		for i, r := range drawRequests(rng, 150, span) {
			r.h = min(r.h, r.now)
			quantum := Bytes(1 + rng.IntN(12))
			want, booked, pieces := turnByTurn(&slow, r.now, r.h, r.b, quantum)
			got, b := fast.Turn(r.now, r.h, r.b, quantum)
			if got != want || b != booked || !slices.Equal(fast.Pieces(), merged(pieces)) {
				t.Fatalf("seed %d, booking %d, %v, quantum %d: %d B %v in %v, one by one %d B %v in %v",
					seed, i, r, quantum, b, got, fast.Pieces(), booked, want, merged(pieces))
			}
			b1, d1 := fast.Booked()
			if b2, d2 := slow.Booked(); b1 != b2 || d1 != d2 {
				t.Fatalf("seed %d, booking %d, %v: %d B in %d ps so far, one by one %d B in %d ps", seed, i, r, b1, d1, b2, d2)
			}
			if b > quantum && b == r.b {
				whole++
			}
			if b > quantum && b < r.b {
				cut++
			}
			if len(fast.Pieces()) > 1 {
				pieced++
			}
		}
	}
	if whole < 500 || cut < 500 || pieced < 500 {
		t.Fatalf("%d turns of several quanta, %d that end for now, %d in pieces: too few to show anything", whole, cut, pieced)
	}
}
