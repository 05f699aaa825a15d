package fabric

import (
	"github.com/railyard/railyard/emu/machine"
	"github.com/railyard/railyard/emu/network"
	"github.com/railyard/railyard/shaping"
)

// Hit is a port that works less, or not at all, when a part does not: some of the
// parallel links that it stands for are gone.
type Hit struct {
	Port PortID
	// Into: the port leads to the part, not away from it. A message that goes by the
	// part crosses one such port. Of cables and NICs all do.
	Into bool
	// First and Lost are which of the port's links, Of how many there are.
	First, Lost, Of int
}

// NICHits returns the ports of a NIC to the fabric.
func (f *Fabric) NICHits(node, nic int) []Hit {
	n, links := &f.nodes[node], 1
	if f.net != nil {
		links = f.net.NICLinks()
	}
	return []Hit{{Port: n.nicPort(nic, wireOut), Into: true, Lost: links, Of: links}, {Port: n.nicPort(nic, wireIn), Into: true, Lost: links, Of: links}}
}

// SwitchHits returns the ports that lead to and from a switch of a plane, by its
// position in Network().Switches. Pools of links up are among them only in a
// fabric with Options.Pools.
func (f *Fabric) SwitchHits(plane, sw int) []Hit { return f.hits(f.net.CutSwitch(plane, sw)) }

// TrunkHits returns the ports that so many cables of a trunk are part of, by its
// position in Network().Trunks().
func (f *Fabric) TrunkHits(plane, trunk, cables int) []Hit {
	return f.hits(f.net.CutTrunk(plane, f.net.Trunks()[trunk], cables))
}

func (f *Fabric) hits(cuts []network.Cut) []Hit {
	var all []Hit
	for _, c := range cuts {
		h := Hit{f.netBase + PortID(c.Port), c.Into, c.First, c.Lost, c.Of}
		if c.Port == network.Own {
			at := f.net.Hosts[c.Host]
			which := wireIn
			if c.Into {
				which = wireOut
			}
			h.Port = f.nodes[at.Node].nicPort(at.NIC, which)
		}
		all = append(all, h)
	}
	return all
}

// NVLinks is a bundle of a GPU's NVLinks.
type NVLinks struct {
	Count int
	Plane int // the NVSwitch that they lead to; -1: to another GPU
	Peer  int // that GPU, of the cluster; -1: to an NVSwitch
	// Hits are the ports that they are part of, both directions.
	Hits []Hit
}

// NVLinks returns the NVLinks of a GPU, none where it has none. Those to NVSwitches
// share a port for each direction.
func (f *Fabric) NVLinks(gpu int) []NVLinks {
	n := &f.nodes[f.gpuNode[gpu]]
	own := gpu - n.firstGPU
	var all []NVLinks
	planes := 0
	for _, l := range n.m.NVLinks {
		if l.Plane && l.GPU == own {
			planes += l.Count
		}
	}
	first := 0
	for _, l := range n.m.NVLinks {
		switch {
		case l.Plane && l.GPU == own:
			h := Hit{Port: n.gpuAt(own, nvOut) + n.firstPort, Into: true, First: first, Lost: l.Count, Of: planes}
			in := h
			in.Port = n.gpuAt(own, nvIn) + n.firstPort
			all = append(all, NVLinks{l.Count, l.To, -1, []Hit{h, in}})
			first += l.Count
		case !l.Plane && (l.GPU == own || l.To == own) && l.GPU < n.gpus && l.To < n.gpus:
			peer := l.GPU + l.To - own
			h := Hit{Port: n.bundle[[2]int{own, peer}] + n.firstPort, Into: true, Lost: l.Count, Of: l.Count}
			back := h
			back.Port = n.bundle[[2]int{peer, own}] + n.firstPort
			all = append(all, NVLinks{l.Count, -1, n.firstGPU + peer, []Hit{h, back}})
		}
	}
	return all
}

// NVSwitches returns how many NVSwitches join the GPUs of a node.
func (f *Fabric) NVSwitches(node int) int { return len(f.nodes[node].m.Planes) }

// Domain returns the nodes that NVLink joins to one with a node: itself alone,
// mostly.
func (f *Fabric) Domain(node int) []int {
	var all []int
	for i := range f.nodes {
		if f.together(i) == f.together(node) {
			all = append(all, i)
		}
	}
	return all
}

// Slot is the PCIe slot of a GPU or NIC.
type Slot struct {
	Gen, Lanes int
	Out, In    PortID // from the device, and to it
}

// GPUSlot returns a GPU's slot; false when a coherent link joins it to its CPU.
func (f *Fabric) GPUSlot(gpu int) (Slot, bool) {
	n := &f.nodes[f.gpuNode[gpu]]
	g := &n.m.GPUs[gpu-n.firstGPU]
	return n.slot(g.Slot, n.gpuPort(gpu, gpuOut), n.gpuPort(gpu, gpuIn)), g.C2C.Count == 0
}

// NICSlot returns the slot of a NIC, which it shares with others on its card.
func (f *Fabric) NICSlot(node, nic int) Slot {
	n := &f.nodes[node]
	return n.slot(n.m.NICs[n.rails[nic]].Slot, n.nicPort(nic, nicOut), n.nicPort(nic, nicIn))
}

func (n *node) slot(s machine.Slot, out, in PortID) Slot {
	if s.Rate() == 0 {
		s = machine.Slot{Gen: n.system.PCIe.Gen, Lanes: 16}
	}
	return Slot{s.Gen, s.Lanes, out, in}
}

// PCIeRate returns what a PCIe link of a generation and width carries, before what
// protocols take; 0 when there is no such link.
func PCIeRate(gen, lanes int) shaping.Rate { return machine.Slot{Gen: gen, Lanes: lanes}.Rate() }

// Group returns the group of the cluster file that a node is of.
func (f *Fabric) Group(node int) int { return f.nodes[node].group }

// Pools reports whether switches and cables can be struck: see Options.
func (f *Fabric) Pools() bool { return f.options.Pools }

// Shares reports whether a port is of the network between NICs.
func (f *Fabric) Shares(id PortID) bool {
	return f.net != nil && id >= f.netBase && int(id-f.netBase) < len(f.net.Ports)
}
