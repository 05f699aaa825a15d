package link

import (
	"bytes"
	"errors"
	"io"
	"net"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/net/nettest"

	"github.com/railyard/railyard/shaping"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open returns a link that is closed with the test.
func open(t testing.TB, spec string, o Options) *Link {
	t.Helper()
	l, err := Open(spec, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// tcp returns both ends of a connection over loopback.
func tcp(t testing.TB) (client, server net.Conn) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	if client, err = net.Dial("tcp", ln.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if server, err = ln.Accept(); err != nil {
		t.Fatal(err)
	}
	return client, server
}

// TestNetConn holds a shaped connection to what package net promises of one.
func TestNetConn(t *testing.T) {
	nettest.TestConn(t, func() (a, b net.Conn, stop func(), err error) {
		l, err := Open("rate=1GB/s,latency=100us", Options{})
		if err != nil {
			return nil, nil, nil, err
		}
		client, server := tcp(t)
		shaped := l.Wrap(client)
		return shaped, server, func() { _ = shaped.Close(); _ = server.Close(); _ = l.Close() }, nil
	})
}

// TestDirect has small segments fill the socket of a peer that does not read yet, so
// that the pacer's own writes are cut short and the pump goes on with them.
func TestDirect(t *testing.T) {
	l := open(t, "latency=50us", Options{})
	client, server := tcp(t)
	c := l.Wrap(client)
	if c.out.direct == nil {
		t.Fatal("a TCP connection is not written to directly")
	}
	sent := make([]byte, 16<<20)
	for i := range sent {
		sent[i] = byte(i >> 3 * i >> 11)
	}
	for at := 0; at < len(sent); at += 8 << 10 {
		if _, err := c.Write(sent[at : at+8<<10]); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(server)
	if err != nil || !bytes.Equal(got, sent) {
		t.Errorf("%d of %d bytes arrived, or others: %v", len(got), len(sent), err)
	}
	_ = server.Close()
}

// TestLead: the lead follows the shortest writes at once, longer ones slowly, and has a bound.
func TestLead(t *testing.T) {
	l := &Link{}
	for range 10_000 {
		l.learn(shaping.Second)
	}
	if l.lead > mostLead || l.lead < mostLead*9/10 {
		t.Errorf("after long writes the lead is %v, want nearly %v", l.lead, mostLead)
	}
	l.learn(shaping.Microsecond)
	l.learn(2 * shaping.Microsecond)
	if l.lead < shaping.Microsecond || l.lead > 1100*shaping.Nanosecond {
		t.Errorf("after a write of 1 us the lead is %v", l.lead)
	}
}

// TestDialClosed: nothing is dialled on a link that is closed, nor handed out by one
// that is closed meanwhile, and the error says so.
func TestDialClosed(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	for what, end := range map[string]func(*Link){"Close": func(l *Link) { _ = l.Close() }, "Abort": (*Link).Abort} {
		l := open(t, "latency=1ms", Options{})
		c, err := l.DialContext(t.Context(), "tcp", ln.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		end(l)
		_ = c.Close()
		var op *net.OpError
		if c, err := l.DialContext(t.Context(), "tcp", ln.Addr().String()); c != nil || !errors.Is(err, net.ErrClosed) || !errors.As(err, &op) || op.Op != "dial" {
			t.Errorf("a dial after %s: %v, %v, want net.ErrClosed of a dial", what, c, err)
		}
	}
}
