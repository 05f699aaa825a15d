package fabric

import (
	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/shaping"
)

// NICPath returns the way from one NIC's host memory to another's, as a verbs
// program uses it: slot, egress, the fabric, ingress, slot. The nodes differ; the
// rails may.
func (f *Fabric) NICPath(nodeA, nicA, nodeB, nicB int) Path {
	a, b := &f.nodes[nodeA], &f.nodes[nodeB]
	ports, latency := f.across(a, b, nicA, nicB)
	p := Path{Ports: []PortID{a.nicPort(nicA, nicIn), a.nicPort(nicA, wireOut)}, Latency: []shaping.Duration{0}, Inject: 2}
	p.Ports = append(append(p.Ports, ports...), b.nicPort(nicB, wireIn), b.nicPort(nicB, nicOut))
	p.Latency = append(append(p.Latency, latency...), 0, 0)
	return p
}

// across returns the shared ports between one NIC's egress and another's ingress,
// and one latency more than there are ports.
func (f *Fabric) across(a, b *node, nicA, nicB int) ([]PortID, []shaping.Duration) {
	way := f.between(a, b, nicA, nicB, flow(a.firstGPU, b.firstGPU, 0))
	var ports []PortID
	for _, port := range way.Ports {
		ports = append(ports, f.netBase+PortID(port))
	}
	return ports, way.Latency
}

// DevicePath returns the way from a GPU's memory to a NIC of its node, or back.
func (f *Fabric) DevicePath(gpu, nic int, back bool) Path {
	n := &f.nodes[f.gpuNode[gpu]]
	own, slot := n.placeOf(gpu-n.firstGPU), n.m.NICs[n.rails[nic]].At
	g := gpu - n.firstGPU
	if back {
		return n.path(append(append([]PortID{n.nicAt(nic, nicOut)}, n.crossing(slot, own)...), n.gpuAt(g, gpuIn)), 0)
	}
	return n.path(append(append([]PortID{n.gpuAt(g, gpuOut)}, n.crossing(own, slot)...), n.nicAt(nic, nicIn)), 0)
}

// HostPath returns the way of a copy between a GPU and the memory of its host.
func (f *Fabric) HostPath(gpu int, toHost bool) Path {
	n := &f.nodes[f.gpuNode[gpu]]
	p := Path{Ports: []PortID{n.gpuPort(gpu, gpuIn)}, Inject: 1}
	if toHost {
		p.Ports[0] = n.gpuPort(gpu, gpuOut)
	}
	p.Latency = make([]shaping.Duration, len(p.Ports)) // hops inside a server cost nothing here
	return p
}

// PeerPath returns the way of a copy between two GPUs of a node.
func (f *Fabric) PeerPath(src, dst int) Path {
	r := f.Route(src, dst, 0, collective.LL)
	if r.Remote { // over ICI that others share
		return r.Wire
	}
	return r.Local
}

// Near returns the GPU that a NIC of a node is nearest to, as a GPU of the
// cluster.
func (f *Fabric) Near(node, nic int) int { return f.nodes[node].firstGPU + f.nodes[node].owners[nic] }
