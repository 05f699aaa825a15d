package link

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// TestLatency: a byte takes the latency, either way, at either end, to the
// nanosecond, and so does the end of the stream.
func TestLatency(t *testing.T) {
	bubble(t, "latency=5ms", Options{}, func(t *testing.T, l *Link) {
		for _, wrap := range []func(net.Conn) *Conn{l.Wrap, l.WrapAccepted} {
			a, b := pair()
			c := wrap(a)
			one := make([]byte, 1)
			near(t, "out", took(func() { _, _ = c.Write(one); _, _ = io.ReadFull(b, one) }), 5*time.Millisecond)
			near(t, "in", took(func() { _, _ = b.Write(one); _, _ = io.ReadFull(c, one) }), 5*time.Millisecond)
			near(t, "out and back", took(func() {
				_, _ = c.Write(one)
				_, _ = io.ReadFull(b, one)
				_, _ = b.Write(one)
				_, _ = io.ReadFull(c, one)
			}), 10*time.Millisecond)
			near(t, "half close", took(func() { _ = c.CloseWrite(); drain(t, b) }), 5*time.Millisecond)
			near(t, "the other half", took(func() { _ = b.(halfCloser).CloseWrite(); drain(t, c) }), 5*time.Millisecond)
			_ = c.Close()
			_ = b.Close()
		}
	})
}

// TestRate: bytes take bytes / rate, and latency only adds to it: it costs no
// throughput.
func TestRate(t *testing.T) {
	for _, test := range []struct {
		spec string
		want time.Duration // of 10 MB
	}{
		{"rate=1MB/s", 10 * time.Second},
		{"rate=10MB/s", time.Second},
		{"rate=10MB/s,latency=50ms", time.Second + 50*time.Millisecond},
		{"rate=1GB/s,latency=50ms", 60 * time.Millisecond},
		{"latency=50ms", 50 * time.Millisecond},
		// The second port begins when the first bytes come, and is done as it is itself.
		{"rate=20MB/s,latency=1ms + rate=10MB/s,latency=2ms", time.Second + 3*time.Millisecond},
		// Cut through: the slower port decides, the last segment passes the faster one after it.
		{"rate=10GB/s / 1000", time.Second},
	} {
		t.Run(test.spec, func(t *testing.T) {
			bubble(t, test.spec, Options{}, func(t *testing.T, l *Link) {
				for _, inward := range []bool{false, true} {
					a, b := pair()
					from, to := net.Conn(l.Wrap(a)), b
					if inward {
						from, to = b, from
					}
					got := took(func() {
						go send(t, from, 10_000_000)
						if n := drain(t, to); n != 10_000_000 {
							t.Errorf("%d bytes arrived", n)
						}
					})
					near(t, "10 MB", got, test.want)
					_ = from.Close()
					_ = to.Close()
				}
			})
		})
	}
}

// TestBytes: what arrives is what was sent, in whatever portions.
func TestBytes(t *testing.T) {
	bubble(t, "rate=50MB/s,latency=1ms,jitter=3ms,loss=5% + rate=80MB/s,jitter=1ms", Options{Seed: 3}, func(t *testing.T, l *Link) {
		a, b := pair()
		c := l.Wrap(a)
		sent := make([]byte, 3_000_000)
		for i := range sent {
			sent[i] = byte(i * i >> 7)
		}
		go func() {
			for at, n := 0, 1; at < len(sent); at, n = at+n, 1+3*n%300_000 {
				n = min(n, len(sent)-at)
				if _, err := c.Write(sent[at : at+n]); err != nil {
					t.Error(err)
				}
			}
			_ = c.Close()
		}()
		got, err := io.ReadAll(b)
		if err != nil || !bytes.Equal(got, sent) {
			t.Errorf("%d of %d bytes arrived, or others: %v", len(got), len(sent), err)
		}
		if up, _ := l.Stats(); up.Bytes != int64(len(sent)) || up.Lost == 0 || up.Overrun != 0 {
			t.Errorf("%d bytes, %d packets lost, %d overruns", up.Bytes, up.Lost, up.Overrun)
		}
		_ = b.Close()
	})
}

// TestClose: what is on its way arrives, then the end of the stream; what the
// other end still sends is lost, and reads and writes fail at once.
func TestClose(t *testing.T) {
	bubble(t, "rate=1MB/s,latency=5ms", Options{}, func(t *testing.T, l *Link) {
		a, b := pair()
		c := l.Wrap(a)
		_, _ = c.Write(make([]byte, 100_000))
		near(t, "Close", took(func() { _ = c.Close() }), 0)
		for what, err := range map[string]error{"Close": c.Close(), "SetDeadline": c.SetDeadline(time.Now()), "CloseWrite": c.CloseWrite()} {
			if !errors.Is(err, net.ErrClosed) {
				t.Errorf("%s of a closed connection: %v", what, err)
			}
		}
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
			t.Errorf("a read after Close: %v", err)
		}
		if _, err := c.Write(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
			t.Errorf("a write after Close: %v", err)
		}
		var n int
		near(t, "the rest", took(func() { n = drain(t, b) }), 105*time.Millisecond)
		if n != 100_000 {
			t.Errorf("%d bytes arrived after Close", n)
		}
		_ = b.Close()
	})
}

// TestLinkClose waits for what closed connections have on its way and cuts those
// that are open; Abort waits for nothing.
func TestLinkClose(t *testing.T) {
	bubble(t, "latency=50ms", Options{}, func(t *testing.T, l *Link) {
		a, b := pair()
		c := l.Wrap(a)
		a2, b2 := pair()
		open := l.Wrap(a2)
		_, _ = c.Write(make([]byte, 10))
		_ = c.Close()
		got := make(chan int)
		go func() { got <- drain(t, b) }()
		near(t, "Link.Close", took(func() { _ = l.Close() }), 50*time.Millisecond)
		if n := <-got; n != 10 {
			t.Errorf("%d bytes of a closed connection arrived, want 10", n)
		}
		if _, err := open.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
			t.Errorf("a read of a connection that was cut: %v", err)
		}
		if n := drain(t, b2); n != 0 {
			t.Errorf("%d bytes of nothing arrived", n)
		}
		a3, b3 := pair()
		if _, err := l.Wrap(a3).Write(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
			t.Errorf("a write on a closed link: %v", err)
		}
		drain(t, b3)
	})
	bubble(t, "latency=3000s", Options{}, func(t *testing.T, l *Link) {
		a, b := pair()
		c := l.Wrap(a)
		_, _ = c.Write(make([]byte, 10))
		_ = c.Close()
		near(t, "Abort", took(l.Abort), 0)
		if n := drain(t, b); n != 0 {
			t.Errorf("%d bytes arrived in spite of Abort", n)
		}
	})
}

// TestLinger: a peer that does not read holds a closed connection for as long as
// the link lingers.
func TestLinger(t *testing.T) {
	bubble(t, "latency=1ms", Options{Linger: 3 * time.Second}, func(t *testing.T, l *Link) {
		a, b := pair()
		c := l.Wrap(a)
		_, _ = c.Write(make([]byte, 10))
		_ = c.Close()
		got := took(func() { _ = l.Close() })
		if got < 3*time.Second || got > 3*time.Second+time.Millisecond {
			t.Errorf("the link lingered for %v, want 3 s", got)
		}
		_ = b.Close()
	})
}

// TestBackpressure: what nobody reads fills the link's bounds and no more, then
// writes wait, until their deadline or until somebody reads.
func TestBackpressure(t *testing.T) {
	bubble(t, "rate=100MB/s,latency=1ms", Options{}, func(t *testing.T, l *Link) {
		for _, inward := range []bool{false, true} {
			a, b := pair()
			from, to := net.Conn(l.Wrap(a)), b
			if inward {
				from, to = b, from
			}
			_ = from.SetWriteDeadline(time.Now().Add(time.Minute))
			n, err := from.Write(make([]byte, 100_000_000))
			if !errors.Is(err, os.ErrDeadlineExceeded) || n > l.window+l.quantum || n < l.window/2 {
				t.Errorf("%d bytes were taken, the window being %d: %v", n, l.window, err)
			}
			_ = from.SetWriteDeadline(time.Time{})
			go send(t, from, 1000)
			if got := drain(t, to); got != n+1000 {
				t.Errorf("%d bytes arrived, want %d", got, n+1000)
			}
			_ = from.Close()
			_ = to.Close()
		}
	})
}

// TestBroken: when the connection below takes no more, the next write says why, as
// do all that come after; what has arrived can still be read.
func TestBroken(t *testing.T) {
	bubble(t, "latency=5ms", Options{}, func(t *testing.T, l *Link) {
		a, b := pair()
		c := l.Wrap(a)
		_, _ = b.Write([]byte("last words"))
		_ = b.Close()
		if _, err := c.Write(make([]byte, 10)); err != nil {
			t.Errorf("a write that is only found out later: %v", err)
		}
		time.Sleep(10 * time.Millisecond)
		synctest.Wait()
		for range 2 {
			if _, err := c.Write(make([]byte, 10)); !errors.Is(err, io.ErrClosedPipe) {
				t.Errorf("a write to a peer that is gone: %v", err)
			}
		}
		if said, err := io.ReadAll(c); err != nil || string(said) != "last words" {
			t.Errorf("read %q, %v", said, err)
		}
		_ = c.Close()
	})
}

func TestCloseWrite(t *testing.T) {
	bubble(t, "latency=5ms", Options{}, func(t *testing.T, l *Link) {
		a, b := pair()
		c := l.Wrap(a)
		_ = c.CloseWrite()
		if _, err := c.Write([]byte("x")); !errors.Is(err, syscall.EPIPE) {
			t.Errorf("a write after CloseWrite: %v", err)
		}
		drain(t, b)
		_, _ = b.Write([]byte("answer"))
		_ = b.Close()
		if got, err := io.ReadAll(c); err != nil || string(got) != "answer" {
			t.Errorf("read %q, %v after CloseWrite", got, err)
		}
		_ = c.Close()
		p, q := net.Pipe() // has no half close
		d := l.Wrap(p)
		if err := d.CloseWrite(); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("CloseWrite over a connection that has none: %v", err)
		}
		_, _ = d.Close(), q.Close()
	})
}

// TestRest: a link that rests for longer than an instant can say goes on as it was.
func TestRest(t *testing.T) {
	bubble(t, "rate=10MB/s,latency=5ms", Options{}, func(t *testing.T, l *Link) {
		a, b := pair()
		c := l.Wrap(a)
		buf := make([]byte, 100_000)
		for range 3 {
			near(t, "100 kB", took(func() { _, _ = c.Write(buf); _, _ = io.ReadFull(b, buf) }), 15*time.Millisecond)
			time.Sleep(80 * 24 * time.Hour)
		}
		_, _ = c.Close(), b.Close()
	})
}

// TestStats: what counts as carried is what arrived, not what is on its way or was
// lost with its connection.
func TestStats(t *testing.T) {
	bubble(t, "rate=1MB/s,latency=500ms", Options{}, func(t *testing.T, l *Link) {
		for _, accepted := range []bool{false, true} {
			a, b := pair()
			c, stats := l.Wrap(a), func() Stats { up, _ := l.Stats(); return up }
			if accepted {
				_ = c.Close()
				a, b = pair()
				c, stats = l.WrapAccepted(a), func() Stats { _, down := l.Stats(); return down }
			}
			go readAll(b)
			before := stats().Bytes
			_, _ = c.Write(make([]byte, 100_000))
			for _, step := range []struct {
				until time.Duration
				want  int64
			}{{400 * time.Millisecond, 0}, {1100 * time.Millisecond, 100_000}} {
				time.Sleep(step.until)
				if got := stats().Bytes - before; got != step.want {
					t.Errorf("after %v more %d bytes have arrived, want %d", step.until, got, step.want)
				}
			}
			_, _ = c.Write(make([]byte, 100_000))
			c.abort()
			time.Sleep(time.Second)
			if got := stats().Bytes - before; got != 100_000 {
				t.Errorf("%d bytes have arrived when 100000 of 200000 were cut off", got)
			}
			_ = b.Close()
		}
	})
}
