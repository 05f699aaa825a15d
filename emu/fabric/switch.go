package fabric

import (
	"fmt"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/shaping"
)

// End is one end of a connection: a unit of a GPU, or of the switch that a
// block of its rank is in.
//
//	GPU ─ SM ═ NVLink out ═(NVSwitch)═ NVLink in ═ SM ─ GPU    reduced or multicast, in a node or a domain
//	GPU ─ SM ═ buffer ─ proxy ─ slot ─ slot ─ NIC out ─(tree)  one leaf, or leaf and spine
//	(tree)─ NIC in ─ slot ─ slot ─ proxy ─ SM ─ GPU            no proxy, no egress of its own
type End struct {
	GPU  int
	Unit collective.Unit
}

// Engines of a node's NVSwitch, in the order of their numbers.
const (
	reduce = iota
	multicast
	nvEngines
)

// maxTrees is how many switch trees may have their root with a node, one a
// rail; it spaces their numbers.
const maxTrees = 64

// switchBase is the first number of the switches' engines: those of the NVSwitch
// of each node, then those of the trees that have their root with it.
func (f *Fabric) switchBase() PortID { return f.smBase + PortID(f.GPUs()*maxSMs) }

// Engine returns the number and the rate, in bytes of data a second, of the
// engine that carries out a block.
func (f *Fabric) Engine(e End, channel int) (PortID, shaping.Rate) {
	i := f.NodeOf(e.GPU)
	n := &f.nodes[i]
	switch e.Unit {
	case collective.NVSwitch:
		return f.switchBase() + PortID(i*nvEngines+reduce), n.system.NVLink.NVLS.Rate
	case collective.Multicast:
		return f.switchBase() + PortID(i*nvEngines+multicast), n.system.NVLink.NVLS.Rate
	case collective.SHARP:
		return f.switchBase() + PortID(len(f.nodes)*nvEngines+i*maxTrees+channel%n.nics), f.link.SHARP
	default:
		return f.SM(e.GPU, channel), n.system.SM.Rate
	}
}

// switchName returns the name of an engine, counted from switchBase.
func (f *Fabric) switchName(i PortID) string {
	nv := len(f.nodes) * nvEngines
	if int(i) < nv {
		return fmt.Sprintf("node%d/nvswitch/%s", int(i)/nvEngines, []string{"reduce", "multicast"}[int(i)%nvEngines])
	}
	tree := int(i) - nv
	return fmt.Sprintf("fabric/rail%d/sharp%d", tree%maxTrees, tree/maxTrees)
}

// SwitchRate returns the rate of the fabric's switch trees, zero when its
// switches do not reduce.
func (f *Fabric) SwitchRate() shaping.Rate { return f.link.SHARP }

// TreesMeet returns the leaf at which streaming trees of two communicators would
// meet, where a switch carries only one at once; empty: they don't. Trees that
// meet above leaves are not looked for: which spine a tree takes nobody says.
func (f *Fabric) TreesMeet(a, b []int) string {
	if f.link.SHARP == 0 || f.link.Trees != 1 || f.net == nil {
		return ""
	}
	taken := map[int]bool{}
	for _, leaf := range f.leavesOf(a) {
		taken[leaf] = true
	}
	for _, leaf := range f.leavesOf(b) {
		if taken[leaf] {
			return f.net.Switches[leaf].Name
		}
	}
	return ""
}

// leavesOf returns the switches that the NICs of a communicator's nodes hang on.
func (f *Fabric) leavesOf(comm []int) (leaves []int) {
	last := -1
	for _, gpu := range comm {
		at := f.NodeOf(gpu)
		n := &f.nodes[at]
		for rail := 0; rail < n.nics && at != last; rail++ {
			leaves = append(leaves, f.net.Leaf(n.firstNIC+rail))
		}
		last = at
	}
	return leaves
}

// Joined reports why two ends are not joined: a switch of another node, or one
// that does not compute. Between SMs there is always a way.
func (f *Fabric) Joined(from, to End) error {
	e, peer := to, from
	if e.Unit == collective.SM {
		e, peer = from, to
	}
	n := f.NodeOf(e.GPU)
	switch e.Unit {
	case collective.NVSwitch, collective.Multicast:
		if !f.Close(peer.GPU, e.GPU) {
			return fmt.Errorf("GPU %d of node %d is not behind the NVSwitch of node %d", peer.GPU, f.NodeOf(peer.GPU), n)
		}
		if !f.nodes[n].computes() {
			return fmt.Errorf("the NVSwitch of node %d, %s, does not compute", n, f.nodes[n].system.Name)
		}
	case collective.SHARP:
		if f.link.SHARP == 0 {
			return fmt.Errorf("the switches of a %s fabric of %s do not reduce (SHARP)", f.Cluster.Fabric.Kind, f.link.Name)
		}
	}
	return nil
}

// Depth returns how many switches lie between a NIC and the root of the tree
// that joins the nodes of a communicator: the leaf, where all stand on the
// same one, else leaf and spine, or leaf, spine and core.
func (f *Fabric) Depth(comm []int) int {
	first, depth, last := &f.nodes[f.NodeOf(comm[0])], 1, -1
	for _, gpu := range comm {
		at := f.NodeOf(gpu)
		n := &f.nodes[at]
		if n == first || at == last {
			continue
		}
		last = at
		for rail := range max(first.nics, n.nics) {
			// Up to the middle of the way from one to the other.
			p := f.between(first, n, rail%first.nics, rail%n.nics, 0)
			depth = max(depth, (p.Switches+1)/2)
		}
	}
	return depth
}

// Between returns the way from one end to another for a channel. Depth is that
// of the tree, where one end is in the fabric's switches.
func (f *Fabric) Between(from, to End, channel, depth int, p collective.Protocol) Route {
	switch {
	case to.Unit == collective.SHARP:
		return f.toTree(from.GPU, to.GPU, channel, depth)
	case from.Unit == collective.SHARP:
		return f.fromTree(to.GPU, channel, depth, p)
	case to.Unit != collective.SM || from.Unit != collective.SM:
		return f.nvls(from, to)
	default:
		return f.Route(from.GPU, to.GPU, channel, p)
	}
}

// nvls returns the way to or from an NVSwitch, half of one through it. A block of
// a domain's switch may be hosted with another node than the GPU's, and then what
// comes and goes are frames between nodes, as over NVLink; ports and latencies are
// the same.
func (f *Fabric) nvls(from, to End) Route {
	gpu, rate := from.GPU, shaping.Rate(0)
	if to.Unit == collective.SM {
		gpu, rate = to.GPU, f.nodes[f.gpuNode[to.GPU]].system.SM.Rate
	} else {
		_, rate = f.Engine(to, 0)
	}
	n := &f.nodes[f.gpuNode[gpu]]
	link := &n.system.NVLink
	half := link.NVLS.Step / 2
	p := Path{Ports: []PortID{n.gpuPort(gpu, nvOut)}, Latency: []shaping.Duration{half}, Inject: 1,
		Usable: link.NVLS.Usable, Copy: link.NVLS.SM, Pause: link.NVLS.Fence}
	if to.Unit == collective.SM {
		p = Path{Ports: []PortID{n.gpuPort(gpu, nvIn)}, Latency: []shaping.Duration{0}, Lead: half, Usable: link.NVLS.Usable, Fetch: link.NVLS.SM}
	}
	r := Route{SM: rate, Credit: link.Credit, Answer: f.answer, Refill: f.answer}
	if f.NodeOf(from.GPU) == f.NodeOf(to.GPU) {
		r.Local = p
		return r
	}
	p.InSwitch, p.Node = to.Unit != collective.SM, f.NodeOf(to.GPU)
	r.Remote, r.FromSwitch, r.SendProxy, r.RecvProxy, r.Wire = true, true, from.GPU, to.GPU, p
	return r
}

// toTree returns the way from a GPU into the switch tree whose block is hosted
// with another's node. It is that of any send up to the NIC's egress.
func (f *Fabric) toTree(src, root, channel, depth int) Route {
	n := &f.nodes[f.gpuNode[src]]
	way := n.leave(src-n.firstGPU, channel)
	r := Route{Remote: true, SendProxy: n.firstGPU + way.proxy, RecvProxy: root, SM: f.link.SHARP, Post: n.system.Proxy.Post,
		Credit: f.climb(depth), Answer: f.climb(1), Refill: f.answer, Local: n.local(way, collective.LL)}
	r.Wire = n.path(append(way.toNIC, n.nicAt(way.rail, wireOut)), 0)
	r.Wire.Inject = len(r.Wire.Ports)
	r.Wire.Latency[r.Wire.Inject-1] = f.climb(depth)
	r.Wire.InSwitch, r.Wire.Node = true, f.NodeOf(root)
	r.Wire.Lossy = r.Wire.Inject
	return r
}

// fromTree returns the way from the switch tree into a GPU's memory.
func (f *Fabric) fromTree(dst, channel, depth int, p collective.Protocol) Route {
	n := &f.nodes[f.gpuNode[dst]]
	rail := f.arrive(n, dst, channel, channel%n.nics) // that of the tree
	r := Route{Remote: true, FromSwitch: true, SendProxy: dst, RecvProxy: dst, SM: n.system.SM.Rate,
		Receive: n.system.Proxy.Receive.Of(p), Credit: n.system.Proxy.Post + f.climb(depth), Answer: f.answer, Refill: f.climb(1)}
	if p == collective.Simple {
		r.RecvPost = n.system.Proxy.Post
	}
	r.Wire = n.enter(rail, dst-n.firstGPU)
	r.Wire.Inject, r.Wire.Lead, r.Wire.Lossy = 0, f.climb(depth), 1
	return r
}

// climb returns the latency from a NIC to a switch that many hops up, or back.
func (f *Fabric) climb(hops int) shaping.Duration {
	return f.link.NIC + shaping.Duration(hops)*f.link.Switch
}

// Hasten lowers a route's bounds to those of a batch in which some blocks are in
// the fabric's switches: what a GPU sends may then end at the first of them.
func (f *Fabric) Hasten(r *Route) {
	first := f.post() + f.climb(1)
	r.Answer, r.Refill = min(r.Answer, first), min(r.Refill, first)
}
