package transit_test

import (
	"testing"

	"github.com/railyard/railyard/emu/transit"
	"github.com/railyard/railyard/shaping"
)

// A peer with a slower port than the spec says hands on a frame whose head came
// longer ago than calendars remember. It must see times, not a panic: it gets
// what is free in the time that is remembered.
func TestHeadFromBeforeMemory(t *testing.T) {
	const s = shaping.Time(shaping.Second)
	r := newRig(t, false, 49*shaping.GBps, 49*shaping.GBps)
	path := r.connect(1, 0, []int{0, 1}, shaping.Microsecond, 0).path
	arrive := func(seq uint32, head, tail shaping.Time) {
		r.Accept(transit.Header{Seq: seq, At: 1, Head: head, Tail: tail, Bytes: shaping.MiB}, &path, 0)
	}
	arrive(1, s, s) // the port is busy from here on for 21 µs, which it will have to forget
	arrive(2, 0, 2*s)
	arrive(3, 0, 2*s)
	var at []shaping.Time
	for r.Next() != shaping.Never {
		if k, i := r.Pop(); r.Step(k.Kind(), i) {
			at = append(at, r.Now())
			r.Release(i)
		}
	}
	if len(at) != 3 || at[1] != 2*s || at[2] != 2*s {
		t.Errorf("frames pass at %v ps; want three, the last two at %d ps", at, int64(2*s))
	}
}
