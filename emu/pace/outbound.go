package pace

import (
	"container/heap"

	"github.com/railyard/railyard/shaping"
)

// Outbound is what waits to depart, in the order of departure; of what departs
// at one instant what was put first is first. The zero value is empty.
type Outbound[T any] struct{ heap entries[T] }

type entry[T any] struct {
	at   shaping.Time
	seq  uint64
	what T
}

// Put adds something that departs at an instant.
func (o *Outbound[T]) Put(at shaping.Time, what T) {
	o.heap.seq++
	heap.Push(&o.heap, entry[T]{at, o.heap.seq, what})
}

// Next returns the earliest departure, Never if there is none.
func (o *Outbound[T]) Next() shaping.Time {
	if len(o.heap.items) == 0 {
		return shaping.Never
	}
	return o.heap.items[0].at
}

// Take removes what departs first, and returns when.
func (o *Outbound[T]) Take() (shaping.Time, T) {
	e := heap.Pop(&o.heap).(entry[T])
	return e.at, e.what
}

type entries[T any] struct {
	items []entry[T]
	seq   uint64
}

func (h *entries[T]) Len() int { return len(h.items) }

func (h *entries[T]) Less(i, j int) bool {
	a, b := &h.items[i], &h.items[j]
	return a.at < b.at || a.at == b.at && a.seq < b.seq
}

func (h *entries[T]) Swap(i, j int) { h.items[i], h.items[j] = h.items[j], h.items[i] }
func (h *entries[T]) Push(x any)    { h.items = append(h.items, x.(entry[T])) }

func (h *entries[T]) Pop() any {
	n := len(h.items) - 1
	e := h.items[n]
	h.items[n] = entry[T]{}
	h.items = h.items[:n]
	return e
}
