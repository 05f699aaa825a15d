package shaping

import "math/bits"

// Packet is what is lost at once: streams are cut at whole multiples of it, and
// where a segment begins. It is InfiniBand's largest MTU, in bytes.
const Packet Bytes = 4096

// Chain is one direction of a link for streams: hops, each a port and what lies
// behind it. Segments of any number of streams pass it. A stream has one segment at
// a port at a time: the next one is sent when the last one's Left has come. So
// streams with segments of one size share the rate equally.
//
// A loss delays. Streams are reliable: what is lost is sent again, which takes
// the ports' time once more and arrives a retry later.
type Chain struct {
	hops  []Hop
	ports []Calendar // in the order of hops; unused where a hop has no rate
	seed  uint64
	span  Duration
	lossy bool
	again []Bytes // by hop: what a segment's losses have it carry once more
}

// Segment is a part of a stream that is sent as one.
type Segment struct {
	Stream uint64 // which stream, among those of the chain
	Offset Bytes  // of its first byte in the stream
	Size   Bytes
}

// Passage is what becomes of a segment.
type Passage struct {
	Left    Time // from then on the stream's next segment finds no port with this one
	Arrives Time // its last byte is at the other end
	Lost    int  // packets lost on the way, each as often as it was
}

// NewChain returns a chain of hops that pass Check. Nothing is sent further in
// the past than span before now.
func NewChain(hops []Hop, seed uint64, span Duration) *Chain {
	c := &Chain{hops: append([]Hop(nil), hops...), ports: make([]Calendar, len(hops)), seed: seed, span: span, again: make([]Bytes, len(hops))}
	var around Duration
	for _, h := range hops {
		around += 2 * h.Latency
	}
	for i := range c.hops {
		h := &c.hops[i]
		c.lossy = c.lossy || h.Loss > 0
		if h.Retry == 0 {
			h.Retry = around
		}
		if h.Rate > 0 {
			c.ports[i] = NewCalendar(h.Rate, span)
		}
	}
	return c
}

// Pass sends a segment, all of which is at the first port at instant at. It is
// called at instant now, which never goes back; at may lie before it, and counts
// as now − span if it lies before that. The same seed, stream, offset and size draw
// the same jitter and the same losses.
func (c *Chain) Pass(now, at Time, s Segment) Passage {
	at = max(at, now.Add(-c.span))
	var out Passage
	var late Duration
	if c.lossy {
		out.Lost, late = c.losses(s)
	}
	head, tail := at, at
	out.Left = at
	var behind Duration // the ports so far, without their time
	for i := range c.hops {
		h := &c.hops[i]
		if h.Rate > 0 {
			port, size := &c.ports[i], s.Size+c.again[i]
			b := port.Book(now, head, tail, size)
			head, tail = port.Head(b.Start, b.End, head, tail, size), b.End
			out.Left = max(out.Left, tail.Add(-behind))
		}
		way := h.Latency
		if h.Jitter > 0 {
			way += Duration(below(uint64(h.Jitter)+1, c.draw(s, 0, i)))
		}
		head, tail, behind = head.Add(way), tail.Add(way), behind+way
	}
	out.Arrives = tail.Add(late)
	return out
}

// losses draws which packets of a segment are lost at which hop, and notes how
// many bytes each hop carries once more. It returns how many were lost and how late
// the last of them is: packets that are lost are sent again side by side.
func (c *Chain) losses(s Segment) (lost int, late Duration) {
	clear(c.again)
	for done := Bytes(0); done < s.Size; {
		at := s.Offset + done
		packet := Segment{s.Stream, at, min(s.Size-done, Packet-at%Packet)}
		done += packet.Size
		var delay Duration
		for i, h := range c.hops {
			n := c.tries(packet, i, h.Loss)
			lost += n
			delay += Duration(n) * h.Retry
			for j := range i + 1 {
				c.again[j] += Bytes(n) * packet.Size
			}
		}
		late = max(late, delay)
	}
	return lost, late
}

// tries returns how often a packet is lost at a hop before it gets through.
func (c *Chain) tries(packet Segment, hop int, loss Loss) int {
	n := 0
	for loss > 0 && below(uint64(Certain), c.draw(packet, uint64(n)+1, hop)) < uint64(loss) {
		n++
	}
	return n
}

// draw returns the random bits of a segment at a hop. Try zero is its jitter's.
func (c *Chain) draw(s Segment, try uint64, hop int) uint64 {
	return Draw(c.seed, s.Stream, uint64(s.Offset), try<<16|uint64(hop))
}

// Draw returns 64 random bits that depend on a seed and on what they are for,
// and on nothing that was drawn before. The mixer is that of splitmix64.
func Draw(seed uint64, parts ...uint64) uint64 {
	h := seed
	for _, p := range parts {
		h += p*0xbf58476d1ce4e5b9 + 0x9e3779b97f4a7c15
		h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
		h = (h ^ h>>27) * 0x94d049bb133111eb
		h ^= h >> 31
	}
	return h
}

// below makes random bits a number below n.
func below(n, random uint64) uint64 {
	hi, _ := bits.Mul64(n, random)
	return hi
}

// Quantum returns how large segments should be for a chain: what its slowest port
// carries in half a millisecond, in whole packets, from one to 64. Smaller ones cost
// the host more, larger ones leave in bursts.
func (c *Chain) Quantum() Bytes {
	const most = 64 * Packet
	r := c.Slowest()
	if r == 0 {
		return most
	}
	return min(max(r.Carries(Millisecond/2)/Packet*Packet, Packet), most)
}

// Flight returns how many bytes are between the first port and the far end when
// the chain's slowest port is busy all the time, jitter included; not ok when no
// port bounds the rate.
func (c *Chain) Flight() (b Bytes, ok bool) {
	var spans Duration
	for _, h := range c.hops {
		spans += h.Latency + h.Jitter
		if h.Loss > 0 {
			spans += h.Retry
		}
	}
	return c.Slowest().Carries(spans), c.Slowest() > 0
}

// Slowest returns the rate of the chain's slowest port, zero when there is none.
func (c *Chain) Slowest() Rate {
	slowest := Rate(0)
	for _, h := range c.hops {
		if h.Rate > 0 && (slowest == 0 || h.Rate < slowest) {
			slowest = h.Rate
		}
	}
	return slowest
}
