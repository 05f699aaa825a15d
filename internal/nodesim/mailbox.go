package nodesim

import "sync"

// mailbox is an unbounded FIFO from many goroutines to one. It is unbounded so
// that a handler never waits for the actor while the actor waits for a stream:
// what may be in flight is bounded by the slots of the emulated connections.
type mailbox[T any] struct {
	mu     sync.Mutex
	items  []T
	closed bool
	ready  chan struct{} // holds a token when there is something to take
}

func newMailbox[T any]() *mailbox[T] { return &mailbox[T]{ready: make(chan struct{}, 1)} }

// post adds an item. After close it is dropped.
func (m *mailbox[T]) post(v T) {
	m.mu.Lock()
	if !m.closed {
		m.items = append(m.items, v)
	}
	m.mu.Unlock()
	m.signal()
}

// close makes take return false once everything posted has been taken.
func (m *mailbox[T]) close() {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.signal()
}

func (m *mailbox[T]) signal() {
	select {
	case m.ready <- struct{}{}:
	default:
	}
}

// take waits for items and returns all of them, in order; the slice replaces
// the one passed in, whose memory is used again. False: closed and empty.
func (m *mailbox[T]) take(used []T) ([]T, bool) {
	clear(used)
	for {
		m.mu.Lock()
		if len(m.items) > 0 {
			items := m.items
			m.items = used[:0]
			m.mu.Unlock()
			return items, true
		}
		closed := m.closed
		m.mu.Unlock()
		if closed {
			m.signal() // for the next caller
			return used[:0], false
		}
		<-m.ready
	}
}

// poll is take without the wait: nothing there is no items.
func (m *mailbox[T]) poll(used []T) []T {
	clear(used)
	m.mu.Lock()
	defer m.mu.Unlock()
	items := m.items
	m.items = used[:0]
	return items
}
