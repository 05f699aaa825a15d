package fabric

import (
	"slices"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/shaping"
)

// domainOf returns the number of the NVLink domain that a node about to be added
// shares with others: the trays of a rack in turn, the hosts of a slice of TPUs, or
// machines that name the same one. Its number is that of the first node in it.
func (f *Fabric) domainOf(n *node) int {
	next := len(f.nodes)
	if n.given && n.m.Domain != "" {
		i := slices.IndexFunc(f.nodes, func(o node) bool { return o.given && o.m.Domain == n.m.Domain })
		if i < 0 {
			return next
		}
		return i
	}
	if trays := n.system.Board.Domain; !n.given && trays > 0 {
		return next - n.place%trays
	}
	if n.sliced {
		return next - n.place
	}
	return -1
}

// together returns what stands for all nodes that NVLink joins to one.
func (f *Fabric) together(node int) int {
	if d := f.nodes[node].domain; d >= 0 {
		return d
	}
	return node
}

// Neighbours returns how many nodes NVLink joins to one, itself included.
func (f *Fabric) Neighbours(node int) int {
	n := 0
	for i := range f.nodes {
		if f.together(i) == f.together(node) {
			n++
		}
	}
	return n
}

// inDomain reports whether two GPUs of different nodes are of one NVLink domain.
func (f *Fabric) inDomain(a, b int) bool {
	m, n := &f.nodes[f.gpuNode[a]], &f.nodes[f.gpuNode[b]]
	return m != n && m.domain >= 0 && m.domain == n.domain && m.nvlinks[a-m.firstGPU] > 0 && n.nvlinks[b-n.firstGPU] > 0
}

// Close reports whether two GPUs are of one node, or NVLink domain: whatever the
// channel, there is one way between them.
func (f *Fabric) Close(a, b int) bool { return f.gpuNode[a] == f.gpuNode[b] || f.inDomain(a, b) }

// throughDomain returns the way from a GPU to one of another node of the same
// NVLink domain: no NIC, no proxy, the switch's latency.
func (f *Fabric) throughDomain(a, b *node, src, dst int, p collective.Protocol) Route {
	v := &a.system.NVLink
	return Route{Remote: true, FromSwitch: true, SendProxy: src, RecvProxy: dst,
		Wire: Path{Ports: []PortID{a.gpuPort(src, nvOut), b.gpuPort(dst, nvIn)},
			Latency: []shaping.Duration{v.Steps.Of(p), 0}, Inject: 1, Usable: v.SMUsable, Fence: v.FenceOf(p)},
		Credit: v.Credit, SM: b.system.SM.Rate, Answer: f.answer, Refill: f.answer}
}
