//go:build !linux

package pacer

func hostWaiter() (waiter, error) { return newTimerWaiter(), nil }
