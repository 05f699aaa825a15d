package pacer

import (
	"container/heap"
	"math"
	"sync"
	"time"

	"github.com/railyard/railyard/shaping"
)

// Lateness is how late things were.
type Lateness = shaping.Histogram[time.Duration]

// Instant is a point in wall time: nanoseconds of a monotonic clock. Of a pacer
// made by New on Linux that is CLOCK_MONOTONIC, so instants of processes on one
// host compare. Elsewhere, and of one made by NewTimers, it counts from when the
// pacer was made.
type Instant int64

// Never is later than every instant.
const Never Instant = math.MaxInt64

// Add returns the instant d after t; Never stays Never.
func (t Instant) Add(d time.Duration) Instant {
	if t == Never {
		return Never
	}
	return t + Instant(d)
}

// Sub returns the span from u to t.
func (t Instant) Sub(u Instant) time.Duration { return time.Duration(t - u) }

// Event is something that happens at an instant. The zero value with a Func is
// ready for Pacer.Set; an event belongs to one pacer, and one that was run or
// stopped may be set again.
type Event struct {
	// Func is run on the pacer's goroutine, late by that much, never negative. All
	// other events wait for it: it must neither block nor compute for long. It may
	// call Set and Stop, not Close.
	Func func(late time.Duration)

	due   Instant
	seq   uint64 // events due at one instant run in the order in which they were set
	place int    // in the heap, plus one; zero: not set
}

// Pacer runs events when they are due. All methods may be called from any
// goroutine.
type Pacer struct {
	wait waiter
	done chan struct{}

	mu       sync.Mutex
	queue    queue
	seq      uint64
	until    Instant // what the goroutine waits for; lower than any while it does not
	closed   bool
	lateness Lateness
}

// waiter is how a pacer's goroutine waits. All but wake and now are called by
// that goroutine alone; wake is not called after end.
type waiter interface {
	now() Instant
	begin()            // before the first wait
	until(due Instant) // returns when due has come, wake was called, or early for no reason
	wake()             // ends the wait that goes on, or else the next one
	end()              // after the last wait
}

// New starts a pacer that waits as precisely as this host can. It holds a thread
// and no time of a core while nothing is due. An error says what the host refused.
func New() (*Pacer, error) {
	w, err := hostWaiter()
	if err != nil {
		return nil, err
	}
	return start(w), nil
}

// NewTimers starts a pacer that waits by Go's timers: up to a millisecond late
// in wall time, exact in a bubble of testing/synctest.
func NewTimers() *Pacer { return start(newTimerWaiter()) }

func start(w waiter) *Pacer {
	p := &Pacer{wait: w, done: make(chan struct{}), until: math.MinInt64}
	go p.run()
	return p
}

// Now returns the current instant.
func (p *Pacer) Now() Instant { return p.wait.now() }

// At runs f at an instant, once. It returns the event, for Stop.
func (p *Pacer) At(due Instant, f func(late time.Duration)) *Event {
	e := &Event{Func: f}
	p.Set(e, due)
	return e
}

// Set has an event run at an instant, at once if that has passed. An event that
// is set already is moved. After Close it does nothing.
func (p *Pacer) Set(e *Event, due Instant) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	p.seq++
	e.due, e.seq = due, p.seq
	if e.place > 0 {
		heap.Fix(&p.queue, e.place-1)
	} else {
		heap.Push(&p.queue, e)
	}
	if due < p.until {
		p.until = math.MinInt64
		p.wait.wake()
	}
}

// Stop takes an event out of the queue. It reports whether it was there: if not
// it has run, runs now, or was never set.
func (p *Pacer) Stop(e *Event) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.place == 0 {
		return false
	}
	heap.Remove(&p.queue, e.place-1)
	return true
}

// Lateness returns how late the events run so far were.
func (p *Pacer) Lateness() Lateness {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lateness
}

// Close ends the pacer and waits for the event that runs now, if any. Events
// still in the queue never run. Closing twice is allowed.
func (p *Pacer) Close() {
	p.mu.Lock()
	if !p.closed {
		p.closed = true
		for len(p.queue) > 0 {
			heap.Pop(&p.queue)
		}
		p.wait.wake()
	}
	p.mu.Unlock()
	<-p.done
}

func (p *Pacer) run() {
	defer close(p.done)
	p.wait.begin()
	defer p.wait.end()
	for {
		e, late, until := p.next()
		switch {
		case e != nil:
			e.Func(late)
		case until == math.MinInt64:
			return
		default:
			p.wait.until(until)
		}
	}
}

// next takes the first event if it is due, with its lateness. If none is it
// returns the instant to wait for, and if the pacer is closed the lowest one.
func (p *Pacer) next() (e *Event, late time.Duration, until Instant) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.until = math.MinInt64
	if p.closed {
		return nil, 0, p.until
	}
	if len(p.queue) == 0 {
		p.until = Never
		return nil, 0, Never
	}
	now := p.wait.now()
	if first := p.queue[0]; first.due > now {
		p.until = first.due
		return nil, 0, first.due
	}
	e = heap.Pop(&p.queue).(*Event)
	late = now.Sub(e.due)
	p.lateness.Add(late)
	return e, late, now
}

// queue is a heap of events by (due, seq).
type queue []*Event

func (q queue) Len() int { return len(q) }

func (q queue) Less(i, j int) bool {
	if q[i].due != q[j].due {
		return q[i].due < q[j].due
	}
	return q[i].seq < q[j].seq
}

func (q queue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].place, q[j].place = i+1, j+1
}

func (q *queue) Push(x any) {
	e := x.(*Event)
	*q = append(*q, e)
	e.place = len(*q)
}

func (q *queue) Pop() any {
	last := len(*q) - 1
	e := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	e.place = 0
	return e
}
