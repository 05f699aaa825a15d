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
	const slots = 3 // of a GPU's way before and after the fabric
	p := f.wire(a, b, a.firstGPU, b.firstGPU, nicA, nicB)
	last := len(p.Ports) - slots
	return p.Ports[slots:last], p.Latency[slots-1 : last]
}

// DevicePath returns the way from a GPU's memory to a NIC of its node, or back.
func (f *Fabric) DevicePath(gpu, nic int, back bool) Path {
	n := &f.nodes[f.gpuNode[gpu]]
	p := Path{Ports: []PortID{n.gpuPort(gpu, gpuOut), n.nicPort(nic, nicIn)}, Inject: 1}
	if back {
		p.Ports = []PortID{n.nicPort(nic, nicOut), n.gpuPort(gpu, gpuIn)}
	}
	p.Latency = make([]shaping.Duration, len(p.Ports)) // hops inside a server cost nothing here
	return p
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
func (f *Fabric) PeerPath(src, dst int) Path { return f.Route(src, dst, 0, collective.LL).Local }

// Near returns the GPU that a NIC of a node is nearest to, as a GPU of the
// cluster.
func (f *Fabric) Near(node, nic int) int { return f.nodes[node].owner(nic) }
