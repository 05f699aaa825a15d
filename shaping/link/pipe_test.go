package link

import (
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/railyard/railyard/shaping/pacer"
)

// end is one end of a connection in memory: a pipe for each direction, so that
// one can be closed alone.
type end struct {
	net.Conn          // reads
	out      net.Conn // writes
}

func (e end) Write(p []byte) (int, error)        { return e.out.Write(p) }
func (e end) CloseWrite() error                  { return e.out.Close() }
func (e end) Close() error                       { return errors.Join(e.Conn.Close(), e.out.Close()) }
func (e end) SetWriteDeadline(t time.Time) error { return e.out.SetWriteDeadline(t) }

// pair returns both ends of a connection in memory.
func pair() (a, b net.Conn) {
	ar, bw := net.Pipe()
	br, aw := net.Pipe()
	return end{ar, aw}, end{br, bw}
}

// bubble runs a test in virtual time, on a link whose pacer keeps it exactly.
func bubble(t *testing.T, spec string, o Options, test func(t *testing.T, l *Link)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := pacer.NewTimers()
		defer p.Close()
		o.Pacer = p
		l, err := Open(spec, o)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		test(t, l)
	})
}

// took returns how long something takes, in the bubble's time.
func took(f func()) time.Duration {
	began := time.Now()
	f()
	return time.Since(began)
}

// send writes n bytes and half closes.
func send(t *testing.T, c net.Conn, n int) {
	t.Helper()
	if _, err := c.Write(make([]byte, n)); err != nil {
		t.Error(err)
	}
	if err := c.(halfCloser).CloseWrite(); err != nil {
		t.Error(err)
	}
}

// drain reads to the end and returns how many bytes there were.
func drain(t *testing.T, c net.Conn) int {
	t.Helper()
	n, err := io.Copy(io.Discard, c)
	if err != nil {
		t.Error(err)
	}
	return int(n)
}

// near fails unless a span is what it should be, up to rounding to nanoseconds.
func near(t *testing.T, what string, got, want time.Duration) {
	t.Helper()
	if d := got - want; d < 0 || d > 10*time.Nanosecond {
		t.Errorf("%s took %v, want %v", what, got, want)
	}
}
