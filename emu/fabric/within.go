package fabric

import (
	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu/machine"
	"github.com/railyard/railyard/shaping"
)

// joined reports whether NVSwitches join all GPUs in use.
func (in *inside) joined() bool {
	for g := range in.gpus {
		if in.toPlanes(g) == 0 || g > 0 && in.m.Links(0, g) == 0 {
			return false
		}
	}
	return in.gpus > 0
}

// throughSwitch reports whether two GPUs meet in an NVSwitch.
func (in *inside) throughSwitch(a, b int) bool {
	if in.switched {
		return true
	}
	_, direct := in.bundle[[2]int{a, b}]
	return !direct && in.nvlinks[a] > 0 && in.nvlinks[b] > 0 && in.m.Links(a, b) > 0
}

// nvlinked reports whether two GPUs have NVLink between them, without a third.
func (in *inside) nvlinked(a, b int) bool {
	_, direct := in.bundle[[2]int{a, b}]
	return direct || in.throughSwitch(a, b)
}

// through returns the GPU that joins two others best, as NCCL goes through one
// on a cube mesh, or -1.
func (in *inside) through(a, b int) int {
	best, most := -1, shaping.Rate(0)
	for k := range in.gpus {
		p, ok := in.bundle[[2]int{a, k}]
		q, ok2 := in.bundle[[2]int{k, b}]
		if !ok || !ok2 {
			continue
		}
		if r := min(in.ports[p].Rate, in.ports[q].Rate); r > most {
			best, most = k, r
		}
	}
	return best
}

// between returns the way from one GPU of the node to another, and how long the
// news of a freed slot takes: over NVLink if there is any way, else over PCIe
// from GPU to GPU, else through host memory.
func (n *node) between(a, b int, p collective.Protocol) (Path, shaping.Duration) {
	nv, pcie := &n.system.NVLink, &n.system.PCIe
	step := nv.Steps.Of(p)
	if n.throughSwitch(a, b) {
		way := n.path([]PortID{n.gpuAt(a, nvOut), n.gpuAt(b, nvIn)}, step)
		way.Usable, way.Fence = nv.SMUsable, nv.FenceOf(p)
		return way, nv.Credit
	}
	if port, ok := n.bundle[[2]int{a, b}]; ok {
		way := n.path([]PortID{port}, step)
		way.Fence = nv.FenceOf(p)
		return way, nv.Credit
	}
	if k := n.through(a, b); k >= 0 {
		way := n.path([]PortID{n.bundle[[2]int{a, k}], n.bundle[[2]int{k, b}]}, nv.Steps.Of(collective.LL))
		way.Latency[1], way.Fence = step, nv.FenceOf(p)
		return way, 2 * nv.Credit
	}
	from, to := n.placeOf(a), n.placeOf(b)
	if n.m.OverPCIe(machine.Device{Index: a}, machine.Device{Index: b}) <= n.system.Board.P2P {
		ports := append([]PortID{n.gpuAt(a, gpuOut)}, n.crossing(from, to)...)
		return n.path(append(ports, n.gpuAt(b, gpuIn)), pcie.Steps.Of(p)), pcie.Credit
	}
	numa := n.m.NUMAOf(from)
	ports := append([]PortID{n.gpuAt(a, gpuOut)}, n.toMemory(from, numa)...)
	ports = append(append(ports, n.fromMemory(numa, to)...), n.gpuAt(b, gpuIn))
	way := n.path(ports, pcie.Steps.Of(p))
	way.Copy, way.Fetch = n.system.SM.Host, n.system.SM.Host
	return way, pcie.Credit
}

// path makes a path of ports that are numbered within the node. The first is
// the egress, and the latency stands behind it.
func (n *node) path(ports []PortID, latency shaping.Duration) Path {
	p := Path{Ports: make([]PortID, len(ports)), Latency: make([]shaping.Duration, len(ports)), Inject: 1}
	for i, id := range ports {
		p.Ports[i] = n.firstPort + id
	}
	p.Latency[0] = latency
	return p
}

func (in *inside) gpuAt(gpu, which int) PortID { return in.gpuBase[gpu] + PortID(which) }

func (in *inside) nicAt(nic, which int) PortID {
	if which < wireOut {
		return in.cards[nic] + PortID(which)
	}
	return in.nicBase[nic] + PortID(which)
}

func (n *node) gpuPort(gpu, which int) PortID { return n.firstPort + n.gpuAt(gpu-n.firstGPU, which) }
func (n *node) nicPort(nic, which int) PortID { return n.firstPort + n.nicAt(nic, which) }

// placeOf returns where a GPU meets the rest: behind its PCIe slot, or, with a
// coherent link, at its CPU.
func (in *inside) placeOf(gpu int) machine.Place {
	g := &in.m.GPUs[gpu]
	if g.C2C.Count > 0 {
		return machine.OnNUMA(in.m.NUMAOf(g.At))
	}
	return g.At
}

// above returns the bridges from a place up that have ports, the lowest first.
func (in *inside) above(p machine.Place) []int {
	var all []int
	for ; p.Bridge; p = in.m.Bridges[p.Index].At {
		if !in.m.Bridges[p.Index].Host {
			all = append(all, p.Index)
		}
	}
	return all
}

// crossing returns the ports between two slots: up to where the ways meet, from
// socket to socket, and down.
func (in *inside) crossing(a, b machine.Place) []PortID {
	if in.flat {
		return nil
	}
	up, down := in.above(a), in.above(b)
	for len(up) > 0 && len(down) > 0 && up[len(up)-1] == down[len(down)-1] {
		up, down = up[:len(up)-1], down[:len(down)-1]
	}
	ports := in.climb(up)
	ports = append(ports, in.overSockets(in.m.NUMAOf(a), in.m.NUMAOf(b))...)
	return append(ports, in.descend(down)...)
}

// climb returns the ports from the lowest of some bridges up.
func (in *inside) climb(bridges []int) []PortID {
	var ports []PortID
	for _, i := range bridges {
		ports = append(ports, in.bridges[i])
	}
	return ports
}

// descend returns the ports down to the lowest.
func (in *inside) descend(bridges []int) []PortID {
	var ports []PortID
	for i := len(bridges) - 1; i >= 0; i-- {
		ports = append(ports, in.bridges[bridges[i]]+1)
	}
	return ports
}

func (in *inside) overSockets(a, b int) []PortID {
	from, to := in.m.NUMA[a].Socket, in.m.NUMA[b].Socket
	if from == to {
		return nil
	}
	return []PortID{in.sockets[[2]int{from, to}]}
}

// toMemory returns the ports from behind a slot into a NUMA node's memory,
// fromMemory those back.
func (in *inside) toMemory(from machine.Place, numa int) []PortID {
	ports := append(in.climb(in.above(from)), in.overSockets(in.m.NUMAOf(from), numa)...)
	return append(ports, in.memory[numa])
}

func (in *inside) fromMemory(numa int, to machine.Place) []PortID {
	ports := append([]PortID{in.memory[numa] + 1}, in.overSockets(numa, in.m.NUMAOf(to))...)
	return append(ports, in.descend(in.above(to))...)
}
