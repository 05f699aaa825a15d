package link

import (
	"io"
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

// TestShare: eight connections that always have something to send get one
// eighth each of what one would have, and no more in all.
func TestShare(t *testing.T) {
	bubble(t, "rate=80MB/s,latency=2ms", Options{}, func(t *testing.T, l *Link) {
		const n, span = 8, 2 * time.Second
		got := make([]int, n)
		var ends []net.Conn
		done := make(chan bool, n)
		for i := range n {
			a, b := pair()
			c := l.Wrap(a)
			ends = append(ends, c, b)
			go func() {
				for size := 1000 * (i + 1); ; { // they write in portions of their own
					if _, err := c.Write(make([]byte, size)); err != nil {
						return
					}
				}
			}()
			go func() {
				_ = b.SetReadDeadline(time.Now().Add(span))
				got[i] = readAll(b)
				done <- true
			}()
		}
		for range n {
			<-done
		}
		for _, c := range ends {
			_ = c.Close()
		}
		sum := 0
		for _, g := range got {
			sum += g
		}
		most := 80_000_000 * (span - 2*time.Millisecond).Seconds()
		if float64(sum) > most || float64(sum) < 0.995*most {
			t.Errorf("%d bytes in all, want a little less than %.0f", sum, most)
		}
		if least, most := slices.Min(got), slices.Max(got); most-least > 2*l.quantum {
			t.Errorf("shares differ by %d bytes, more than two segments of %d: %v", most-least, l.quantum, got)
		}
	})
}

// readAll reads until there is an error and returns how many bytes came.
func readAll(r io.Reader) int {
	n, _ := io.Copy(io.Discard, r)
	return int(n)
}

// TestPing: a byte of one connection waits for at most a segment of each other one.
func TestPing(t *testing.T) {
	bubble(t, "rate=10MB/s,latency=1ms", Options{}, func(t *testing.T, l *Link) {
		const bulk = 7
		var ends []net.Conn
		for range bulk {
			a, b := pair()
			c := l.Wrap(a)
			ends = append(ends, c, b)
			go func() {
				for {
					if _, err := c.Write(make([]byte, 100_000)); err != nil {
						return
					}
				}
			}()
			go readAll(b)
		}
		a, b := pair()
		c := l.Wrap(a)
		time.Sleep(time.Second)
		segment := time.Duration(l.quantum) * 100 // ns a byte
		one := make([]byte, 1)
		for range 20 {
			if d := took(func() { _, _ = c.Write(one); _, _ = io.ReadFull(b, one) }); d > time.Millisecond+(bulk+1)*segment {
				t.Errorf("a byte took %v beside %d flows whose segments take %v", d, bulk, segment)
			}
			time.Sleep(7 * time.Millisecond)
		}
		for _, e := range append(ends, c, b) {
			_ = e.Close()
		}
	})
}

// TestHold: connections whose peers don't read share what the link may have in
// memory, whether they come at once or one by one, and one that is busy beside them
// or beside many at rest has the link's rate.
func TestHold(t *testing.T) {
	for _, spec := range []string{"rate=50MB/s,latency=100us", "rate=20MB/s,latency=50ms"} {
		for _, n := range []int{1, 10} {
			for _, pause := range []time.Duration{0, 5 * time.Second} {
				bubble(t, spec, Options{}, func(t *testing.T, l *Link) { held(t, l, n, pause) })
			}
		}
	}
}

// held opens n connections in each direction that nobody reads, one after the other
// with a pause, and fails if the link takes more than they may share.
func held(t *testing.T, l *Link, n int, pause time.Duration) {
	var ends []net.Conn
	var taken [2]atomic.Int64
	for range n {
		a, b := pair()
		c := l.Wrap(a)
		ends = append(ends, c, b)
		for i, from := range []net.Conn{c, b} {
			go func() {
				for buf := make([]byte, 64<<10); ; {
					n, err := from.Write(buf)
					taken[i].Add(int64(n))
					if err != nil {
						return
					}
				}
			}()
		}
		time.Sleep(pause)
	}
	time.Sleep(20 * time.Second)
	most := float64(n * (leastBuf + 2*l.quantum))
	for i := range n { // who comes later finds others there, and gets a part
		most += float64(l.window) / float64(i+1)
	}
	for i := range taken {
		if got := float64(taken[i].Load()); got > most || got < 0.7*float64(l.window) {
			t.Errorf("%s: %d connections, %v apart, have %.0f bytes in memory, want up to %.0f", l, n, pause, got, most)
		}
	}
	for _, e := range ends {
		_ = e.Close()
	}
}

// TestRestful: connections at rest, or with little to say, take nothing from one that is busy.
func TestRestful(t *testing.T) {
	bubble(t, "rate=100MB/s,latency=50ms", Options{}, func(t *testing.T, l *Link) {
		var ends []net.Conn
		for range 20 {
			a, b := pair()
			c := l.Wrap(a)
			ends = append(ends, c, b)
			go readAll(b)
			go func() {
				for {
					if _, err := c.Write(make([]byte, 10)); err != nil {
						return
					}
					time.Sleep(10 * time.Millisecond)
				}
			}()
		}
		a, b := pair()
		c := l.Wrap(a)
		const size = 100_000_000
		got := took(func() {
			go send(t, c, size)
			if n := drain(t, b); n != size {
				t.Errorf("%d bytes arrived", n)
			}
		})
		if want := 1050 * time.Millisecond; got < want || got > want+10*time.Millisecond {
			t.Errorf("100 MB beside 20 connections that ping took %v, want %v", got, want)
		}
		for _, e := range append(ends, c, b) {
			_ = e.Close()
		}
	})
}

// TestSeed: the same seed gives every segment the same instant, another one
// others, and each connection has draws of its own.
func TestSeed(t *testing.T) {
	run := func(seed uint64) (at []time.Duration) {
		bubble(t, "latency=2ms,jitter=1ms,loss=10%,retry=20ms", Options{Seed: seed}, func(t *testing.T, l *Link) {
			for range 2 {
				a, b := pair()
				c := l.Wrap(a)
				one := make([]byte, 1)
				for range 100 {
					at = append(at, took(func() { _, _ = c.Write(one); _, _ = io.ReadFull(b, one) }))
				}
				_, _ = c.Close(), b.Close()
			}
		})
		return at
	}
	a, b, c := run(1), run(1), run(2)
	if !slices.Equal(a, b) {
		t.Error("one seed, two answers")
	}
	if slices.Equal(a, c) || slices.Equal(a[:100], a[100:]) {
		t.Error("two seeds, or two connections, one answer")
	}
	lost := 0
	for _, d := range a {
		if d > 20*time.Millisecond {
			lost++
		} else if d < 2*time.Millisecond || d > 3*time.Millisecond {
			t.Errorf("a byte took %v, want 2 to 3 ms, or from 22 on", d)
		}
	}
	if lost < 10 || lost > 32 { // 20 in the mean, deviation 4.2
		t.Errorf("%d of 200 were lost, want some 20", lost)
	}
}

// TestWays: each direction has draws of its own, of jitter and of losses, and the
// same ones whichever end is wrapped.
func TestWays(t *testing.T) {
	run := func(wrapUp func(l *Link, a, b net.Conn) (up, down net.Conn)) (at [2][]time.Duration) {
		bubble(t, "latency=2ms,jitter=1ms,loss=10%,retry=20ms", Options{Seed: 1}, func(t *testing.T, l *Link) {
			a, b := pair()
			client, server := wrapUp(l, a, b)
			one := make([]byte, 1)
			for range 400 {
				for i, w := range [][2]net.Conn{{client, server}, {server, client}} {
					at[i] = append(at[i], took(func() { _, _ = w[0].Write(one); _, _ = io.ReadFull(w[1], one) }))
				}
			}
			_, _ = client.Close(), server.Close()
		})
		return at
	}
	asked := run(func(l *Link, a, b net.Conn) (net.Conn, net.Conn) { return l.Wrap(a), b })
	answered := run(func(l *Link, a, b net.Conn) (net.Conn, net.Conn) { return a, l.WrapAccepted(b) })
	if !slices.Equal(asked[0], answered[0]) || !slices.Equal(asked[1], answered[1]) {
		t.Error("one seed, another answer at the other end")
	}
	alike, both := 0, 0
	for i, up := range asked[0] {
		down := asked[1][i]
		if up == down {
			alike++
		}
		if up > 20*time.Millisecond && down > 20*time.Millisecond {
			both++
		}
	}
	// Jitter is of a million nanoseconds, so none is alike but by chance. 4 are lost both ways in the mean; 40 if both were one.
	if alike > 1 || both > 16 {
		t.Errorf("of 400 bytes each way %d took as long up as down, %d were lost both ways", alike, both)
	}
}
