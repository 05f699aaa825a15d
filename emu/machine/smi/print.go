package smi

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/railyard/railyard/emu/machine"
)

// Matrix returns what nvidia-smi topo -m prints on a machine, tabs included,
// without the underline that terminals get.
func Matrix(m *machine.Machine) string {
	var b strings.Builder
	all, cells := m.Devices(), Cells(m)
	for _, d := range all {
		fmt.Fprintf(&b, "\t%v", d)
	}
	b.WriteString("\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n")
	for i, d := range all {
		b.WriteString(d.String())
		for _, cell := range cells[i] {
			b.WriteString("\t" + cell)
		}
		if d.NIC {
			b.WriteString("\t\t\t\t\n")
			continue
		}
		g := m.GPUs[d.Index]
		n := m.NUMA[m.NUMAOf(g.At)]
		fmt.Fprintf(&b, "\t%s\t%s\t\t%s\n", n.CPUs, cmp.Or(n.Nodes, "N/A"), cmp.Or(g.NUMA, "N/A"))
	}
	b.WriteString(legendText)
	if len(m.NICs) > 0 {
		b.WriteString("\nNIC Legend:\n\n")
		for i, n := range m.NICs {
			fmt.Fprintf(&b, "  NIC%d: %s\n", i, cmp.Or(n.Name, "unknown"))
		}
	}
	return b.String()
}

// Cells returns what the matrix says of each device and each other, in the order
// of the machine's devices.
func Cells(m *machine.Machine) [][]string {
	all, links, told := m.Devices(), m.LinkMatrix(), map[[2]machine.Device]machine.Nearness{}
	for _, t := range m.Told {
		told[[2]machine.Device{t.A, t.B}], told[[2]machine.Device{t.B, t.A}] = t.Is, t.Is
	}
	cells := make([][]string, len(all))
	for i, d := range all {
		for _, e := range all {
			cell := between(m, links, d, e)
			if is, ok := told[[2]machine.Device{d, e}]; ok && (d.NIC || e.NIC || links[d.Index][e.Index] == 0) {
				cell = is.String()
			}
			cells[i] = append(cells[i], cell)
		}
	}
	return cells
}

// between is the distance in the graph, with the links counted before.
func between(m *machine.Machine, links [][]int, a, b machine.Device) string {
	switch {
	case a == b:
		return " X "
	case !a.NIC && !b.NIC && links[a.Index][b.Index] > 0:
		return machine.Distance{Nearness: machine.NV, Links: links[a.Index][b.Index]}.String()
	default:
		return m.OverPCIe(a, b).String()
	}
}

const legendText = `
Legend:

  X    = Self
  SYS  = over PCIe and the link between NUMA nodes (QPI, UPI, Infinity Fabric)
  NODE = over PCIe and between host bridges of one NUMA node
  PHB  = over PCIe and a host bridge, usually the CPU
  PXB  = over several PCIe bridges, but no host bridge
  PIX  = over at most one PCIe bridge
  NV#  = over # bonded NVLinks
`
