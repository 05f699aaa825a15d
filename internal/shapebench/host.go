package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// idleBelow is the share of the host's processors that others may use before it no
// longer counts as idle: a shell and its daemons stay below a hundredth.
const idleBelow = 0.03

// meter tells how much of the host others used since it was made.
type meter struct {
	at    time.Time
	all   time.Duration // of processor time, anybody's
	own   time.Duration
	known bool
}

func newMeter() meter {
	m := meter{at: time.Now(), own: own()}
	m.all, m.known = busy()
	return m
}

// others returns the share of all processors that others used, not ok where the
// host does not say. What the hypervisor took counts.
func (m meter) others() (share float64, ok bool) {
	now := newMeter()
	if !m.known || !now.known {
		return 0, false
	}
	used := (now.all - m.all) - (now.own - m.own)
	return max(0, used.Seconds()) / (now.at.Sub(m.at).Seconds() * float64(runtime.NumCPU())), true
}

// own returns the processor time of this process and of those it has waited for.
func own() (sum time.Duration) {
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if syscall.Getrusage(who, &u) == nil {
			sum += time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
	}
	return sum
}

// busy returns the processor time that was used on the host, from Linux's
// /proc/stat: user, nice, system, then after idle and iowait the two kinds of
// interrupts and what the hypervisor took.
func busy() (time.Duration, bool) {
	const tick = 10 * time.Millisecond // USER_HZ is 100 on every architecture Go runs on
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, false
	}
	var v [8]int64
	n, err := fmt.Fscan(bytes.NewReader(bytes.TrimPrefix(text, []byte("cpu "))), &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6], &v[7])
	if err != nil || n != len(v) {
		return 0, false
	}
	return time.Duration(v[0]+v[1]+v[2]+v[5]+v[6]+v[7]) * tick, true
}

// hog starts this program as one that spins, and returns what ends it.
func hog() (end func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, "-spin")
	life, err := cmd.StdinPipe() // it ends when this end does, however
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return func() { _ = life.Close(); _ = cmd.Wait() }, nil
}

// spin uses one processor until standard input ends.
func spin() {
	ended := make(chan struct{})
	go func() {
		_, _ = os.Stdin.Read(make([]byte, 1))
		close(ended)
	}()
	for {
		select {
		case <-ended:
			return
		default:
		}
	}
}
