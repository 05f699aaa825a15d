package kernel

import (
	"fmt"

	"github.com/railyard/railyard/emu/transit"
)

// Check reports why a header from another participant cannot be accepted: it
// names a connection or a port that is not here, or an instant that has passed.
// A peer may be of another build, or hostile; Accept takes its word.
func (k *Kernel) Check(h *transit.Header) error {
	i, ok := k.byID[h.Conn]
	if !ok {
		return fmt.Errorf("connection %d has no end here", h.Conn)
	}
	c := &k.conns[i]
	if h.Alone {
		if c.receiver == none {
			return fmt.Errorf("elements on connection %d, which nothing here receives", h.Conn)
		}
		return nil
	}
	if h.Tail < k.Now() || h.Head > h.Tail {
		return fmt.Errorf("stamps %d to %d ps on connection %d, when it is %d ps", int64(h.Head), int64(h.Tail), h.Conn, int64(k.Now()))
	}
	if h.Lost {
		if c.sender == none || c.remote == none || k.remotes[c.remote].guard == none || int(h.At) >= k.fabric.Ports() || h.Bytes < 0 || h.Bytes > transit.MaxFrame {
			return fmt.Errorf("news of a lost frame on connection %d, which loses none", h.Conn)
		}
		return nil
	}
	if h.Credit {
		if c.sender == none || c.remote == none {
			return fmt.Errorf("a credit on connection %d, which nothing here sends on", h.Conn)
		}
		return nil
	}
	if c.receiver == none || !k.enters(c, h) {
		return fmt.Errorf("a frame on connection %d for port %d of its way, which is not here", h.Conn, h.At)
	}
	if h.Bytes < 0 || h.Bytes > transit.MaxFrame {
		return fmt.Errorf("a frame of %d bytes on connection %d; at most %d", h.Bytes, h.Conn, transit.MaxFrame)
	}
	return nil
}

// enters reports whether a frame may reach this participant at a position on
// the way of a connection.
func (k *Kernel) enters(c *conn, h *transit.Header) bool {
	if c.remote == none {
		return false
	}
	p, at := &k.remotes[c.remote].route.Wire, h.At
	if h.Way != 0 {
		if k.Ways == nil || p.InSwitch || !k.Ways.Valid(c.from, c.to, h.Way) {
			return false
		}
		p = k.wire(k.byID[h.Conn], h.Way)
	}
	if p.InSwitch {
		return int(at) == len(p.Ports)
	}
	return at >= int32(p.Inject) && int(at) < len(p.Ports) && k.Owns(p.Ports[at])
}
