package transit

import (
	"fmt"

	"github.com/railyard/railyard/shaping"
)

// Queue is an event queue in the order of Key: a heap with four children a
// node, which keeps one cache line a level. It never allocates in steady state.
type Queue struct {
	heap   []event
	last   Key // the key popped last
	popped uint64
	begun  bool
}

type event struct {
	Key
	arg int32 // what the kind is about: a block, a frame, a connection …
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
	return q.heap[0].At
}

// Push adds an event. An instant in the past is a bug and panics.
func (q *Queue) Push(k Key, arg int32) {
	if k.At < q.last.At {
		panic(fmt.Sprintf("transit: event at %v pushed after %v", k, q.last))
	}
	q.heap = append(q.heap, event{})
	i := len(q.heap) - 1
	for i > 0 {
		parent := (i - 1) / 4
		if !k.Less(q.heap[parent].Key) {
			break
		}
		q.heap[i] = q.heap[parent]
		i = parent
	}
	q.heap[i] = event{k, arg}
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
	if q.begun {
		if top.At < q.last.At {
			panic(fmt.Sprintf("transit: time went back from %v to %v", q.last, top.Key))
		}
		if top.Key == q.last {
			panic(fmt.Sprintf("transit: two events with the key %v", top.Key))
		}
	}
	q.begun, q.last = true, top.Key
	q.popped++
	return top.Key, top.arg
}

// sift puts e where the root was and lets smaller children rise.
func (q *Queue) sift(e event) {
	h, i, n := q.heap, 0, len(q.heap)
	for {
		first := 4*i + 1
		if first >= n {
			break
		}
		least := first
		for c := first + 1; c < min(first+4, n); c++ {
			if h[c].Key.Less(h[least].Key) {
				least = c
			}
		}
		if !h[least].Key.Less(e.Key) {
			break
		}
		h[i] = h[least]
		i = least
	}
	h[i] = e
}
