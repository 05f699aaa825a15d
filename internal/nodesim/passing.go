package nodesim

import (
	"github.com/railyard/railyard/emu/kernel"
	"github.com/railyard/railyard/emu/transit"
	"github.com/railyard/railyard/internal/wire"
)

// post has a frame wait for its departure.
func (p *paced) post(e *kernel.Emission) {
	f := wire.Frame{Header: e.Header}
	to := e.To
	if to == p.owners.Shared {
		p.held.Put(e.Departs, departure{to, f})
		if to = p.kernel.Host(e); to == p.self || !e.Payload {
			return // the elements are here already, or there are none
		}
		f.Alone = true
	}
	if e.Payload {
		f.Give(p.machines[e.Run].Take(int(e.Conn)))
	}
	p.held.Put(e.Departs, departure{to, f})
}

// release puts on the streams what departs by now.
func (p *paced) release() {
	now := p.mapping.Emulated(p.clock.Now())
	if p.held.Next() > now {
		return
	}
	out := p.newOutbox()
	for p.held.Next() <= now {
		at, d := p.held.Take()
		p.late.Departed(now.Sub(at))
		h := &d.frame.Header
		h.Head, h.Tail = h.Head.Add(p.shift), h.Tail.Add(p.shift)
		if d.to == p.owners.Shared {
			p.news.FabricFrames = append(p.news.FabricFrames, wire.EncodeHeader(h))
			continue
		}
		out.add(d.to, d.frame, &kernel.Emission{Header: *h})
	}
	out.flush()
}

// arrived takes frames of a peer.
func (p *paced) arrived(e *event) error {
	if e.batch != p.batch {
		return wire.Failf(wire.Mismatch, "%s sends frames of batch %d, which is not the one that runs", p.names[e.from], e.batch)
	}
	if !p.running {
		p.early = append(p.early, *e)
		return nil
	}
	for i := range e.frames {
		f := &e.frames[i]
		if !f.Alone {
			p.clamp(&f.Header, e.at)
		}
		if err := p.take(e.from, f); err != nil {
			return err
		}
		if f.Alone {
			if err := p.meet(f.Conn, e.at); err != nil {
				return err
			}
		}
	}
	return nil
}

// clamp moves a frame whose stamp has passed when it came to that instant, as a
// whole, and notes by how much. One that what came before it on its connection
// would then follow waits for that: a process that was stopped puts off what it
// had already, and what comes afterwards must not overtake it.
func (p *paced) clamp(h *transit.Header, at int64) {
	h.Head, h.Tail = max(h.Head.Add(-p.shift), 0), max(h.Tail.Add(-p.shift), 0)
	by := max(p.mapping.Emulated(at), p.kernel.Now(), p.tails[h.Conn]).Sub(h.Tail)
	p.late.Delivered(max(by, 0))
	if by > 0 && h.Head <= h.Tail { // or Check refuses it
		h.Head, h.Tail = h.Head.Add(by), h.Tail.Add(by)
	}
	p.tails[h.Conn] = h.Tail
}

// relay takes headers that the fabric hands on. A header waits for its elements:
// without them its message is not here.
func (p *paced) relay(e *event) error {
	if !p.running {
		p.early = append(p.early, *e)
		return nil
	}
	for _, m := range e.request.GetRelay().GetFabricFrames() {
		h, err := wire.DecodeHeader(m)
		if err != nil {
			return wire.Failf(wire.Mismatch, "%v", err)
		}
		if _, _, ok := p.kernel.Locate(h.Conn); !ok {
			return wire.Failf(wire.Mismatch, "the fabric hands on a frame on connection %d, which has no end here", h.Conn)
		}
		p.relayed++
		if gpu := int(h.From); h.Payload && gpu >= 0 && gpu < p.fabric.GPUs() && p.owners.Node[p.fabric.NodeOf(gpu)] != p.self {
			m := p.meeting(h.Conn)
			if m.elements == 0 {
				m.headers = append(m.headers, h)
				p.apart++
				continue
			}
			m.elements--
		}
		if err := p.enter(h, e.at); err != nil {
			return err
		}
	}
	return nil
}

// meet lets the header go on that elements have come for.
func (p *paced) meet(conn uint32, at int64) error {
	m := p.meeting(conn)
	if len(m.headers) == 0 {
		m.elements++
		return nil
	}
	h := m.headers[0]
	m.headers = m.headers[1:]
	p.apart--
	return p.enter(h, at)
}

func (p *paced) meeting(conn uint32) *meeting {
	m := p.meets[conn]
	if m == nil {
		m = &meeting{}
		p.meets[conn] = m
	}
	return m
}

// enter gives the kernel a header that came by way of the fabric.
func (p *paced) enter(h transit.Header, at int64) error {
	p.clamp(&h, at)
	if err := p.kernel.Check(&h); err != nil {
		return wire.Failf(wire.Mismatch, "the fabric hands on %v", err)
	}
	p.kernel.Accept(h)
	return nil
}
