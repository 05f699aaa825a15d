package pacer

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestInstantsOfHost compares a pacer's clock with the kernel's, which other
// processes have too.
func TestInstantsOfHost(t *testing.T) {
	p, err := New()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	const slack = Instant(time.Millisecond) // a reading of the clocks may have been interrupted
	before, now, after := kernelClock(t), p.Now(), kernelClock(t)
	if now < before-slack || now > after+slack {
		t.Errorf("the pacer says %d between %d and %d", now, before, after)
	}
}

func kernelClock(t *testing.T) Instant {
	t.Helper()
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		t.Fatal(err)
	}
	return Instant(ts.Nano())
}

// TestSpinIsBounded drives the arithmetic of a waiter: the margin stays between
// nothing and its bound whatever sleeps overshot.
func TestSpinIsBounded(t *testing.T) {
	w := &pollWaiter{margin: mostSpin / 2}
	for range 1000 {
		w.learn(time.Second)
	}
	if w.margin > mostSpin || w.margin < mostSpin*9/10 {
		t.Errorf("after long overshoots the margin is %v, want nearly %v", w.margin, mostSpin)
	}
	for range 1000 {
		w.learn(0)
		w.learn(-time.Hour) // woken: says nothing
	}
	if w.margin < 0 || w.margin > mostSpin/10 {
		t.Errorf("after exact sleeps the margin is %v, want nearly nothing", w.margin)
	}
}
