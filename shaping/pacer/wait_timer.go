package pacer

import "time"

// timerWaiter waits by a timer of the runtime.
type timerWaiter struct {
	base  time.Time
	timer *time.Timer
	woken chan struct{} // holds one
}

func newTimerWaiter() *timerWaiter {
	return &timerWaiter{base: time.Now(), woken: make(chan struct{}, 1)}
}

func (w *timerWaiter) now() Instant { return Instant(time.Since(w.base)) }

func (w *timerWaiter) begin() { w.timer = time.NewTimer(time.Hour) }

func (w *timerWaiter) until(due Instant) {
	if due == Never {
		<-w.woken
		return
	}
	w.timer.Reset(due.Sub(w.now()))
	select {
	case <-w.timer.C:
	case <-w.woken:
	}
}

func (w *timerWaiter) wake() {
	select {
	case w.woken <- struct{}{}:
	default:
	}
}

func (w *timerWaiter) end() { w.timer.Stop() }
