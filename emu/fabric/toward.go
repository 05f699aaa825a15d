package fabric

import (
	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu/machine"
)

// way is how a GPU's messages get to a NIC.
type way struct {
	rail  int
	src   int // the GPU
	proxy int // the GPU whose memory the NIC reads, or whose proxy has it read host memory
	// staged: the NIC reads host memory, where the SM writes.
	staged bool
	toNIC  []PortID // from what the NIC reads to the NIC's slot, within the node
}

// leave returns the way by which a GPU's messages of a channel leave the node:
// by the channel's rail, if its owner is there over NVLink (NCCL's PXN), or the
// NIC is near, or no message may change rails; else by a near one.
func (in *inside) leave(src, channel int) way {
	w := way{rail: in.railFor(src, channel), src: src, proxy: src}
	if owner := in.owners[w.rail]; in.pxn && channel < OwnNICs && in.forwards(src, w.rail) {
		w.proxy = owner
	}
	nic := in.m.NICs[in.rails[w.rail]].At
	if in.flat || in.reads(w.proxy, in.rails[w.rail]) {
		w.toNIC = append([]PortID{in.gpuAt(w.proxy, gpuOut)}, in.crossing(in.placeOf(w.proxy), nic)...)
	} else {
		w.staged = true
		w.toNIC = in.fromMemory(in.m.NUMAOf(in.placeOf(src)), nic)
	}
	w.toNIC = append(w.toNIC, in.nicAt(w.rail, nicIn))
	return w
}

// forwards reports whether a rail's owner may send for a GPU.
func (in *inside) forwards(src, rail int) bool {
	owner := in.owners[rail]
	return in.flat || owner != src && in.reads(owner, in.rails[rail]) && in.nvlinked(src, owner)
}

// arrive returns the rail by which messages of a channel come to a GPU.
func (in *inside) arrive(dst, channel int) int {
	if channel >= OwnNICs {
		return in.nearRail(dst, ChannelOf(channel))
	}
	rail := channel % in.nics
	if in.flat || in.keep || in.distance(dst, in.rails[rail]) <= machine.PXB {
		return rail
	}
	return in.nearRail(dst, channel)
}

func (in *inside) railFor(src, channel int) int {
	if channel >= OwnNICs {
		return in.nearRail(src, ChannelOf(channel))
	}
	rail := channel % in.nics
	if in.flat || in.keep || in.owners[rail] == src || in.pxn && in.nvlinked(src, in.owners[rail]) {
		return rail
	}
	return in.nearRail(src, channel)
}

// nearRail returns the rail of a NIC nearest to a GPU; several as near take turns.
func (in *inside) nearRail(gpu, channel int) int {
	var near []int
	for r, nic := range in.rails {
		d := in.distance(gpu, nic)
		if len(near) > 0 && d < in.distance(gpu, in.rails[near[0]]) {
			near = near[:0]
		}
		if len(near) == 0 || d == in.distance(gpu, in.rails[near[0]]) {
			near = append(near, r)
		}
	}
	return near[channel%len(near)]
}

// local returns the path from a GPU to what the NIC reads, empty where that is
// its own memory.
func (n *node) local(w way, p collective.Protocol) Path {
	switch {
	case w.staged:
		from := n.placeOf(w.src)
		ports := append([]PortID{n.gpuAt(w.src, gpuOut)}, n.toMemory(from, n.m.NUMAOf(from))...)
		path := n.path(ports, n.system.PCIe.Steps.Of(collective.LL))
		path.Copy = n.system.SM.Host
		return path
	case w.proxy != w.src:
		path, _ := n.between(w.src, w.proxy, collective.LL)
		return path
	default:
		return Path{}
	}
}

// enter returns the path from a rail's NIC into a GPU's memory, or, where the
// NIC may not write that, into host memory and from there.
func (n *node) enter(rail, dst int) Path {
	nic, gpu := n.m.NICs[n.rails[rail]].At, n.placeOf(dst)
	ports := []PortID{n.nicAt(rail, wireIn), n.nicAt(rail, nicOut)}
	staged := !n.flat && !n.reads(dst, n.rails[rail])
	if staged {
		numa := n.m.NUMAOf(gpu)
		ports = append(append(ports, n.toMemory(nic, numa)...), n.fromMemory(numa, gpu)...)
	} else {
		ports = append(ports, n.crossing(nic, gpu)...)
	}
	p := n.path(append(ports, n.gpuAt(dst, gpuIn)), 0)
	if staged {
		p.Fetch = n.system.SM.Host
	}
	return p
}
