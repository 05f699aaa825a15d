package machine

import (
	"fmt"
	"strconv"
	"strings"
)

// Nearness is what lies between two devices, the nearest first.
type Nearness uint8

// The words of nvidia-smi.
const (
	Self Nearness = iota // X
	NV                   // NVLink or XGMI
	PIX                  // at most one PCIe bridge
	PXB                  // several PCIe bridges
	PHB                  // a host bridge
	NODE                 // two host bridges of a NUMA node
	SYS                  // two NUMA nodes
)

var nearnesses = [...]string{Self: "X", NV: "NV", PIX: "PIX", PXB: "PXB", PHB: "PHB", NODE: "NODE", SYS: "SYS"}

// String returns the word of nvidia-smi.
func (n Nearness) String() string { return nearnesses[n] }

// ParseNearness reads a word of nvidia-smi but X and NV.
func ParseNearness(text string) (Nearness, error) {
	for n := PIX; n <= SYS; n++ {
		if text == n.String() {
			return n, nil
		}
	}
	return 0, fmt.Errorf("%q is no distance over PCIe; allowed are PIX, PXB, PHB, NODE, SYS", clip(text))
}

// Distance is how near two devices are.
type Distance struct {
	Nearness
	Links int // for NV: how many
}

// String returns a cell of nvidia-smi's table: "NV18", "PIX".
func (d Distance) String() string {
	if d.Nearness == NV {
		return fmt.Sprintf("NV%d", d.Links)
	}
	return d.Nearness.String()
}

// Device is a GPU or a NIC of a machine.
type Device struct {
	NIC   bool
	Index int
}

// String returns "GPU0" or "NIC3".
func (d Device) String() string {
	if d.NIC {
		return fmt.Sprintf("NIC%d", d.Index)
	}
	return fmt.Sprintf("GPU%d", d.Index)
}

// ParseDevice reads what String returns, in either case.
func ParseDevice(text string) (Device, error) {
	kind, digits := "", ""
	if len(text) > 3 {
		kind, digits = strings.ToUpper(text[:3]), text[3:]
	}
	i, err := strconv.Atoi(digits)
	d := Device{NIC: kind == "NIC", Index: i}
	if err != nil || d.String() != kind+digits || i < 0 {
		return Device{}, fmt.Errorf("%q is no device; allowed are gpu0, gpu1, … and nic0, nic1, …", clip(text))
	}
	return d, nil
}

// Before reports whether d comes before e: GPUs do before NICs.
func (d Device) Before(e Device) bool {
	return !d.NIC && e.NIC || d.NIC == e.NIC && d.Index < e.Index
}

// Devices returns the GPUs, then the NICs.
func (m *Machine) Devices() []Device {
	all := make([]Device, 0, len(m.GPUs)+len(m.NICs))
	for i := range m.GPUs {
		all = append(all, Device{Index: i})
	}
	for i := range m.NICs {
		all = append(all, Device{NIC: true, Index: i})
	}
	return all
}

// PCI returns what a device is on PCIe.
func (m *Machine) PCI(d Device) *PCI {
	if d.NIC {
		return &m.NICs[d.Index].PCI
	}
	return &m.GPUs[d.Index].PCI
}

// Distance returns how near two devices are, as nvidia-smi says it: NVLink
// first, whatever else there is, then what was told, then the graph.
func (m *Machine) Distance(a, b Device) Distance {
	if a == b {
		return Distance{Nearness: Self}
	}
	if !a.NIC && !b.NIC {
		if n := m.Links(a.Index, b.Index); n > 0 {
			return Distance{NV, n}
		}
	}
	if b.Before(a) {
		a, b = b, a
	}
	for _, t := range m.Told {
		if t.A == a && t.B == b {
			return Distance{Nearness: t.Is}
		}
	}
	return Distance{Nearness: m.OverPCIe(a, b)}
}

// OverPCIe returns how near two devices are in the graph, NVLink left aside.
func (m *Machine) OverPCIe(a, b Device) Nearness {
	p, q := m.PCI(a), m.PCI(b)
	if sameCard(p.BusID, q.BusID) {
		return PIX
	}
	up, down := m.above(p.At), m.above(q.At)
	shared := 0
	for shared < min(len(up), len(down)) && up[len(up)-1-shared] == down[len(down)-1-shared] {
		shared++
	}
	if shared == 0 {
		return SYS
	}
	last := up[len(up)-shared] // the lowest place that both hang under
	switch {
	case !last.Bridge && (m.hosted(up, shared) || m.hosted(down, shared)):
		return NODE
	case !last.Bridge || m.Bridges[last.Index].Host:
		return PHB
	case len(up)-shared+len(down)-shared > 0:
		return PXB
	default:
		return PIX
	}
}

// above returns a place and all that it hangs on, up to the NUMA node.
func (m *Machine) above(p Place) []Place {
	all := []Place{p}
	for p.Bridge {
		p = m.Bridges[p.Index].At
		all = append(all, p)
	}
	return all
}

// hosted reports whether the way from a NUMA node down begins with a host
// bridge that has a name.
func (m *Machine) hosted(up []Place, shared int) bool {
	if len(up) == shared {
		return false
	}
	p := up[len(up)-shared-1]
	return p.Bridge && m.Bridges[p.Index].Host
}

// sameCard reports whether two bus ids are functions of one device.
func sameCard(a, b string) bool {
	a, _, ok := strings.Cut(a, ".")
	b, _, _ = strings.Cut(b, ".")
	return ok && a == b
}

// Links returns how many NVLinks two GPUs can use between each other: those
// that join them, and the lesser number of those to planes they share.
func (m *Machine) Links(a, b int) int {
	a, b = min(a, b), max(a, b)
	direct := 0
	to := make([][2]int, len(m.Planes))
	for _, l := range m.NVLinks {
		switch {
		case l.Plane && l.GPU == a:
			to[l.To][0] += l.Count
		case l.Plane && l.GPU == b:
			to[l.To][1] += l.Count
		case !l.Plane && l.GPU == a && l.To == b:
			direct += l.Count
		}
	}
	var ofA, ofB int
	for _, n := range to {
		if n[0] > 0 && n[1] > 0 {
			ofA, ofB = ofA+n[0], ofB+n[1]
		}
	}
	return direct + min(ofA, ofB)
}

// LinkMatrix returns what Links returns for all pairs of GPUs.
func (m *Machine) LinkMatrix() [][]int {
	all := make([][]int, len(m.GPUs))
	of := make([]map[int]int, len(m.GPUs)) // links to each plane
	for i := range all {
		all[i], of[i] = make([]int, len(m.GPUs)), map[int]int{}
	}
	for _, l := range m.NVLinks {
		if l.Plane {
			of[l.GPU][l.To] += l.Count
		}
	}
	for a := range all {
		mine, theirs := make([]int, len(all)), make([]int, len(all))
		for _, l := range m.NVLinks {
			if n := of[a][l.To]; l.Plane && n > 0 && l.GPU != a {
				mine[l.GPU], theirs[l.GPU] = mine[l.GPU]+n, theirs[l.GPU]+l.Count
			}
		}
		for b := range all {
			all[a][b] += min(mine[b], theirs[b])
		}
	}
	for _, l := range m.NVLinks {
		if !l.Plane {
			all[l.GPU][l.To] += l.Count
			all[l.To][l.GPU] += l.Count
		}
	}
	return all
}
