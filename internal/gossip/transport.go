package gossip

import (
	"context"
	"fmt"
	"log"
	"net"
	"strings"
	"time"

	"github.com/hashicorp/memberlist"
)

// sockets is memberlist's transport over TCP and UDP, except that what it
// dials ends with a context. Without that, a process told to stop while it
// joins an address that swallows packets would hang for a whole stream
// timeout.
type sockets struct {
	*memberlist.NetTransport
	ctx context.Context
}

var _ memberlist.NodeAwareTransport = (*sockets)(nil)

// bindTries is how often a free port is looked for: the kernel picks one that
// is free for TCP, and the same one may be taken for UDP.
const bindTries = 10

// BindError says that the address to listen on could not be had.
type BindError struct {
	Addr string
	Err  error
}

func (e *BindError) Error() string {
	return fmt.Sprintf("gossip: cannot listen on %s: %v; choose another port, or 0 for any free one", e.Addr, e.Err)
}

// Unwrap returns the cause.
func (e *BindError) Unwrap() error { return e.Err }

func (e *BindError) usage() bool { return true }

func listen(ctx context.Context, c *Config, logger *log.Logger) (*sockets, error) {
	var err error
	for range bindTries {
		var t *memberlist.NetTransport
		t, err = memberlist.NewNetTransport(&memberlist.NetTransportConfig{
			BindAddrs: []string{c.BindAddr}, BindPort: c.BindPort, Logger: logger,
		})
		if err == nil {
			return &sockets{NetTransport: t, ctx: ctx}, nil
		}
		if c.BindPort != 0 || !strings.Contains(err.Error(), "address already in use") {
			break
		}
	}
	return nil, &BindError{Addr: net.JoinHostPort(c.BindAddr, fmt.Sprint(c.BindPort)), Err: err}
}

// DialTimeout is memberlist.Transport's.
func (s *sockets) DialTimeout(addr string, timeout time.Duration) (net.Conn, error) {
	return s.DialAddressTimeout(memberlist.Address{Addr: addr}, timeout)
}

// DialAddressTimeout is memberlist.NodeAwareTransport's.
func (s *sockets) DialAddressTimeout(a memberlist.Address, timeout time.Duration) (net.Conn, error) {
	conn, err := (&net.Dialer{Timeout: timeout}).DialContext(s.ctx, "tcp", a.Addr)
	if err != nil {
		return nil, err
	}
	return &boundConn{conn, context.AfterFunc(s.ctx, func() { _ = conn.Close() })}, nil
}

// boundConn is closed when its context ends, if it wasn't before.
type boundConn struct {
	net.Conn
	release func() bool
}

func (c *boundConn) Close() error {
	c.release()
	return c.Conn.Close()
}
