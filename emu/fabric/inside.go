package fabric

import (
	"fmt"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/catalog"
	"github.com/railyard/railyard/emu/machine"
	"github.com/railyard/railyard/shaping"
)

// inside is what lies within the servers of a group: ports, numbered from the
// first of a node, and which device has which.
type inside struct {
	system     *catalog.System
	m          machine.Machine
	given      bool // the machine was given in full, not by the catalog
	pxn        bool // GPUs forward to the owners of rails
	keep       bool // no message leaves the rail of its channel
	direct     bool // NICs may read and write the memory of GPUs
	gpus, nics int  // in use: the first GPUs, and NICs near them
	switched   bool // an NVSwitch joins all GPUs in use
	sliced     bool // ICI joins the GPUs to those of other nodes
	// flat: what lies between slots is left out, as nothing meets there. PXN
	// keeps what is sent off it, and each NIC has a GPU of its own.
	flat   bool
	rails  []int // rail → NIC of the machine
	owners []int // rail → GPU

	ports   []inPort
	gpuBase []PortID // of the ports gpuOut and on; nvOut stands two before, where there is one
	nvlinks []shaping.Rate
	nicBase []PortID          // of the ports wireOut and on, less wireOut
	cards   []PortID          // rail → nicIn of the card that its NIC is a port of
	bundle  map[[2]int]PortID // from GPU, to GPU
	bridges []PortID          // up; down follows
	sockets map[[2]int]PortID // from, to
	memory  []PortID          // NUMA node → writes; reads follow
}

type inPort struct {
	Port
	wire bool // its rate is the fabric's, but no more than its own, when that is known
}

// Ports of a GPU, in the order of their numbers.
const (
	nvOut = iota - 2
	nvIn
	gpuOut
	gpuIn
)

// Ports of a NIC, in the order of their numbers.
const (
	nicIn   = iota // PCIe slot, towards the NIC
	nicOut         // PCIe slot, from the NIC
	wireOut        // egress
	wireIn         // ingress
)

// insideOf returns the inside of a group's servers, ports left out.
func (f *Fabric) insideOf(g emu.Group) (*inside, error) {
	l, _ := catalog.LookupLink(f.Cluster.Fabric.Link) // a system's own link is never staged; resolveFabric reports unknown ones
	in := &inside{direct: !g.NoGDR && !l.Staged, pxn: f.Cluster.Fabric.PXN != emu.PXNOff, keep: f.Cluster.Fabric.CrossNIC == emu.CrossNever}
	if g.Machine == "" {
		sys, err := catalog.LookupSystem(g.System)
		in.system, in.m = &sys, sys.Machine()
		in.sliced = sys.Board.ICI.Chips > 0 && g.Count > 1
		return in, err
	}
	m, ok := f.Cluster.Machine(g.Machine)
	if !ok {
		return nil, fmt.Errorf("machine %q: unknown; spec.machines must list it", g.Machine)
	}
	sys := catalog.Like(m)
	in.system, in.m, in.given = &sys, *m, true
	return in, nil
}

// use settles how many GPUs and NICs are in use (0: all, NICs no more than
// GPUs) and makes the ports.
func (in *inside) use(gpus, nics int) {
	if in.gpus = gpus; gpus == 0 {
		in.gpus = len(in.m.GPUs)
	}
	if in.nics = nics; nics == 0 {
		in.nics = min(len(in.m.NICs), in.gpus)
	}
	in.chooseNICs()
	in.addGPUs()
	in.addNICs()
	in.addBundles()
	if !in.flat {
		in.addBetween()
	}
}

// chooseNICs gives each rail a NIC near its GPU, and each such NIC an owner:
// rails go round the GPUs evenly, a GPU's nearest NIC first.
func (in *inside) chooseNICs() {
	in.switched = in.joined()
	near := true
	used := make([]bool, len(in.m.NICs))
	for r := range in.nics {
		g, best := r*in.gpus/in.nics, -1
		for i := range in.m.NICs {
			if !used[i] && (best < 0 || in.distance(g, i) < in.distance(g, best)) {
				best = i
			}
		}
		used[best] = true
		in.rails = append(in.rails, best)
		in.owners = append(in.owners, g)
		near = near && in.reads(g, best)
	}
	in.flat = in.switched && in.direct && in.pxn && (near || !in.given)
	for r := 0; !in.flat && r < in.nics; r++ {
		in.owners[r] = in.nearest(r)
	}
}

// nearest returns the GPU nearest to a rail's NIC, and of several as near the
// one that has the rail by turns.
func (in *inside) nearest(rail int) int {
	best := in.owners[rail]
	for g := range in.gpus {
		if in.distance(g, in.rails[rail]) < in.distance(best, in.rails[rail]) {
			best = g
		}
	}
	return best
}

func (in *inside) distance(gpu, nic int) machine.Nearness {
	return in.m.Distance(machine.Device{Index: gpu}, machine.Device{NIC: true, Index: nic}).Nearness
}

// reads reports whether a NIC may read and write a GPU's memory: both behind
// the same PCIe switches, as NCCL_NET_GDR_LEVEL has it by default, or the GPU at
// its CPU by a coherent link.
func (in *inside) reads(gpu, nic int) bool {
	g, n := &in.m.GPUs[gpu], &in.m.NICs[nic]
	if !in.direct || g.GDR == machine.No || n.GDR == machine.No {
		return false
	}
	return g.C2C.Count > 0 || in.distance(gpu, nic) <= machine.PXB
}

func (in *inside) addPort(name string, r shaping.Rate) PortID {
	in.ports = append(in.ports, inPort{Port: Port{Name: name, Rate: max(r, 1)}})
	return PortID(len(in.ports) - 1)
}

func (in *inside) addGPUs() {
	for g := range in.gpus {
		at := fmt.Sprintf("gpu%d/", g)
		in.nvlinks = append(in.nvlinks, in.toPlanes(g))
		if r := in.nvlinks[g]; r > 0 {
			in.addPort(at+"nvlink-out", r)
			in.addPort(at+"nvlink-in", r)
		}
		if v := &in.system.NVLink; in.sliced {
			in.addPort(at+"ici-out", v.Wire.Permille(v.Usable))
			in.addPort(at+"ici-in", v.Wire.Permille(v.Usable))
		}
		link, rate := "pcie", in.slotRate(in.m.GPUs[g].Slot)
		if c := in.m.GPUs[g].C2C; c.Count > 0 {
			link, rate = "c2c", in.c2cRate(c)
		}
		in.gpuBase = append(in.gpuBase, in.addPort(at+link+"-out", rate))
		in.addPort(at+link+"-in", rate)
	}
}

// addNICs adds the ports of NICs. Ports of one card share its slot.
func (in *inside) addNICs() {
	cards := map[string]PortID{}
	for r, i := range in.rails {
		nic, at := &in.m.NICs[i], fmt.Sprintf("nic%d/", r)
		card, shared := cards[nic.BusID]
		if !shared || nic.BusID == "" {
			card = in.addPort(at+"pcie-in", in.slotRate(nic.Slot))
			in.addPort(at+"pcie-out", in.slotRate(nic.Slot))
			cards[nic.BusID] = card
		}
		in.cards, in.nicBase = append(in.cards, card), append(in.nicBase, PortID(len(in.ports)-wireOut))
		in.addWire(at+"out", nic)
		in.addWire(at+"in", nic)
	}
}

// addWire adds a port to the network. Its rate is the fabric's, or that of a
// slower NIC of a machine given in full.
func (in *inside) addWire(name string, nic *machine.NIC) {
	p := inPort{Port: Port{Name: name}, wire: true}
	if in.given {
		p.Rate = nic.Speed
	}
	in.ports = append(in.ports, p)
}

// addBundles adds a port for each direction of the links from GPU to GPU, but
// those that others send through as well.
func (in *inside) addBundles() {
	in.bundle = map[[2]int]PortID{}
	if in.sliced {
		return
	}
	link := "nvlink"
	if !in.given && in.system.Board.ICI.Chips > 0 {
		link = "ici"
	}
	for _, l := range in.m.NVLinks {
		if l.Plane || l.To >= in.gpus || l.GPU >= in.gpus {
			continue
		}
		rate := in.nvRate(l)
		in.bundle[[2]int{l.GPU, l.To}] = in.addPort(fmt.Sprintf("gpu%d/%s-gpu%d", l.GPU, link, l.To), rate)
		in.bundle[[2]int{l.To, l.GPU}] = in.addPort(fmt.Sprintf("gpu%d/%s-gpu%d", l.To, link, l.GPU), rate)
	}
}

// addBetween adds what lies between slots: PCIe switches' uplinks, the links
// between sockets, and host memory.
func (in *inside) addBetween() {
	for i := range in.m.Bridges {
		b := &in.m.Bridges[i]
		in.bridges = append(in.bridges, PortID(len(in.ports)))
		if !b.Host {
			in.addPort(fmt.Sprintf("bridge%d/up", i), in.slotRate(b.Slot))
			in.addPort(fmt.Sprintf("bridge%d/down", i), in.slotRate(b.Slot))
		}
	}
	in.sockets = map[[2]int]PortID{}
	for a := range in.m.Sockets {
		for b := range in.m.Sockets {
			if a != b {
				in.sockets[[2]int{a, b}] = in.addPort(fmt.Sprintf("socket%d/to-socket%d", a, b), in.betweenRate(a, b))
			}
		}
	}
	for i := range in.m.NUMA {
		// What is staged is written once and read once: half of the rate each.
		half := in.memoryRate(i) / 2
		in.memory = append(in.memory, in.addPort(fmt.Sprintf("numa%d/dram-in", i), half))
		in.addPort(fmt.Sprintf("numa%d/dram-out", i), half)
	}
}
