package kernel

import (
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/fault"
	"github.com/railyard/railyard/emu/transit"
	"github.com/railyard/railyard/shaping"
)

// guard is the sender's side of a reliable connection (RC) whose way may lose
// frames. Nothing is told to the receiver, which sees frames in order, and late:
//
//	frames   5  6  7  8          5 is lost at a port that is down
//	         ✗  ·  ·             6 and 7 are of no use to the receiver
//	            └ NAK ┐          but 6 got through and told it what is missing
//	                  5 6 7 8    go back to 5 (go-back-N)
//
// If nothing follows, only the timer tells, 4.096 µs × 2^timeout after the frame
// was sent, and as many times as there are retries.
type guard struct {
	// sent are frames that the receiver has not consumed, as far as is known here;
	// the first is numbered base, and those from next on are to be sent (again).
	sent queue[held]
	base uint32
	next int
	// gap is the frame that is missing, by its number; open when there is one.
	gap  uint32
	open bool
	// due is when to go back to it: for a NAK, or because the timer has run out.
	due   shaping.Time
	timer bool
	tries int
	// again is the frame that it went back to last, and since the number of what the
	// block had sent by then: news of that frame, or of one behind it, that tells of
	// what was sent before is stale.
	again, since uint32
	trip         shaping.Duration // from NIC to NIC
	way          transit.Way
	tried        uint64        // NICs of the sender that it went on by since a frame got through, a bit each
	where        fabric.PortID // that lost it
	news         int           // of losses, from another participant, that is pending: for bounds alone
}

// held is a frame that may have to be sent again.
type held struct {
	wire shaping.Bytes
	rest shaping.Bytes // what of it is still to arrive
	// payload: its elements have yet to travel; they do so once.
	payload bool
	posted  shaping.Time
	left    shaping.Time // when the NIC was through with it last
	once    bool         // it has been on the wire
}

func newGuard(route *fabric.Route) guard { return guard{trip: route.Wire.Trip(), due: shaping.Never} }

// behind reports whether something has to be sent that is not staged, or may have
// to.
func (g *guard) behind() bool { return g.open || g.next < g.sent.len() || g.news > 0 }

// acknowledge notes that the oldest frame has been consumed.
func (g *guard) acknowledge() {
	g.sent.pop()
	g.base++
	g.next--
	g.tries, g.tried = 0, 0
}

// answer returns how long a NAK takes, from when a packet is behind the egress.
func (g *guard) answer(p *fabric.Path) shaping.Duration { return 2*g.trip - p.Latency[p.Inject-1] }

// mayLose reports whether a connection may lose frames at some time.
func (k *Kernel) mayLose(c *conn, wire *fabric.Path) bool {
	if k.guarded && wire.Lossy > 0 {
		return true
	}
	return k.faults != nil && (k.lossy(wire) || k.apart(c))
}

// lossy reports whether faults make a path lose frames at some time.
func (k *Kernel) lossy(p *fabric.Path) bool {
	for _, id := range p.Ports[:p.Lossy] {
		if k.faults.Port(id).Loses() {
			return true
		}
	}
	return false
}

// apart reports whether a partition ever parts the ends of a connection.
func (k *Kernel) apart(c *conn) bool {
	return k.faults.Apart(k.fabric.NodeOf(int(c.from)), k.fabric.NodeOf(int(c.to))) != nil
}

// transmitGuarded is transmit for a connection that may lose frames: what has to
// be sent again comes before what is new.
func (k *Kernel) transmitGuarded(ci int32, c *remote, g *guard) {
	if c.waiting || g.next == g.sent.len() && c.whole == 0 {
		return
	}
	if c.nicBusy > k.Now() {
		k.postAt(ci, c.nicBusy)
		return
	}
	if g.next == g.sent.len() {
		k.settle(ci, c, g)
		c.whole--
		s := c.staged.pop()
		g.sent.push(held{wire: s.wire, rest: s.wire, payload: s.payload, posted: s.posted})
	}
	k.put(ci, c, g)
	if c.whole > 0 || g.next < g.sent.len() {
		k.postAt(ci, max(c.nicBusy, k.Now()))
	}
}

// put gives the NIC the next frame.
func (k *Kernel) put(ci int32, c *remote, g *guard) {
	h := g.sent.ref(g.next)
	at := max(k.Now(), h.posted)
	f := k.frame(&k.blocks[k.conns[ci].sender], ci, transit.Wire, h.rest, h.payload)
	f.PSN = g.base + uint32(g.next)
	f.Useless, f.Way = g.open, g.way
	g.next++
	if h.once {
		k.redone += h.rest
	}
	h.once = true
	wire := &c.route.Wire
	c.nicBusy = k.Inject(f, wire, at, at)
	h.left = c.nicBusy
	fate := k.Fate()
	switch {
	case fate.Dead:
		k.severed(ci)
	case g.open && (!fate.Lost || fate.Some):
		k.goBack(ci, g, fate.Head.Add(g.answer(wire)), false)
	case g.open:
	case fate.Lost:
		h.rest = fate.Rest
		k.miss(ci, g, f.PSN, c.nicBusy, fate.Port)
		if fate.Seen { // by the packet behind the one that was lost
			gone := k.fabric.Port(wire.Ports[wire.Inject-1]).Rate.Time(fate.Shown)
			k.goBack(ci, g, fate.Head.Add(gone+g.answer(wire)), false)
		}
	default:
		h.payload = false
		k.drain()
	}
}

// miss notes that a frame, which left the NIC at an instant, is lost, and starts
// the timer.
func (k *Kernel) miss(ci int32, g *guard, psn uint32, left shaping.Time, where fabric.PortID) {
	if g.open && int32(psn-g.gap) >= 0 {
		return
	}
	g.gap, g.open, g.due, g.where = psn, true, shaping.Never, where
	if t := k.bear.Try(); t > 0 {
		k.goBack(ci, g, left.Add(t), true)
	}
}

// goBack makes the connection go back to its gap at an instant, if it would not
// have done so before.
func (k *Kernel) goBack(ci int32, g *guard, at shaping.Time, timer bool) {
	if at = max(at, k.Now()); at >= g.due {
		return
	}
	g.due, g.timer = at, timer
	b := &k.blocks[k.conns[ci].sender]
	k.Push(transit.Key{At: at, Ord: transit.Order(transit.Resend, b.id, b.count())}, ci)
}

// told handles news from the fabric that a frame was lost.
func (k *Kernel) told(i int32) {
	l := k.Loss(i)
	c := k.remoteOf(l.Local)
	g := &k.guards[c.guard]
	g.news = max(g.news-1, 0) // the fabric may be here as well, and then nobody asks
	n := int32(l.PSN - g.base)
	if g.since > 0 && int32(l.PSN-g.again) >= 0 && int32(l.Seq-g.since) <= 0 {
		return // it has been sent again since
	}
	if n < 0 || int(n) >= g.sent.len() {
		return // it has arrived by now
	}
	if l.Rest > 0 {
		g.sent.ref(int(n)).rest = l.Rest
	}
	k.miss(l.Local, g, l.PSN, g.sent.ref(int(n)).left, l.Port)
	if l.Nak {
		k.goBack(l.Local, g, k.Now(), false)
	}
}

// resend goes back to the gap.
func (k *Kernel) resend(ci int32) {
	c := k.remoteOf(ci)
	g := &k.guards[c.guard]
	if !g.open || g.due != k.Now() {
		return // a NAK was faster
	}
	if g.timer {
		if g.tries == k.bear.IBRetry {
			k.exhausted(ci, g)
			return
		}
		g.tries++
	}
	g.due = shaping.Never
	k.back(ci, g)
	k.reroute(ci, c, g)
	k.transmit(ci)
}

// back makes what is sent next the frame that is missing.
func (k *Kernel) back(ci int32, g *guard) {
	g.open, g.next = false, int(g.gap-g.base)
	g.again, g.since = g.gap, k.blocks[k.conns[ci].sender].seq
}

// exhausted ends a connection whose retries are used up: the queue pair is in
// error, and the communicator with it.
func (k *Kernel) exhausted(ci int32, g *guard) {
	g.due = shaping.Never
	if k.bear.Failover && k.failOver(ci, g) {
		return
	}
	cause := emu.LinkDown
	if k.faults.Dead(k.fabric.NodeOf(int(k.conns[ci].to))) <= k.Now() {
		cause = emu.PeerLost
	}
	k.fail(ci, cause, g.where, k.Now())
}

// severed ends a connection whose way is closed and does not lose: nothing that
// is sent will ever come again.
func (k *Kernel) severed(ci int32) {
	fate := k.Fate()
	k.fail(ci, emu.LinkDown, fate.Port, max(fate.At, k.Now()))
}

// fail reports that a connection is given up at an instant, now or later.
func (k *Kernel) fail(ci int32, cause emu.Cause, where fabric.PortID, at shaping.Time) {
	c := &k.conns[ci]
	r := &k.runs[c.run]
	b := &k.blocks[c.sender]
	wc := &r.wired.Conns[ci-r.firstConn]
	k.effects.Failures = append(k.effects.Failures, emu.Failure{Cause: cause, Run: int(c.run), Seq: int64(b.iteration),
		Rank: wc.From, Peer: wc.To, Channel: int(b.channel), Step: int(b.step), Link: k.fabric.PortName(where), Fault: none, At: at})
}

// Redone returns the bytes that were sent again in the batch.
func (k *Kernel) Redone() shaping.Bytes { return k.redone }

// Failovers returns how often a connection went on by other NICs in the batch.
func (k *Kernel) Failovers() int { return k.failovers }

// throttle returns the bytes that the SM of a slow GPU could move at full speed in
// the time that it takes for some.
func (k *Kernel) throttle(b *block, cost shaping.Bytes) shaping.Bytes {
	s, _ := k.faults.GPU(k.gpuOf(b)).At(k.Now())
	if s.Share == fault.Whole || s.Share == 0 {
		return cost
	}
	return (cost*fault.Whole + shaping.Bytes(s.Share) - 1) / shaping.Bytes(s.Share)
}
