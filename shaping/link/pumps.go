package link

import (
	"net"
	"time"
)

// most is how many segments are written below in one go.
const most = 16

// start runs both pumps of a connection.
func (c *Conn) start() {
	c.pumps.Store(2)
	go c.pump()
	go c.intake()
}

// pumped is what a pump does last.
func (c *Conn) pumped() {
	if c.pumps.Add(-1) > 0 {
		return
	}
	c.out.drop()
	c.in.drop()
	c.readUntil.to(time.Time{})
	c.writeUntil.to(time.Time{})
	c.link.mu.Lock()
	delete(c.link.conns, c)
	c.link.mu.Unlock()
	close(c.done)
}

// pump writes below what has arrived there.
func (c *Conn) pump() {
	defer c.pumped()
	defer c.below.Close() // nothing to do about an error: all that was written is out
	var batch []segment
	for {
		batch = c.out.takeSome(batch[:0])
		var err error
		switch {
		case len(batch) == 0:
			select {
			case <-c.out.some:
				continue
			case <-c.gone:
				return
			}
		case batch[0].mark == full:
			return
		case batch[0].mark == half:
			err = c.below.(halfCloser).CloseWrite() // CloseWrite has looked
		default:
			err = c.writeBelow(batch)
		}
		if err != nil {
			c.breaks(err)
			return
		}
	}
}

func (c *Conn) writeBelow(batch []segment) error {
	if isClosed(c.closed) {
		_ = c.below.SetWriteDeadline(time.Now().Add(c.link.linger))
	}
	var all [most][]byte
	bufs := net.Buffers(all[:0])
	for i := range batch {
		bufs = append(bufs, batch[i].data)
	}
	_, err := bufs.WriteTo(c.below)
	for i := range batch {
		c.out.release(&batch[i])
	}
	return err
}

// breaks tells writers that the connection below takes no more, and waits until
// this one is closed: what it has read may still be wanted.
func (c *Conn) breaks(err error) {
	c.brokenErr = err
	close(c.broken)
	c.out.drop()
	<-c.closed
}

// intake puts what can be read below.
func (c *Conn) intake() {
	defer c.pumped()
	for c.awaitRoom() {
		c.link.mu.Lock()
		n := c.in.cut(c.link.quantum)
		c.link.mu.Unlock()
		s := c.link.space(n)
		n, err := c.below.Read(s.data)
		s.data = s.data[:n]
		if n > 0 {
			c.putRead(s)
		}
		if err != nil {
			c.link.mu.Lock()
			c.in.put(segment{mark: half, err: err})
			c.link.mu.Unlock()
			return
		}
	}
}

// putRead puts what was read. A little of it moves out of the pool's memory.
func (c *Conn) putRead(s segment) {
	if spare := s; s.buf != nil && len(s.data) < c.link.quantum/4 {
		s = segment{data: append([]byte(nil), s.data...)}
		c.link.recycle(&spare)
	}
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	c.in.put(s)
}

// awaitRoom waits until more may be read below, or never: the connection is
// closed, nobody reads any more.
func (c *Conn) awaitRoom() bool {
	for {
		c.link.mu.Lock()
		room := c.in.mayPut()
		c.link.mu.Unlock()
		switch {
		case isClosed(c.closed):
			return false
		case room:
			return true
		}
		select {
		case <-c.in.roomy:
		case <-c.closed:
		}
	}
}
