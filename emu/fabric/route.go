package fabric

import (
	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu/catalog"
	"github.com/railyard/railyard/emu/network"
	"github.com/railyard/railyard/shaping"
)

// Path is a row of ports, each with the latency from leaving it to reaching
// the next, or the end.
type Path struct {
	Ports   []PortID
	Latency []shaping.Duration
	// Inject is how many ports are booked at injection: those up to and
	// including the source device's egress.
	Inject int
	// Lossy is how many of the ports, from the first on, may lose what reaches them
	// or leaves by them: up to the receiving NIC. NVLink and PCIe replay.
	Lossy int
	// Lead is the latency from the source to the first port, where nothing is
	// booked at injection: a switch has no egress but the next port itself.
	Lead shaping.Duration
	// InSwitch: the path ends in a switch, whose block is hosted with node Node,
	// another than the sender's.
	InSwitch bool
	Node     int
	// Copy is what the SM of the sending GPU writes in a second, Fetch what that
	// of the receiving one reads, where they meet in host memory, or in the engines of an
	// NVSwitch; 0: as always.
	Copy, Fetch shaping.Rate
	// Usable is how many ‰ of the ports' rate the traffic reaches; 0: all.
	Usable int64
	// Fence is how long the first port, a GPU's NVLink, is idle while the SMs that write
	// to it in step wait for what each has written to have arrived: after a slice of each.
	Fence shaping.Duration
	// Pause is how long the sending SM waits likewise, while others keep the port
	// busy: on the way to the engines of an NVSwitch, after a slice to every peer.
	Pause shaping.Duration
}

// Bytes returns what some bytes on a link count on the path's ports: more, where
// the traffic does not reach their rate.
func (p *Path) Bytes(wire shaping.Bytes) shaping.Bytes {
	if share := shaping.Bytes(p.Usable); share > 0 {
		return (wire*1000 + share - 1) / share
	}
	return wire
}

// Before returns the latency right before a position on the path, that of its
// end included.
func (p *Path) Before(at int32) shaping.Duration {
	if at == 0 {
		return p.Lead
	}
	return p.Latency[at-1]
}

// Route is how the messages of one connection travel.
type Route struct {
	// Remote: the ends are on different nodes, or on one whose GPUs meet by ports that
	// others share. Then Local leads to the buffer
	// the NIC reads from, and Wire from there to the receiver's memory.
	Remote bool
	// FromSwitch: the sender is a switch, or a GPU of the same NVLink domain, or slice
	// of TPUs, on another node, with neither buffer nor proxy: what it sends goes on the
	// wire at once.
	FromSwitch bool
	Local      Path
	Wire       Path
	// SendProxy and RecvProxy are the GPUs whose proxies post; Post is what a
	// post takes at either end. The receiving proxy has no part in LL.
	SendProxy, RecvProxy int
	Post                 shaping.Duration
	RecvPost             shaping.Duration
	// Receive is the time from the last write to the receiver's reaction.
	Receive shaping.Duration
	// Credit is how long the news of a freed slot travels.
	Credit shaping.Duration
	// SM is the rate of the SM, or switch, at the receiving end, in bytes of data
	// a second.
	SM shaping.Rate
	// Answer is the least latency of anything the receiving end may send because
	// of a message, Refill that of anything the sending end may because of a
	// credit.
	Answer, Refill shaping.Duration
}

// OwnNICs, added to a channel, asks for the way of a plan whose messages leave by
// the sender's own NIC and arrive by the receiver's, whatever the channel's rail.
const OwnNICs = 1 << 16

// ChannelOf returns a channel without that.
func ChannelOf[C int | int32](channel C) C { return channel &^ OwnNICs }

// Route returns the way from one GPU to another for a channel.
func (f *Fabric) Route(src, dst, channel int, p collective.Protocol) Route {
	a, b := &f.nodes[f.gpuNode[src]], &f.nodes[f.gpuNode[dst]]
	r := Route{SendProxy: src, RecvProxy: dst, SM: b.system.SM.Rate, Answer: f.answer, Refill: f.answer}
	if a.slice != nil && a.slice == b.slice {
		return f.throughICI(a, b, src, dst, p)
	}
	if a == b {
		r.Local, r.Credit = a.between(src-a.firstGPU, dst-a.firstGPU, p)
		return r
	}
	if f.inDomain(src, dst) {
		return f.throughDomain(a, b, src, dst, p)
	}
	r.Remote = true
	way := a.leave(src-a.firstGPU, channel)
	railB := f.arrive(b, dst, channel, way.rail)
	channel = ChannelOf(channel)
	r.Local, r.SendProxy = a.local(way, p), a.firstGPU+way.proxy
	net := f.between(a, b, way.rail, railB, flow(src, dst, channel))
	r.Wire = f.wire(a, b, way, dst, railB, net)
	r.Post = a.system.Proxy.Post
	r.Receive = b.system.Proxy.Receive.Of(p)
	if p == collective.Simple {
		r.RecvPost = b.system.Proxy.Post
	}
	r.Credit = b.system.Proxy.Post
	for _, l := range net.Latency { // back by ways as long
		r.Credit += l
	}
	return r
}

// wire returns the path from where a NIC reads, through the network and the other
// NIC into the other GPU's memory.
func (f *Fabric) wire(a, b *node, way way, dst, railB int, net network.Path) Path {
	p := a.path(append(way.toNIC, a.nicAt(way.rail, wireOut)), 0)
	p.Inject = len(p.Ports)
	p.Latency = append(p.Latency[:p.Inject-1], net.Latency...)
	for _, port := range net.Ports {
		p.Ports = append(p.Ports, f.netBase+PortID(port))
	}
	p.Lossy = len(p.Ports) + 1
	in := b.enter(railB, dst-b.firstGPU)
	p.Ports, p.Latency, p.Fetch = append(p.Ports, in.Ports...), append(p.Latency, in.Latency...), in.Fetch
	return p
}

// Trip returns the latency from the sending NIC's egress to the receiving NIC, and
// so that of news which goes the other way.
func (p *Path) Trip() shaping.Duration {
	var d shaping.Duration
	for at := max(p.Inject-1, 0); at < max(p.Lossy-1, p.Inject); at++ {
		d += p.Latency[at]
	}
	return d
}

// Reaction returns a lower bound on the stamp of anything the receiving node
// may send because a message of the given wire bytes arrives at instant s: it
// has to be consumed before a slot is freed or the data goes on.
func (r *Route) Reaction(s shaping.Time, wire shaping.Bytes, p collective.Protocol) shaping.Time {
	if share := shaping.Bytes(r.Wire.Usable); share > 0 {
		wire = wire * share / 1000
	}
	data := wire * shaping.Bytes(catalog.Efficiency(p)) / 1000
	return s.Add(r.RecvPost + r.Receive + r.SM.Time(catalog.EngineBytes(p, data)) + r.Answer)
}

// CreditReaction is Reaction for a credit: the freed slot may at once be
// filled and posted.
func (r *Route) CreditReaction(s shaping.Time) shaping.Time {
	return s.Add(r.Refill)
}
