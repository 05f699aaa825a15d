package link

import (
	"io"
	"testing"
	"time"
)

// stall keeps the pacer from running for a while, soon.
func stall(l *Link, after, lasts time.Duration) {
	l.pacer.At(l.pacer.Now().Add(after), func(time.Duration) { time.Sleep(lasts) })
}

// TestStalled: a host that does not run the link for up to 100 ms costs it no rate,
// whichever end shapes: whoever has more to send than fits waits all the while.
func TestStalled(t *testing.T) {
	for _, lasts := range []time.Duration{0, 15 * time.Millisecond, 35 * time.Millisecond, 95 * time.Millisecond} {
		for _, accepted := range []bool{false, true} {
			bubble(t, "rate=100MB/s,latency=50ms", Options{}, func(t *testing.T, l *Link) {
				a, b := pair()
				if accepted {
					b = l.WrapAccepted(b)
				} else {
					a = l.Wrap(a)
				}
				const n = 20_000_000
				took := took(func() {
					stall(l, 100*time.Millisecond, lasts)
					go send(t, a, n)
					if got := drain(t, b); got != n {
						t.Errorf("%d bytes came, of %d", got, n)
					}
				})
				if want := 250 * time.Millisecond; took < want || took > want+time.Millisecond {
					t.Errorf("accepted %v, stalled for %v: %d bytes took %v, want %v", accepted, lasts, n, took, want)
				}
				if up, _ := l.Stats(); up.Overrun > 0 {
					t.Errorf("stalled for %v: %d overruns", lasts, up.Overrun)
				}
				_, _ = a.Close(), b.Close()
			})
		}
	}
}

// TestStalledTooLong: what a host is late beyond that is lost, and counted.
func TestStalledTooLong(t *testing.T) {
	bubble(t, "rate=100MB/s", Options{}, func(t *testing.T, l *Link) {
		a, b := pair()
		c := l.Wrap(a)
		const n = 20_000_000
		took := took(func() {
			stall(l, 100*time.Millisecond, 300*time.Millisecond)
			go send(t, c, n)
			drain(t, b)
		})
		up, _ := l.Stats()
		if lost := took - 200*time.Millisecond; lost < 199*time.Millisecond || lost > 201*time.Millisecond || up.Overrun == 0 {
			t.Errorf("lost %v with %d overruns, want 200ms and some", lost, up.Overrun)
		}
		_, _ = c.Close(), b.Close()
	})
}

// TestStalledThenAtRest: what comes after a rest is not early for what came late
// before, nor is what follows a write that was given up.
func TestStalledThenAtRest(t *testing.T) {
	const bulk, way = 4_000_000, 5 * time.Millisecond
	for _, rest := range []time.Duration{100 * time.Millisecond, time.Second, 10 * time.Second} {
		for _, gaveUp := range []bool{false, true} {
			bubble(t, "rate=100MB/s,latency=5ms", Options{}, func(t *testing.T, l *Link) {
				a, b := pair()
				c := l.Wrap(a)
				stall(l, 5*time.Millisecond, 60*time.Millisecond)
				if gaveUp {
					_ = c.SetWriteDeadline(time.Now().Add(8 * time.Millisecond))
				}
				n, err := c.Write(make([]byte, bulk))
				if (err != nil) != gaveUp {
					t.Fatalf("gave up %v: wrote %d bytes: %v", gaveUp, n, err)
				}
				_ = c.SetWriteDeadline(time.Time{})
				if _, err := io.ReadFull(b, make([]byte, n)); err != nil {
					t.Fatal(err)
				}
				time.Sleep(rest)
				took := took(func() {
					if _, err := c.Write(make([]byte, 100)); err != nil {
						t.Error(err)
					}
					_, _ = io.ReadFull(b, make([]byte, 100))
				})
				near(t, "a message after a rest", took, way+time.Microsecond)
				_, _ = c.Close(), b.Close()
			})
		}
	}
}
