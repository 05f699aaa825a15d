package payload

import "math/bits"

// pool keeps message buffers that nobody owns, so that a run allocates what is
// in flight at once and no more. Messages of a run differ by an element or are
// of few sizes, so a free list for each power of two does.
type pool struct {
	free [bits.UintSize][][]byte // buffers with 2^i to 2^(i+1)−1 bytes of room
	held int                     // bytes in free
}

const (
	// maxHeld bounds the bytes kept, for a process that is sent more buffers
	// than it sends: the rest is left to the garbage collector. 8 ranks × 16
	// channels × 4 slices of 256 KiB, twice what such a node has in flight.
	maxHeld = 128 << 20
	// tries is how many buffers of a list are looked at for one with room.
	tries = 8
	// grain is what room is rounded up to, so that buffers of messages that
	// differ by an element serve each other.
	grain = 64
)

// Buffer returns a buffer of n bytes with any content, for a message. Hosts
// draw from it what they read from the wire, for Put.
func (m *Machine) Buffer(n int) []byte { return m.pool.get(n) }

// Recycle takes back a buffer that its owner, for instance the sender of what
// Take gave, needs no longer. Buffers from elsewhere are welcome.
func (m *Machine) Recycle(buf []byte) { m.pool.put(buf) }

func (p *pool) get(n int) []byte {
	if n == 0 {
		return nil
	}
	room := (n + grain - 1) / grain * grain
	for c := class(n); c <= class(room); c++ {
		if buf := p.pick(c, n); buf != nil {
			return buf[:n]
		}
	}
	return make([]byte, n, room)
}

// pick takes a buffer with room for n bytes out of a list, nil if none is near
// its end.
func (p *pool) pick(list, n int) []byte {
	l := p.free[list]
	last := len(l) - 1
	for i := last; i >= 0 && i > last-tries; i-- {
		if buf := l[i]; cap(buf) >= n {
			l[i], l[last] = l[last], nil
			p.free[list] = l[:last]
			p.held -= cap(buf)
			return buf
		}
	}
	return nil
}

func (p *pool) put(buf []byte) {
	if cap(buf) == 0 || p.held+cap(buf) > maxHeld {
		return
	}
	c := class(cap(buf))
	p.free[c] = append(p.free[c], buf)
	p.held += cap(buf)
}

func class(n int) int { return bits.Len(uint(n)) - 1 }
