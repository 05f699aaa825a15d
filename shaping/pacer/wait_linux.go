package pacer

import (
	"encoding/binary"
	"fmt"
	"math"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// How much may be spun.
const (
	mostSpin  = 200 * time.Microsecond // an event; a sleep of 1 ms overshoots by 30 µs, one of 20 ms by 140, measured on an idle virtual machine
	spinShare = 10                     // one in so many of the time
	spinBurst = time.Millisecond       // what a rest saves up
)

// pollWaiter waits by ppoll on a thread of its own, whose timer slack it lowers
// to 1 ns, until shortly before the instant, and spins for the rest. An eventfd
// wakes it.
type pollWaiter struct {
	base   time.Time
	offset Instant // CLOCK_MONOTONIC at base
	fds    []unix.PollFd
	woken  atomic.Bool // since the last wait

	margin time.Duration // how long before the instant a sleep should end: the usual overshoot and a little
	budget time.Duration // what may be spun
	paid   Instant       // up to when the budget was topped up
}

func hostWaiter() (waiter, error) {
	fd, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("pacer: no eventfd: %w", err)
	}
	w := &pollWaiter{base: time.Now(), margin: mostSpin / 2, budget: spinBurst}
	w.fds = []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	if w.offset, err = monotonicAt(w.base); err != nil {
		return nil, fmt.Errorf("pacer: no CLOCK_MONOTONIC: %w", err)
	}
	return w, nil
}

// monotonicAt returns what CLOCK_MONOTONIC was at an instant of Go's, which does
// not tell. Both are the same clock with different zeros, so that of some
// readings the one that took the least time is right to a fraction of it.
func monotonicAt(base time.Time) (at Instant, err error) {
	least := time.Duration(math.MaxInt64)
	for range 8 {
		var ts unix.Timespec
		before := time.Since(base)
		if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
			return 0, err
		}
		after := time.Since(base)
		if took := after - before; took < least {
			least, at = took, Instant(ts.Nano())-Instant(before+took/2)
		}
	}
	return at, nil
}

func (w *pollWaiter) now() Instant { return w.offset + Instant(time.Since(w.base)) }

// begin takes the thread. A slack that cannot be lowered costs precision, which
// lateness shows; it is no reason to fail.
func (w *pollWaiter) begin() {
	runtime.LockOSThread()
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	w.paid = w.now()
}

// until gives its place in Go's scheduler away before it sleeps: otherwise what
// the last event made runnable would wait for the runtime to notice, 50 µs
// more in the tenth part of cases.
func (w *pollWaiter) until(due Instant) {
	runtime.Gosched()
	now := w.now()
	w.budget = min(spinBurst, w.budget+now.Sub(w.paid)/spinShare)
	w.paid = now
	margin := max(0, min(w.margin, w.budget))
	if due == Never {
		w.sleep(nil)
	} else if early := due.Sub(now) - margin; early > 0 {
		ts := unix.NsecToTimespec(int64(early))
		w.sleep(&ts)
		w.learn(w.now().Sub(now) - early)
	}
	if due.Sub(w.now()) > mostSpin {
		return // woken, by wake or by a signal
	}
	w.spin(due)
}

// sleep waits for a wake, or for as long as is said. Errors other than a signal
// cannot come of a descriptor of our own; all end the wait, and a wait may end early.
func (w *pollWaiter) sleep(timeout *unix.Timespec) {
	n, err := unix.Ppoll(w.fds, timeout, nil)
	if err == nil && n > 0 {
		w.woken.Store(false)
		var count [8]byte
		_, _ = unix.Read(int(w.fds[0].Fd), count[:])
	}
}

// learn moves the margin towards what a sleep that was not woken overshot,
// quickly up and slowly down.
func (w *pollWaiter) learn(over time.Duration) {
	const little = 4 * time.Microsecond
	if over < 0 {
		return
	}
	over = min(over+little, mostSpin)
	if step := over - w.margin; step > 0 {
		w.margin += step / 8
	} else {
		w.margin += step / 32
	}
}

func (w *pollWaiter) spin(due Instant) {
	began := w.now()
	now := began
	for now < due && !w.woken.Load() {
		now = w.now()
	}
	w.woken.Store(false)
	w.budget -= now.Sub(began)
}

func (w *pollWaiter) wake() {
	w.woken.Store(true)
	var one [8]byte
	binary.NativeEndian.PutUint64(one[:], 1)
	_, _ = unix.Write(int(w.fds[0].Fd), one[:])
}

// end gives the thread back as it was.
func (w *pollWaiter) end() {
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 0, 0, 0, 0)
	runtime.UnlockOSThread()
	_ = unix.Close(int(w.fds[0].Fd))
}
