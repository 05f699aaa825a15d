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
//
// It says how long windows are, so it looks at all that is known early: when a
// slice will be whole, when the proxy and the NIC are free, when a message can
// be consumed. With foreknowledge of every frame, rings on 4 nodes would need from
// none to a third fewer rounds.
func (k *Kernel) Out() shaping.Time {
	next := k.Next()
	if next == shaping.Never {
		return shaping.Never
	}
	out := shaping.Never
	for _, ci := range k.far {
		r := k.remoteOf(ci)
		if r.fromHere {
			out = min(out, k.dataBound(ci, r, next))
		} else {
			out = min(out, k.creditBound(ci, r, next))
		}
	}
	return out
}

// dataBound returns the least stamp of the next frame on a connection: the
// slice that waits longest for the NIC, or else the block's next one, which
// has yet to pass the SM. A switch needs no post.
func (k *Kernel) dataBound(ci int32, r *remote, next shaping.Time) shaping.Time {
	if r.route.FromSwitch {
		return k.castBound(ci, r, next)
	}
	if r.guard != none && k.guards[r.guard].behind() {
		return next.Add(k.firstHop(r))
	}
	// What the proxy has not posted yet, it posts one after the other.
	post := max(next, k.proxies[r.route.SendProxy])
	if r.staged.len() > 0 {
		s := r.staged.at(0)
		if r.whole == 0 {
			s.posted = max(post, s.whole).Add(r.route.Post)
		}
		return k.flight(r, max(next, s.posted, r.nicBusy), s.wire)
	}
	bi := k.conns[ci].sender
	b := &k.blocks[bi]
	data, ok := k.upcoming(bi, ci, true)
	if !ok {
		return shaping.Never
	}
	whole := max(next, b.until).Add(k.pass(b, data) + r.hop)
	posted := max(post, whole).Add(r.route.Post)
	return k.flight(r, max(posted, r.nicBusy), k.runs[b.run].onWire(data))
}

// castBound is dataBound for what goes on the wire at once: a switch of the
// fabric sends it, or a GPU to another node of its NVLink domain.
func (k *Kernel) castBound(ci int32, r *remote, next shaping.Time) shaping.Time {
	bi := k.conns[ci].sender
	b := &k.blocks[bi]
	data, ok := k.upcoming(bi, ci, true)
	if !ok {
		return shaping.Never
	}
	p := &r.route.Wire
	least := k.pass(b, data) + p.Lead
	for _, l := range p.Latency[:p.Inject] {
		least += l
	}
	return max(next, b.until).Add(least)
}

// pass returns what a block's SM needs for a slice.
func (k *Kernel) pass(b *block, data shaping.Bytes) shaping.Duration {
	return k.engines[b.engine].rate.Time(catalog.EngineBytes(k.runs[b.run].protocol, data))
}

// flight adds to the instant at which the NIC begins with a slice what it needs
// to reach the next owner.
func (k *Kernel) flight(r *remote, from shaping.Time, wire shaping.Bytes) shaping.Time {
	if r.guard != none && k.steers() {
		return from.Add(k.firstHop(r))
	}
	p := &r.route.Wire
	egress := k.fabric.Port(p.Ports[p.Inject-1]).Rate
	return from.Add(egress.Time(wire) + p.Latency[p.Inject-1])
}

// firstHop returns the least latency from the NIC to the next port. A connection
// that may go another way yet has that of the shortest.
func (k *Kernel) firstHop(r *remote) shaping.Duration {
	hop := r.route.Wire.Latency[r.route.Wire.Inject-1]
	if k.steers() {
		hop = min(hop, k.fabric.LeastHop())
	}
	return hop
}

// steers reports whether connections may go other ways than those they began with.
func (k *Kernel) steers() bool { return k.bear.Failover || k.bear.Sweep > 0 }

// creditBound returns the least stamp of the next credit on a connection: the
// oldest message that is here, or on its way within this participant, has yet
// to be consumed. One that is not here yet answers for itself (Reaction).
func (k *Kernel) creditBound(ci int32, r *remote, next shaping.Time) shaping.Time {
	c := &k.conns[ci]
	if c.ready == 0 {
		if r.due.len() == 0 {
			return shaping.Never
		}
		next = max(next, r.due.at(0))
	}
	b := &k.blocks[c.receiver]
	data, ok := k.upcoming(c.receiver, ci, false)
	if !ok {
		return shaping.Never
	}
	return max(next, b.until).Add(k.pass(b, data) + c.credit)
}

// upcoming returns the data of the next slice that a block will send, or
// receive, on a connection; none is left when the last iteration has no more.
// Before that the first step of the plan follows the last.
func (k *Kernel) upcoming(bi, ci int32, sends bool) (shaping.Bytes, bool) {
	b := &k.blocks[bi]
	if b.done {
		return 0, false
	}
	r := &k.runs[b.run]
	at := *b
	if k.states[bi] == idle {
		at.iteration = k.ranks[b.rank].iteration
		at.loop, at.step, at.slice = 0, 0, 0
	}
	for range at.steps {
		s := &at.steps[at.step]
		if k.uses(&at, ci, s, sends) {
			return k.sliceBytes(r, &at, bi, s), true
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

// uses reports whether a step sends, or receives, on a connection.
func (k *Kernel) uses(b *block, ci int32, s *collective.Step, sends bool) bool {
	if sends {
		return sendMask(s).Has(int(ci - b.sends))
	}
	for m, i := firstRecv(s); i < int(b.peersIn); i = m.Next(i + 1) {
		if k.recvConn(b, i) == ci {
			return true
		}
	}
	return false
}
