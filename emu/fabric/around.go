package fabric

import (
	"github.com/railyard/railyard/collective"
)

// Around returns the fabric as it routes once the tables of its switches avoid the
// given ports, which are of the network. Ports keep their numbers, and a route
// that does not cross them stays what it is. Where nothing is left, routes are as
// before.
func (f *Fabric) Around(dead []PortID) *Fabric {
	if f.net == nil || len(dead) == 0 {
		return f
	}
	c := *f
	ports := make([]int, len(dead))
	for i, id := range dead {
		ports[i] = int(id - f.netBase)
	}
	c.net = f.net.Around(ports)
	return &c
}

// OtherRails returns by which NICs a connection goes on when its own do not work,
// as NCCL's port failover has it: over another pair that is there already, so
// that both ends move to the next rail that is alive at both; and where there is
// no such rail, to any two NICs that are alive and joined. False when nothing is
// left.
func (f *Fabric) OtherRails(src, dst, channel int, alive func(node, nic int) bool) (from, to int, ok bool) {
	nodeA, nodeB := f.NodeOf(src), f.NodeOf(dst)
	a, b := &f.nodes[nodeA], &f.nodes[nodeB]
	railA, railB := f.Rails(src, dst, channel)
	usable := func(x, y int) bool {
		if x < 0 || y >= b.nics || x == railA && y == railB || !alive(nodeA, x) || !alive(nodeB, y) {
			return false
		}
		_, ok := f.net.Path(a.firstNIC+x, b.firstNIC+y, flow(src, dst, channel))
		return ok
	}
	for k := range a.nics {
		if x := (railA + k) % a.nics; usable(x, x) {
			return x, x, true
		}
	}
	for k := range a.nics {
		for j := range b.nics {
			if x, y := (railA+k)%a.nics, (railB+j)%b.nics; usable(x, y) {
				return x, y, true
			}
		}
	}
	return 0, 0, false
}

// RouteBy is Route by other NICs than the channel's own. The buffer and the proxies
// stay, which every NIC of a node can reach, near or not; so Local does as well.
func (f *Fabric) RouteBy(src, dst, channel, from, to int, p collective.Protocol) Route {
	r := f.Route(src, dst, channel, p)
	a, b := &f.nodes[f.gpuNode[src]], &f.nodes[f.gpuNode[dst]]
	net := f.between(a, b, from, to, flow(src, dst, channel))
	way := a.leave(src-a.firstGPU, channel)
	r.Wire = f.wire(a, b, a.byOther(way, from), dst, to, net)
	r.Credit = b.system.Proxy.Post
	for _, l := range net.Latency {
		r.Credit += l
	}
	return r
}

// byOther returns the way from what a NIC reads to another NIC.
func (in *inside) byOther(w way, rail int) way {
	nic := in.m.NICs[in.rails[rail]].At
	if w.staged {
		w.toNIC = in.fromMemory(in.m.NUMAOf(in.placeOf(w.src)), nic)
	} else {
		w.toNIC = append([]PortID{in.gpuAt(w.proxy, gpuOut)}, in.crossing(in.placeOf(w.proxy), nic)...)
	}
	w.rail, w.toNIC = rail, append(w.toNIC, in.nicAt(rail, nicIn))
	return w
}
