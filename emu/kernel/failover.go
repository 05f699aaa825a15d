package kernel

import (
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/transit"
	"github.com/railyard/railyard/shaping"
)

// wire returns the path of a connection between nodes by a way: its own mostly.
func (k *Kernel) wire(ci int32, way transit.Way) *fabric.Path {
	c := &k.conns[ci]
	if way == 0 {
		if k.remotes[c.remote].guard != none && k.steers() { // it may have moved on from there
			return &k.own(ci).Wire
		}
		return &k.remotes[c.remote].route.Wire
	}
	r := &k.runs[c.run]
	return &k.Ways.Route(c.from, c.to, int32(k.channel(ci)), r.protocol, way).Wire
}

// failOver makes a connection go on by other NICs of its nodes, once they have been
// probed, and reports whether there are any. What was on its way is sent again.
// (NCCL_IB_RESILIENCY_PORT_FAILOVER; a second failure while it sends again ends it
// there, and here only when nothing else is left that was not tried in vain.)
func (k *Kernel) failOver(ci int32, g *guard) bool {
	if k.bound(ci) {
		return false
	}
	c := &k.conns[ci]
	at := k.Now().Add(k.bear.Probe)
	channel := k.channel(ci)
	from, to, ok := k.fabric.OtherRails(int(c.from), int(c.to), channel, func(node, nic int) bool {
		return (node != k.fabric.NodeOf(int(c.from)) || g.tried&(1<<nic) == 0) && k.alive(node, nic, at, at)
	})
	if !ok {
		return false
	}
	k.failovers++
	g.tried |= 1 << from
	r := k.remoteOf(ci)
	k.steer(ci, r, g, g.way.Since(k.Ways.Changes(at)).By(from, to))
	g.tries = 0
	k.back(ci, g)
	r.nicBusy = at
	k.postAt(ci, at)
	return true
}

// alive reports whether a NIC works from one instant to another.
func (k *Kernel) alive(node, nic int, a, b shaping.Time) bool {
	k.seen = max(k.seen, b)
	for _, id := range []fabric.PortID{k.fabric.NICEgress(node, nic), k.fabric.NICIngress(node, nic)} {
		if _, down := k.faults.Port(id).DownDuring(a, b); down {
			return false
		}
	}
	return true
}

// settle looks, when a connection is about to send something new, whether it should
// go another way from now on: tables have changed, or its own NICs are back. It
// waits until nothing is on its way, so that nothing overtakes.
func (k *Kernel) settle(ci int32, r *remote, g *guard) {
	if !k.steers() || g.sent.len() > 0 || k.bound(ci) {
		return
	}
	way := g.way.Since(k.Ways.Changes(k.Now()))
	if k.bear.Failback && way != way.Own() && k.recovered(ci) {
		way = way.Own()
	}
	if way != g.way {
		k.steer(ci, r, g, way)
	}
}

// recovered reports whether a connection's own NICs have worked long enough.
func (k *Kernel) recovered(ci int32) bool {
	c := &k.conns[ci]
	channel := k.channel(ci)
	from, to := k.fabric.Rails(int(c.from), int(c.to), channel)
	since := max(k.Now().Add(-k.bear.Recover), 0)
	return k.alive(k.fabric.NodeOf(int(c.from)), from, since, k.Now()) && k.alive(k.fabric.NodeOf(int(c.to)), to, since, k.Now())
}

// reroute makes what is sent again go by the tables that there are now.
func (k *Kernel) reroute(ci int32, r *remote, g *guard) {
	if way := g.way.Since(k.Ways.Changes(k.Now())); way != g.way && !k.bound(ci) {
		k.steer(ci, r, g, way)
	}
}

// bound reports whether a connection ends in a switch that reduces: a tree is where
// it was set up, and there is no other way to it.
func (k *Kernel) bound(ci int32) bool { return k.remoteOf(ci).route.Wire.InSwitch }

// steer sends a connection another way from now on. Only its wire changes: buffer,
// proxies and credits stay.
func (k *Kernel) steer(ci int32, r *remote, g *guard, way transit.Way) {
	g.way = way
	own := *k.own(ci)
	if way != 0 {
		fetch := own.Wire.Fetch // the buffer stays, and a receiver elsewhere knows of no other way
		own.Wire = *k.wire(ci, way)
		own.Wire.Fetch = fetch
	}
	r.route, g.trip = &own, own.Wire.Trip()
}

// own returns the route that a connection began with.
func (k *Kernel) own(ci int32) *fabric.Route {
	c := &k.conns[ci]
	r := &k.runs[c.run]
	wc := &r.wired.Conns[ci-r.firstConn]
	return k.route(routeKey{fabric.End{GPU: int(c.from), Unit: wc.Out}, fabric.End{GPU: int(c.to), Unit: wc.In}, k.channel(ci), r.depth, r.protocol, k.sharp})
}

// channel returns the channel of a connection, as routes ask for it.
func (k *Kernel) channel(ci int32) int {
	r := &k.runs[k.conns[ci].run]
	return r.wired.Conns[ci-r.firstConn].Channel | int(r.own)
}
