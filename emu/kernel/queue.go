package kernel

import "github.com/railyard/railyard/shaping"

// queue is a FIFO that reuses its memory: connections hold a handful of
// entries, and nothing is allocated in steady state.
type queue[T any] struct {
	items []T
	head  int
}

func (q *queue[T]) len() int { return len(q.items) - q.head }

func (q *queue[T]) at(i int) T { return q.items[q.head+i] }

func (q *queue[T]) ref(i int) *T { return &q.items[q.head+i] }

func (q *queue[T]) push(v T) {
	if q.head > 0 && len(q.items) == cap(q.items) {
		q.items = q.items[:copy(q.items, q.items[q.head:])]
		q.head = 0
	}
	q.items = append(q.items, v)
}

func (q *queue[T]) pop() T {
	v := q.items[q.head]
	q.head++
	if q.head == len(q.items) {
		q.items, q.head = q.items[:0], 0
	}
	return v
}

// ring is a FIFO of instants with room for a known number of them, size, in
// memory that it shares with other rings. A queue of its own for each of a
// thousand ranks' connections would be two more cache lines a look.
type ring struct {
	at        int32 // where its memory begins
	head, len int32
}

func (q *ring) first(mem []shaping.Time) shaping.Time { return mem[q.at+q.head] }

func (q *ring) push(mem []shaping.Time, size int32, v shaping.Time) {
	if q.len == size {
		panic("kernel: more slots come free than there are")
	}
	i := q.head + q.len
	if i >= size {
		i -= size
	}
	mem[q.at+i] = v
	q.len++
}

func (q *ring) pop(size int32) {
	if q.head++; q.head == size {
		q.head = 0
	}
	q.len--
}
