package catalog

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/railyard/railyard/emu/machine"
	"github.com/railyard/railyard/shaping"
)

// Board is how the parts of a server hang together. Machine makes a graph of it.
type Board struct {
	Sockets int
	// Switches are PCIe switches, spread over the sockets; GPUs and NICs hang on
	// them in turn. None: all hang on the sockets' own roots.
	Switches int
	// Roots: each switch hangs on a host bridge of its own.
	Roots   bool
	Gen     int          // PCIe generation of the GPUs, where it is not the slots'
	Memory  shaping.Rate // DRAM of one socket, reads and writes together
	Between shaping.Rate // what GPUs and NICs get through the link between two sockets, one direction
	// P2P is the farthest that GPUs may be apart and still read each other's
	// memory over PCIe; Self: the driver forbids it.
	P2P machine.Nearness
	// Planes are NVSwitch chips; each GPU has its links spread over all.
	Planes int
	// Mesh lists links from GPU to GPU: "0-1 0-3x2".
	Mesh string
	// C2C is the coherent link of a GPU to its CPU, which then takes the place of
	// the PCIe slot.
	C2C shaping.Rate
	// Domain is how many such servers an NVLink domain joins; 0: each stands alone.
	Domain int
	// ICI is what joins the chips of TPUs, across hosts as within them; the links
	// of a chip are those of NVLink. The zero value is a server without.
	ICI ICI
}

// ICI is Google's inter-chip interconnect: each chip has a link to either
// neighbour in three dimensions, 2×2×1 chips are a host, 4×4×4 a cube, and optical
// circuit switches join cubes (emu.Slice).
type ICI struct {
	Chips int              // of a pod: those that circuits can join
	Slice int              // the most that one slice may have of them
	Hop   shaping.Duration // from a chip through a link and the router behind it
}

// Machine returns the inside of the server as a graph.
func (s *System) Machine() machine.Machine {
	b := &s.Board
	m := machine.Machine{Name: s.Name}
	for i := range b.Sockets {
		m.Sockets = append(m.Sockets, sockets[s.CPU])
		m.NUMA = append(m.NUMA, machine.NUMA{Socket: i, Nodes: fmt.Sprint(i), DRAM: b.Memory})
		for a := range i {
			m.SocketLinks = append(m.SocketLinks, machine.SocketLink{A: a, B: i, Rate: b.Between})
		}
	}
	slot := machine.Slot{Gen: s.PCIe.Gen, Lanes: 16}
	for i := range b.Switches {
		at := machine.OnNUMA(i * b.Sockets / b.Switches)
		if b.Roots {
			m.Bridges = append(m.Bridges, machine.Bridge{PCI: machine.PCI{BusID: busID(i, 4), At: at}, Host: true})
			at = machine.OnBridge(len(m.Bridges) - 1)
		}
		m.Bridges = append(m.Bridges, machine.Bridge{PCI: machine.PCI{BusID: busID(i, 0), At: at, Slot: slot}})
	}
	for g := range s.GPUs {
		own := machine.Slot{Gen: cmp.Or(b.Gen, slot.Gen), Lanes: slot.Lanes}
		gpu := machine.GPU{PCI: machine.PCI{BusID: busID(g, 1), At: b.place(g, s.GPUs), Slot: own},
			Model: s.Model, Arch: cmp.Or(s.Arch, fmt.Sprintf("sm_%d", s.Compute))}
		if b.C2C > 0 {
			gpu.C2C = machine.C2C{Count: 1, Rate: b.C2C}
		}
		m.GPUs = append(m.GPUs, gpu)
	}
	link, name := s.wire()
	for i := range s.NICs {
		m.NICs = append(m.NICs, machine.NIC{PCI: machine.PCI{BusID: busID(i, 2), At: b.place(i, s.NICs), Slot: slot},
			Name: fmt.Sprintf(name, i), Speed: link.Wire, Port: 1})
	}
	s.links(&m)
	return m
}

// wire returns what the NICs speak, and the form of their names.
func (s *System) wire() (Link, string) {
	link, _ := LookupLink(s.Link)
	if s.Board.ICI.Chips > 0 {
		return link, "eth%d" // not Mellanox's
	}
	return link, "mlx5_%d"
}

var sockets = [...]machine.Socket{
	Intel: {Arch: "x86_64", Vendor: "GenuineIntel"},
	AMD:   {Arch: "x86_64", Vendor: "AuthenticAMD"},
	Arm:   {Arch: "arm64"},
}

// busID returns the address of the i-th device of a kind: one PCIe domain each.
func busID(i, kind int) string { return fmt.Sprintf("%04x:%02x:00.0", i/256+kind*16, i%256) }

// place returns where the i-th of n like devices hangs.
func (b *Board) place(i, n int) machine.Place {
	switch at := i * b.Switches / n; {
	case b.Switches > 0 && b.Roots:
		return machine.OnBridge(2*at + 1)
	case b.Switches > 0:
		return machine.OnBridge(at)
	}
	return machine.OnNUMA(i * b.Sockets / n)
}

// links adds NVSwitch planes, or a mesh.
func (s *System) links(m *machine.Machine) {
	b, n := &s.Board, s.NVLink.Links
	if n == 0 {
		return
	}
	one := s.NVLink.Wire / shaping.Rate(n)
	for p := range b.Planes {
		m.Planes = append(m.Planes, machine.Plane{BusID: busID(p, 3)})
	}
	for g := range s.GPUs {
		for p := range b.Planes {
			if count := n*(p+1)/b.Planes - n*p/b.Planes; count > 0 {
				m.NVLinks = append(m.NVLinks, machine.NVLink{GPU: g, Plane: true, To: p, Count: count, Rate: one})
			}
		}
	}
	for _, word := range strings.Fields(b.Mesh) {
		l := machine.NVLink{Count: 1, Rate: one}
		if _, err := fmt.Sscanf(word, "%d-%dx%d", &l.GPU, &l.To, &l.Count); err != nil {
			l.Count = 1
		}
		m.NVLinks = append(m.NVLinks, l)
	}
}
