package kernel

import (
	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu/catalog"
	"github.com/railyard/railyard/shaping"
)

// Out returns a lower bound on the stamp of anything this kernel may still
// send to another participant if nothing more reaches it: the minimum over the
// next slice, and the next credit, of every connection that crosses. Never when
// nothing will be sent.
func (k *Kernel) Out() shaping.Time {
	next := k.Next()
	if next == shaping.Never {
		return shaping.Never
	}
	out := shaping.Never
	for _, ci := range k.far {
		c := &k.conns[ci]
		if c.fromHere {
			out = min(out, k.dataBound(c, next))
		}
		if c.toHere && !c.fromHere {
			out = min(out, k.creditBound(c, next))
		}
	}
	return out
}

// dataBound returns the least stamp of the next frame on a connection: the
// slice that waits longest for the NIC, or else the block's next one, which
// has yet to pass the SM.
func (k *Kernel) dataBound(c *conn, next shaping.Time) shaping.Time {
	if c.staged.len() > 0 {
		return k.flight(c, max(next, c.nicBusy), c.staged.at(0).wire)
	}
	b := &k.blocks[c.sender]
	data, ok := k.upcoming(b, c, true)
	if !ok {
		return shaping.Never
	}
	proto := k.runs[c.run].protocol
	from := max(next, b.until).Add(b.sm.Rate().Time(catalog.EngineBytes(proto, data)))
	return k.flight(c, max(from, c.nicBusy), catalog.WireBytes(proto, data))
}

// flight adds to an instant what a posted slice needs to reach the next owner.
func (k *Kernel) flight(c *conn, from shaping.Time, wire shaping.Bytes) shaping.Time {
	p := &c.route.Wire
	egress := k.fabric.Port(p.Ports[p.Inject-1]).Rate
	return from.Add(c.route.Post + egress.Time(wire) + p.Latency[p.Inject-1])
}

// creditBound returns the least stamp of the next credit on a connection: its
// next message has yet to be consumed.
func (k *Kernel) creditBound(c *conn, next shaping.Time) shaping.Time {
	b := &k.blocks[c.receiver]
	data, ok := k.upcoming(b, c, false)
	if !ok {
		return shaping.Never
	}
	cost := catalog.EngineBytes(k.runs[c.run].protocol, data)
	return max(next, b.until).Add(b.sm.Rate().Time(cost) + c.route.Credit)
}

// upcoming returns the data of the next slice that a block will send, or
// receive, on a connection; none is left when the last iteration has no more.
// Before that the first step of the plan follows the last.
func (k *Kernel) upcoming(b *block, c *conn, sends bool) (shaping.Bytes, bool) {
	if b.done {
		return 0, false
	}
	r := &k.runs[b.run]
	at := *b
	if at.state == idle {
		at.iteration = k.ranks[b.rank].iteration
		at.loop, at.step, at.slice = 0, 0, 0
	}
	for range at.steps {
		s := &at.steps[at.step]
		if uses(k, &at, c, s, sends) {
			return k.sliceBytes(r, &at, s), true
		}
		if !at.skip(r) {
			return 0, false
		}
	}
	return 0, false
}

// skip moves a copy of a block to the start of the next step. It reports
// whether there is one.
func (b *block) skip(r *run) bool {
	b.slice = 0
	if b.step++; int(b.step) < len(b.steps) {
		return true
	}
	b.step = 0
	if b.loop++; int(b.loop) < r.geometry.Loops {
		return true
	}
	b.loop = 0
	b.iteration++
	return int(b.iteration) < r.Iterations
}

func uses(k *Kernel, b *block, c *conn, s *collective.Step, sends bool) bool {
	mask, list := recvMask(s), b.recvs
	if sends {
		mask, list = sendMask(s), b.sends
	}
	for i, ci := range list {
		if mask&(1<<i) != 0 && &k.conns[ci] == c {
			return true
		}
	}
	return false
}
