package link

import (
	"errors"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Conn is a shaped connection. What Write takes is on its way when it returns,
// as with any socket; an error below shows in a later call. Read returns what has
// arrived. One call of each kind runs at a time, others wait for it.
type Conn struct {
	link    *Link
	below   net.Conn
	out, in *flow

	reads, writes         sync.Mutex // one call at a time
	readUntil, writeUntil deadline
	rest                  segment // taken, partly read
	read                  int     // how much of it
	readErr               error   // after all data
	ended                 bool    // by CloseWrite

	once, cut sync.Once
	closed    chan struct{} // by Close or abort
	gone      chan struct{} // by abort
	broken    chan struct{} // after brokenErr was set: the connection below takes no more
	brokenErr error
	pumps     atomic.Int32  // that run
	done      chan struct{} // both have ended
}

// Read returns what has arrived, or waits for it.
func (c *Conn) Read(p []byte) (int, error) {
	c.reads.Lock()
	defer c.reads.Unlock()
	for {
		if err := c.stopped(c.readUntil.past()); err != nil {
			return 0, c.failed("read", err)
		}
		if len(p) == 0 {
			return 0, nil
		}
		if c.read < len(c.rest.data) {
			return c.copy(p), nil
		}
		if c.readErr != nil {
			return 0, c.readErr
		}
		s, ok := c.in.take()
		switch {
		case ok && s.mark == half:
			c.readErr = s.err
		case ok:
			c.rest, c.read = s, 0
		default:
			select {
			case <-c.in.some:
			case <-c.closed:
			case <-c.readUntil.past():
			}
		}
	}
}

func (c *Conn) copy(p []byte) int {
	n := copy(p, c.rest.data[c.read:])
	if c.read += n; c.read == len(c.rest.data) {
		c.in.release(&c.rest)
		c.read = 0
	}
	return n
}

// stopped says why a call may not go on.
func (c *Conn) stopped(past <-chan struct{}) error {
	switch {
	case isClosed(c.closed):
		return net.ErrClosed
	case isClosed(past):
		return os.ErrDeadlineExceeded
	}
	return nil
}

// failed puts an error into the words of package net.
func (c *Conn) failed(op string, err error) error {
	var inner *net.OpError
	if errors.As(err, &inner) {
		return err // it came from below with all of this
	}
	e := &net.OpError{Op: op, Err: err, Source: c.below.LocalAddr(), Addr: c.below.RemoteAddr()}
	if e.Addr != nil {
		e.Net = e.Addr.Network()
	}
	return e
}

// Write sends p, waiting for room where need be.
func (c *Conn) Write(p []byte) (n int, err error) {
	c.writes.Lock()
	defer c.writes.Unlock()
	for {
		if err := c.mayWrite(); err != nil {
			c.out.giveUp()
			return n, c.failed("write", err)
		}
		if n == len(p) {
			return n, nil
		}
		put := c.tryPut(p[n:])
		if n += put; n == len(p) {
			return n, nil
		}
		if put > 0 {
			continue
		}
		select {
		case <-c.out.roomy:
		case <-c.closed:
		case <-c.broken:
		case <-c.writeUntil.past():
		}
	}
}

func (c *Conn) mayWrite() error {
	switch err := c.stopped(c.writeUntil.past()); {
	case err != nil:
		return err
	case isClosed(c.broken):
		return c.brokenErr
	case c.ended:
		return syscall.EPIPE
	}
	return nil
}

// tryPut puts the first segment of p, if there is room.
func (c *Conn) tryPut(p []byte) int {
	c.link.mu.Lock()
	ok, n := c.out.mayPut(), c.out.cut(len(p))
	c.link.mu.Unlock()
	if !ok {
		return 0
	}
	s := c.link.space(n) // copied outside the lock: nobody else puts
	copy(s.data, p)
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	c.out.put(s)
	return n
}

// CloseWrite ends the direction of writes: the other end reads what was written,
// then io.EOF. It fails where the connection below has no half-close.
func (c *Conn) CloseWrite() error {
	if _, ok := c.below.(halfCloser); !ok {
		return c.failed("close", errors.ErrUnsupported)
	}
	c.writes.Lock()
	defer c.writes.Unlock()
	if err := c.mayWrite(); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		return c.failed("close", err)
	}
	c.ended = true
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	c.out.put(segment{mark: half})
	return nil
}

type halfCloser interface{ CloseWrite() error }

// Close closes the connection. What was written arrives when it should, then the
// other end sees the close; Close does not wait for that, Link.Close does.
func (c *Conn) Close() error {
	err := c.failed("close", net.ErrClosed)
	c.once.Do(func() {
		err = nil
		close(c.closed)
		_ = c.below.SetReadDeadline(time.Unix(1, 0)) // nobody reads any more
		_ = c.below.SetWriteDeadline(time.Now().Add(c.link.linger))
		c.link.mu.Lock()
		defer c.link.mu.Unlock()
		c.out.put(segment{mark: full})
	})
	return err
}

// abort closes the connection, and what is on its way is lost.
func (c *Conn) abort() {
	c.once.Do(func() { close(c.closed) })
	c.cut.Do(func() { close(c.gone) })
	_ = c.below.Close()
	c.out.drop()
	c.in.drop()
}

// NetConn returns the connection below, as tls.Conn does: for its options, not to
// read from or write to.
func (c *Conn) NetConn() net.Conn { return c.below }

// LocalAddr returns the address below.
func (c *Conn) LocalAddr() net.Addr { return c.below.LocalAddr() }

// RemoteAddr returns the address below.
func (c *Conn) RemoteAddr() net.Addr { return c.below.RemoteAddr() }

// SetDeadline bounds how long reads and writes wait, those that wait already
// included. The zero time is no bound.
func (c *Conn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// SetReadDeadline bounds how long reads wait.
func (c *Conn) SetReadDeadline(t time.Time) error { return c.setDeadline(&c.readUntil, t) }

// SetWriteDeadline bounds how long writes wait for room.
func (c *Conn) SetWriteDeadline(t time.Time) error { return c.setDeadline(&c.writeUntil, t) }

func (c *Conn) setDeadline(d *deadline, t time.Time) error {
	if isClosed(c.closed) {
		return c.failed("set", net.ErrClosed)
	}
	d.to(t)
	return nil
}
