// Package wallclock is what hosts take wall time from: a monotonic clock that
// all processes of a machine share, and alarms that go off by it. Those who test
// a host bring a clock of their own.
//
// What emulated time follows from it is in emu/pace. May import:
// shaping/pacer.
package wallclock

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/railyard/railyard/shaping/pacer"
)

// Clock is what a process takes its wall time from.
type Clock interface {
	// Now returns the time in nanoseconds. It never goes back, and counts from
	// the same instant in all processes whose clocks name one host.
	Now() int64
	// Host names those who share this clock.
	Host() string
	// Alarm returns an alarm that calls ring when it goes off. Ring must neither
	// block nor compute for long.
	Alarm(ring func()) Alarm
}

// Alarm goes off once, at the time it was set to last.
type Alarm interface {
	Set(at int64)
	Stop()
}

// Host returns the clock of this machine, and what lets go of it.
func Host() (c Clock, release func(), err error) {
	p, release, err := pacer.Acquire()
	if err != nil {
		return nil, nil, err
	}
	return Of(p, name()), release, nil
}

// Of returns the clock of a pacer, shared by those who have it.
func Of(p *pacer.Pacer, host string) Clock { return &clock{p, host} }

type clock struct {
	pacer *pacer.Pacer
	host  string
}

func (c *clock) Now() int64   { return int64(c.pacer.Now()) }
func (c *clock) Host() string { return c.host }

func (c *clock) Alarm(ring func()) Alarm {
	return &alarm{c.pacer, pacer.Event{Func: func(time.Duration) { ring() }}}
}

type alarm struct {
	pacer *pacer.Pacer
	event pacer.Event
}

func (a *alarm) Set(at int64) { a.pacer.Set(&a.event, pacer.Instant(at)) }
func (a *alarm) Stop()        { a.pacer.Stop(&a.event) }

// name names this machine for those who read the same clock: by the id that its
// kernel drew at boot, and the time namespace, which shifts clocks. Where a
// pacer's instants are those of its process alone, so is the name.
func name() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil || runtime.GOOS != "linux" {
		machine, _ := os.Hostname()
		return machine + "/" + strconv.Itoa(os.Getpid())
	}
	ns, err := os.Readlink("/proc/self/ns/time")
	if err != nil {
		ns = "time" // a kernel without such namespaces
	}
	return strings.TrimSpace(string(boot)) + "/" + ns
}
