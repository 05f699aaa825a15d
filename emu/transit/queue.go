package transit

import (
	"fmt"
	"math/bits"

	"github.com/railyard/railyard/shaping"
)

// Queue is an event queue in the order of Key: a heap with four children a
// node, which lie side by side. It never allocates in steady state.
type Queue struct {
	heap   []event
	last   Key // the key popped last
	popped uint64
	begun  bool
}

// event is a Key and what its kind is about: a block, a frame, a connection …
// With its fields side by side it takes 24 bytes; around a Key, which ends in
// padding, it would take 32.
type event struct {
	at  shaping.Time
	ord uint64
	hop uint32
	arg int32
}

func (e *event) key() Key { return Key{e.at, e.ord, e.hop} }

// before returns 1 if e comes before o, else 0. It is the borrow when o's key is
// subtracted from e's, each read as one long number; instants are not negative.
// The order of two pending events is a coin toss that a processor guesses wrong
// half the time, so there must be nothing to guess: with branches for the three
// fields, the kernel handles a sixth fewer events a second.
func (e *event) before(o *event) uint64 {
	_, borrow := bits.Sub64(uint64(e.hop), uint64(o.hop), 0)
	_, borrow = bits.Sub64(e.ord, o.ord, borrow)
	_, borrow = bits.Sub64(uint64(e.at), uint64(o.at), borrow)
	return borrow
}

// Now returns the instant of the event popped last.
func (q *Queue) Now() shaping.Time { return q.last.At }

// Current returns the key of the event popped last.
func (q *Queue) Current() Key { return q.last }

// Popped returns how many events have been popped.
func (q *Queue) Popped() uint64 { return q.popped }

// Next returns the instant of the earliest pending event, Never if there is
// none.
func (q *Queue) Next() shaping.Time {
	if len(q.heap) == 0 {
		return shaping.Never
	}
	return q.heap[0].at
}

// Push adds an event. An instant in the past is a bug and panics.
func (q *Queue) Push(k Key, arg int32) {
	if k.At < q.last.At {
		panic(fmt.Sprintf("transit: event at %v pushed after %v", k, q.last))
	}
	e := event{k.At, k.Ord, k.Hop, arg}
	q.heap = append(q.heap, e)
	q.rise(len(q.heap)-1, e)
}

// Drop removes all pending events that gone picks, as if they had never been
// pushed.
func (q *Queue) Drop(gone func(k Key, arg int32) bool) {
	kept := q.heap
	q.heap = q.heap[:0]
	for _, e := range kept {
		if gone(e.key(), e.arg) {
			continue
		}
		q.heap = append(q.heap, e)
		q.rise(len(q.heap)-1, e)
	}
}

// rise puts e at position i, or at that of the highest parent it comes before.
func (q *Queue) rise(i int, e event) {
	h := q.heap
	for i > 0 {
		parent := (i - 1) / 4
		if e.before(&h[parent]) == 0 {
			break
		}
		h[i] = h[parent]
		i = parent
	}
	h[i] = e
}

// Pop removes the earliest event. Time that goes back, or two events with one
// key, are bugs and panic.
func (q *Queue) Pop() (Key, int32) {
	top := q.heap[0]
	n := len(q.heap) - 1
	moved := q.heap[n]
	q.heap = q.heap[:n]
	if n > 0 {
		q.sift(moved)
	}
	key := top.key()
	if q.begun {
		if key.At < q.last.At {
			panic(fmt.Sprintf("transit: time went back from %v to %v", q.last, key))
		}
		if key == q.last {
			panic(fmt.Sprintf("transit: two events with the key %v", key))
		}
	}
	q.begun, q.last = true, key
	q.popped++
	return key, top.arg
}

// sift fills the place of the root: the least children move up, level by level,
// and e, which was a leaf and mostly is one again, takes the place of the last.
func (q *Queue) sift(e event) {
	h, i := q.heap, 0
	first := 1
	for ; first+3 < len(h); first = 4*i + 1 {
		c := (*[4]event)(h[first:])
		a, b := c[1].before(&c[0]), 2+c[3].before(&c[2])
		least := a + (b-a)*c[b&3].before(&c[a&3]) // the masks spare bounds checks
		h[i] = c[least&3]
		i = first + int(least)
	}
	if first < len(h) {
		least := first
		for c := first + 1; c < len(h); c++ {
			if h[c].before(&h[least]) != 0 {
				least = c
			}
		}
		h[i] = h[least]
		i = least
	}
	q.rise(i, e)
}
