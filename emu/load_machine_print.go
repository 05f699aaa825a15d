package emu

import (
	"fmt"
	"strings"

	"github.com/railyard/railyard/emu/machine"
	"github.com/railyard/railyard/shaping"
)

// flow collects the entries of a mapping on one line. Zero values are left out.
type flow []string

func (f *flow) add(key, value string) { *f = append(*f, key+": "+value) }

func (f *flow) text(key, v string) {
	if v != "" {
		f.add(key, scalar(v))
	}
}

func (f *flow) number(key string, v int) {
	if v != 0 {
		f.add(key, fmt.Sprint(v))
	}
}

func (f *flow) rate(key string, v shaping.Rate) {
	if v != 0 {
		f.add(key, v.String())
	}
}

func (f *flow) support(key string, v machine.Support) {
	if v != machine.Unsaid {
		f.add(key, fmt.Sprint(v == machine.Yes))
	}
}

func (f *flow) hex(key, format string, v uint64) {
	if v != 0 {
		f.add(key, fmt.Sprintf(`"`+format+`"`, v))
	}
}

func (f *flow) pci(p *machine.PCI) {
	f.text("busid", p.BusID)
	f.add("at", p.At.String())
	f.text("slot", p.Slot.String())
	f.hex("class", "0x%06x", uint64(p.Class))
	f.text("id", p.ID)
}

// section prints a list, an entry a line; nothing for an empty one.
func section[T any](b *strings.Builder, name string, all []T, entry func(*flow, *T)) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(b, "      %s:\n", name)
	for i := range all {
		var f flow
		entry(&f, &all[i])
		fmt.Fprintf(b, "        - {%s}\n", strings.Join(f, ", "))
	}
}

// printMachine prints an entry of spec.machines.
func printMachine(b *strings.Builder, m *machine.Machine) {
	fmt.Fprintf(b, "    - name: %s\n", scalar(m.Name))
	if m.Domain != "" {
		fmt.Fprintf(b, "      domain: %s\n", scalar(m.Domain))
	}
	section(b, "sockets", m.Sockets, func(f *flow, s *machine.Socket) {
		f.text("arch", s.Arch)
		f.text("vendor", s.Vendor)
		f.number("family", s.Family)
		f.number("model", s.Model)
	})
	section(b, "socketLinks", m.SocketLinks, func(f *flow, l *machine.SocketLink) {
		f.add("a", fmt.Sprint(l.A))
		f.add("b", fmt.Sprint(l.B))
		f.rate("rate", l.Rate)
	})
	section(b, "numa", m.NUMA, func(f *flow, n *machine.NUMA) {
		f.number("socket", n.Socket)
		f.text("nodes", n.Nodes)
		f.text("cpus", n.CPUs)
		f.rate("dram", n.DRAM)
	})
	section(b, "bridges", m.Bridges, func(f *flow, v *machine.Bridge) {
		f.pci(&v.PCI)
		if v.Host {
			f.add("host", "true")
		}
	})
	if len(m.Planes) > 0 {
		var ids []string
		for _, p := range m.Planes {
			ids = append(ids, scalar(p.BusID))
		}
		fmt.Fprintf(b, "      planes: [%s]\n", strings.Join(ids, ", "))
	}
	section(b, "gpus", m.GPUs, printGPU)
	section(b, "nics", m.NICs, printNIC)
	section(b, "nvlinks", m.NVLinks, func(f *flow, l *machine.NVLink) {
		to := "gpu"
		if l.Plane {
			to = "plane"
		}
		f.add("from", fmt.Sprintf("gpu%d", l.GPU))
		f.add("to", fmt.Sprintf("%s%d", to, l.To))
		f.add("count", fmt.Sprint(l.Count))
		f.rate("rate", l.Rate)
	})
	section(b, "told", m.Told, func(f *flow, t *machine.Told) {
		f.add("a", strings.ToLower(t.A.String()))
		f.add("b", strings.ToLower(t.B.String()))
		f.add("is", t.Is.String())
	})
}

func printGPU(f *flow, g *machine.GPU) {
	f.pci(&g.PCI)
	f.text("model", g.Model)
	f.text("arch", g.Arch)
	f.number("units", g.Units)
	f.support("gdr", g.GDR)
	f.text("numa", g.NUMA)
	if g.C2C.Count > 0 {
		var c flow
		c.number("count", g.C2C.Count)
		c.rate("rate", g.C2C.Rate)
		f.add("c2c", "{"+strings.Join(c, ", ")+"}")
	}
}

func printNIC(f *flow, n *machine.NIC) {
	f.text("name", n.Name)
	f.pci(&n.PCI)
	f.rate("speed", n.Speed)
	f.number("port", n.Port)
	f.hex("guid", "%#x", n.GUID)
	f.support("gdr", n.GDR)
	f.support("reduces", n.Reduces)
	if n.Latency != 0 {
		f.add("latency", n.Latency.String())
	}
	f.number("maxConn", n.MaxConn)
}
