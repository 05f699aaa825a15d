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
	// Lead is the latency from the source to the first port, where nothing is
	// booked at injection: a switch has no egress but the next port itself.
	Lead shaping.Duration
	// InSwitch: the path ends in a switch of the fabric, whose block is hosted
	// with node Node.
	InSwitch bool
	Node     int
	// Usable is how many ‰ of the ports' rate the traffic reaches; 0: all.
	Usable int64
}

// Route is how the messages of one connection travel.
type Route struct {
	// Remote: the ends are on different nodes. Then Local leads to the buffer
	// the NIC reads from, and Wire from there to the receiver's memory.
	Remote bool
	// FromSwitch: the sender is a switch of the fabric, with neither buffer nor
	// proxy: what it sends goes on the wire at once.
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

// Route returns the way from one GPU to another for a channel.
func (f *Fabric) Route(src, dst, channel int, p collective.Protocol) Route {
	a, b := &f.nodes[f.gpuNode[src]], &f.nodes[f.gpuNode[dst]]
	r := Route{SendProxy: src, RecvProxy: dst, SM: b.system.SM.Rate, Answer: f.answer, Refill: f.answer}
	if a == b {
		r.Local = a.nvlink(src, dst, a.system.NVLink.Steps.Of(p))
		r.Credit = a.system.NVLink.Credit
		return r
	}
	r.Remote = true
	railA, railB := f.rails(src, dst, channel)
	// The buffer lies in the memory of the rail's owner, so that the NIC reads
	// it through their common PCIe switch (NCCL's PXN).
	if owner := a.owner(railA); owner != src {
		r.Local = a.nvlink(src, owner, a.system.NVLink.Steps.Of(collective.LL))
		r.SendProxy = owner
	}
	way := f.between(a, b, railA, railB, flow(src, dst, channel))
	r.Wire = f.wire(a, b, r.SendProxy, dst, railA, railB, way)
	r.Post = a.system.Proxy.Post
	r.Receive = b.system.Proxy.Receive.Of(p)
	if p == collective.Simple {
		r.RecvPost = b.system.Proxy.Post
	}
	r.Credit = b.system.Proxy.Post
	for _, l := range way.Latency { // back by ways as long
		r.Credit += l
	}
	return r
}

// nvlink returns the path through the NVSwitch: out of one GPU, into another.
func (n *node) nvlink(src, dst int, step shaping.Duration) Path {
	return Path{
		Ports:   []PortID{n.gpuPort(src, nvOut), n.gpuPort(dst, nvIn)},
		Latency: []shaping.Duration{step, 0},
		Inject:  1,
	}
}

// wire returns the path from a GPU's memory through its node's NIC, the
// fabric and the other NIC into the other GPU's memory.
func (f *Fabric) wire(a, b *node, src, dst, railA, railB int, way network.Path) Path {
	p := Path{
		Ports:   []PortID{a.gpuPort(src, gpuOut), a.nicPort(railA, nicIn), a.nicPort(railA, wireOut)},
		Latency: append([]shaping.Duration{0, 0}, way.Latency...),
		Inject:  3,
	}
	for _, port := range way.Ports {
		p.Ports = append(p.Ports, f.netBase+PortID(port))
	}
	p.Ports = append(p.Ports, b.nicPort(railB, wireIn), b.nicPort(railB, nicOut), b.gpuPort(dst, gpuIn))
	p.Latency = append(p.Latency, 0, 0, 0)
	return p
}

// owner returns the GPU at whose PCIe switch a rail's NIC sits.
func (n *node) owner(rail int) int { return n.firstGPU + rail*n.gpus/n.nics }

func (n *node) gpuPort(gpu, which int) PortID {
	return n.firstPort + PortID((gpu-n.firstGPU)*gpuPorts+which)
}

func (n *node) nicPort(nic, which int) PortID {
	return n.firstPort + PortID(n.gpus*gpuPorts+nic*nicPorts+which)
}

// Reaction returns a lower bound on the stamp of anything the receiving node
// may send because a message of the given wire bytes arrives at instant s: it
// has to be consumed before a slot is freed or the data goes on.
func (r *Route) Reaction(s shaping.Time, wire shaping.Bytes, p collective.Protocol) shaping.Time {
	data := wire * shaping.Bytes(catalog.Efficiency(p)) / 1000
	return s.Add(r.RecvPost + r.Receive + r.SM.Time(catalog.EngineBytes(p, data)) + r.Answer)
}

// CreditReaction is Reaction for a credit: the freed slot may at once be
// filled and posted.
func (r *Route) CreditReaction(s shaping.Time) shaping.Time {
	return s.Add(r.Refill)
}
