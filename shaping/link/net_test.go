package link

import (
	"net"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/net/nettest"
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
