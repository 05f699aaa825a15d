package pacer

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// both runs a test on the two ways to wait: by timers in a bubble, and as the
// host does.
func both(t *testing.T, test func(t *testing.T, p *Pacer)) {
	t.Run("timers", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := NewTimers()
			defer p.Close()
			test(t, p)
		})
	})
	t.Run("host", func(t *testing.T) {
		p, err := New()
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		test(t, p)
	})
}

// TestOrder sets events in an order of their own; they run by instant, those of
// one instant as they were set, and none before it is due.
func TestOrder(t *testing.T) {
	both(t, func(t *testing.T, p *Pacer) {
		now := p.Now()
		var wg sync.WaitGroup
		var got []int
		for i, ms := range []int{3, 1, 2, 1, 0, 3} {
			due := now.Add(time.Duration(ms) * time.Millisecond)
			wg.Add(1)
			p.At(due, func(late time.Duration) {
				defer wg.Done()
				if late < 0 || p.Now() < due {
					t.Errorf("event %d ran %v before it was due", i, due.Sub(p.Now()))
				}
				got = append(got, i)
			})
		}
		wg.Wait()
		if want := []int{4, 1, 3, 2, 0, 5}; !slices.Equal(got, want) {
			t.Errorf("ran in the order %v, want %v", got, want)
		}
		if l := p.Lateness(); l.Count != 6 {
			t.Errorf("lateness of %d events was recorded, want 6", l.Count)
		}
	})
}

// TestExact holds the pacer to the instant where time is virtual.
func TestExact(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewTimers()
		defer p.Close()
		var got []time.Duration
		base := p.Now()
		for _, d := range []time.Duration{time.Hour, 25 * time.Microsecond, 3 * time.Second} {
			p.At(base.Add(d), func(late time.Duration) { got = append(got, p.Now().Sub(base), late) })
		}
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		want := []time.Duration{25 * time.Microsecond, 0, 3 * time.Second, 0, time.Hour, 0}
		if !slices.Equal(got, want) {
			t.Errorf("instants and lateness %v, want %v", got, want)
		}
	})
}

// TestEarlier sets an event before the one that the pacer waits for.
func TestEarlier(t *testing.T) {
	both(t, func(t *testing.T, p *Pacer) {
		p.At(p.Now().Add(time.Hour), func(time.Duration) { t.Error("an event an hour away ran") })
		for range 50 {
			ran := make(chan bool)
			p.At(p.Now().Add(10*time.Microsecond), func(time.Duration) { close(ran) })
			<-ran
		}
	})
}

func TestStopAndMove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewTimers()
		defer p.Close()
		var got []string
		event := func(name string) *Event {
			return &Event{Func: func(late time.Duration) { got = append(got, fmt.Sprint(name, p.Now(), late)) }}
		}
		a, b, c := event("a"), event("b"), event("c")
		p.Set(a, 10)
		p.Set(b, 20)
		p.Set(c, 30)
		p.Set(a, 25)
		if !p.Stop(b) || p.Stop(b) || p.Stop(event("d")) {
			t.Error("Stop must report true once, for an event that is set")
		}
		time.Sleep(time.Second)
		synctest.Wait()
		p.Set(c, 0) // long past
		synctest.Wait()
		if want := []string{"a25 0s", "c30 0s", "c1000000000 1s"}; !slices.Equal(got, want) {
			t.Errorf("ran %q, want %q", got, want)
		}
	})
}

// TestReset has an event set itself again, as periodic ones do.
func TestReset(t *testing.T) {
	both(t, func(t *testing.T, p *Pacer) {
		left, end := 100, make(chan bool)
		due := p.Now()
		var e Event
		e.Func = func(time.Duration) {
			if left--; left == 0 {
				close(end)
				return
			}
			due = due.Add(20 * time.Microsecond)
			p.Set(&e, due)
		}
		p.Set(&e, due)
		<-end
	})
}

func TestClose(t *testing.T) {
	both(t, func(t *testing.T, p *Pacer) {
		p.At(p.Now().Add(time.Hour), func(time.Duration) { t.Error("an event ran after Close") })
		p.Close()
		p.Close()
		e := p.At(p.Now(), func(time.Duration) { t.Error("an event set after Close ran") })
		if p.Stop(e) {
			t.Error("an event was in the queue of a closed pacer")
		}
	})
}

// TestMany has goroutines set and stop events all at once, for the race detector,
// and counts.
func TestMany(t *testing.T) {
	both(t, func(t *testing.T, p *Pacer) {
		var ran, all sync.WaitGroup
		for g := range 8 {
			all.Go(func() {
				for i := range 100 {
					ran.Add(1)
					e := p.At(p.Now().Add(time.Duration((g*31+i*17)%90)*time.Microsecond), func(time.Duration) { ran.Done() })
					if i%3 == 0 && p.Stop(e) {
						ran.Done()
					}
				}
			})
		}
		all.Wait()
		ran.Wait()
	})
}

func TestAcquire(t *testing.T) {
	a, releaseA, err := Acquire()
	if err != nil {
		t.Fatal(err)
	}
	b, releaseB, err := Acquire()
	if err != nil {
		t.Fatal(err)
	}
	if a != b {
		t.Error("a process has two pacers")
	}
	releaseA()
	releaseA() // must not count as b's
	ran := make(chan bool)
	b.At(b.Now(), func(time.Duration) { close(ran) })
	<-ran
	releaseB()
	select {
	case <-b.done:
	default:
		t.Error("the pacer goes on though nobody holds it")
	}
	c, release, err := Acquire()
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if c == b {
		t.Error("Acquire returned a closed pacer")
	}
}

func TestNever(t *testing.T) {
	if Never.Add(time.Hour) != Never {
		t.Error("an hour after never is not never")
	}
}
