package catalog

import (
	"fmt"

	"github.com/railyard/railyard/emu/machine"
	"github.com/railyard/railyard/shaping"
)

// nvLink is one link of NVLink 4, one direction.
const nvLink = 25 * shaping.GBps // [hw]

// Machine returns the inside of the server as a graph: two sockets, a PCIe switch
// for each NIC, the GPUs dealt out to them, and NVSwitches as one plane.
func (s *System) Machine() machine.Machine {
	m := machine.Machine{Name: s.Name, Planes: []machine.Plane{{BusID: "0003:00:00.0"}}}
	slot := machine.Slot{Gen: 5, Lanes: 16} // 63 GB/s [hw]
	for i := range 2 {
		m.Sockets = append(m.Sockets, machine.Socket{Arch: "x86_64", Vendor: "GenuineIntel"})
		m.NUMA = append(m.NUMA, machine.NUMA{Socket: i, Nodes: fmt.Sprint(i)})
	}
	m.SocketLinks = []machine.SocketLink{{A: 0, B: 1}}
	pci := func(kind, i int, at machine.Place) machine.PCI {
		return machine.PCI{BusID: fmt.Sprintf("%04x:%02x:00.0", kind, i), At: at, Slot: slot}
	}
	link, _ := LookupLink(s.Link)
	for i := range s.NICs {
		m.Bridges = append(m.Bridges, machine.Bridge{PCI: pci(0, i, machine.OnNUMA(2*i/s.NICs))})
		m.NICs = append(m.NICs, machine.NIC{PCI: pci(2, i, machine.OnBridge(i)), Name: fmt.Sprintf("mlx5_%d", i), Speed: link.Wire, Port: 1})
	}
	for i := range s.GPUs {
		m.GPUs = append(m.GPUs, machine.GPU{PCI: pci(1, i, machine.OnBridge(i*s.NICs/s.GPUs)), Model: s.Model, Arch: fmt.Sprintf("sm_%d", s.Compute)})
		m.NVLinks = append(m.NVLinks, machine.NVLink{GPU: i, Plane: true, Count: int(s.NVLink.Wire / nvLink), Rate: nvLink})
	}
	return m
}
