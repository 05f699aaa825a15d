package emu

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/railyard/railyard/emu/machine"
	"github.com/railyard/railyard/shaping"
)

// machines reads spec.machines: servers in full, as they were imported. Nodes
// name them with machine: NAME. Parts name each other by kind and position in
// their lists: numa0, bridge3, gpu0, nic1, plane2.
//
//	machines:
//	  - name: box
//	    sockets:
//	      - {arch: x86_64, vendor: GenuineIntel, family: 6, model: 143}
//	    numa:
//	      - {socket: 0, nodes: "0", cpus: "0-47", dram: 200GB/s}
//	    bridges:
//	      - {busid: "0000:08:00.0", at: numa0, slot: gen5x16}
//	    gpus:
//	      - {busid: "0000:0f:00.0", at: bridge0, slot: gen5x16, model: "H100 SXM5 80GB", arch: sm_90}
//	    nics:
//	      - {name: mlx5_0, busid: "0000:0c:00.0", at: bridge0, slot: gen5x16, speed: 50GB/s}
//	    planes: ["0000:1a:00.0"]
//	    nvlinks:
//	      - {from: gpu0, to: plane0, count: 18, rate: 25GB/s}
func (r *reader) machines(path string, n ast.Node, c *Cluster) {
	r.sequence(n, path, func(path string, n ast.Node) {
		var m machine.Machine
		r.machine(path, n, &m)
		c.Machines = append(c.Machines, m)
	})
}

func (r *reader) machine(path string, n ast.Node, m *machine.Machine) {
	r.mapping(n, path, []key{
		{name: "name", required: true, read: r.text(&m.Name)},
		{name: "domain", read: r.text(&m.Domain)},
		{name: "sockets", required: true, read: list(r, &m.Sockets, r.socket)},
		{name: "socketLinks", read: list(r, &m.SocketLinks, r.socketLink)},
		{name: "numa", required: true, read: list(r, &m.NUMA, r.numa)},
		{name: "bridges", read: list(r, &m.Bridges, r.bridge)},
		{name: "planes", read: list(r, &m.Planes, r.plane)},
		{name: "gpus", required: true, read: list(r, &m.GPUs, r.gpu)},
		{name: "nics", read: list(r, &m.NICs, r.nic)},
		{name: "nvlinks", read: list(r, &m.NVLinks, r.nvlink)},
		{name: "told", read: list(r, &m.Told, r.told)},
	})
}

// list returns what reads a list of one kind of part.
func list[T any](r *reader, to *[]T, read func(string, ast.Node, *T)) func(string, ast.Node) {
	return func(path string, n ast.Node) {
		r.sequence(n, path, func(path string, n ast.Node) {
			var v T
			read(path, n, &v)
			*to = append(*to, v)
		})
	}
}

func (r *reader) socket(path string, n ast.Node, s *machine.Socket) {
	r.mapping(n, path, []key{
		{name: "arch", read: r.text(&s.Arch)}, {name: "vendor", read: r.text(&s.Vendor)},
		{name: "family", read: r.from0(&s.Family)}, {name: "model", read: r.from0(&s.Model)},
	})
}

func (r *reader) socketLink(path string, n ast.Node, l *machine.SocketLink) {
	r.mapping(n, path, []key{
		{name: "a", required: true, read: r.from0(&l.A)}, {name: "b", required: true, read: r.from0(&l.B)},
		{name: "rate", read: r.rate(&l.Rate)},
	})
}

func (r *reader) numa(path string, n ast.Node, v *machine.NUMA) {
	r.mapping(n, path, []key{
		{name: "socket", read: r.from0(&v.Socket)}, {name: "nodes", read: r.text(&v.Nodes)},
		{name: "cpus", read: r.text(&v.CPUs)}, {name: "dram", read: r.rate(&v.DRAM)},
	})
}

// pci returns the keys that all PCIe devices have.
func (r *reader) pci(p *machine.PCI, more ...key) []key {
	return append([]key{
		{name: "busid", read: r.text(&p.BusID)},
		{name: "at", required: true, read: parsed(r, &p.At, machine.ParsePlace)},
		{name: "slot", read: parsed(r, &p.Slot, machine.ParseSlot)},
		{name: "class", read: parsed(r, &p.Class, parseClass)},
		{name: "id", read: r.text(&p.ID)},
	}, more...)
}

func (r *reader) bridge(path string, n ast.Node, b *machine.Bridge) {
	r.mapping(n, path, r.pci(&b.PCI, key{name: "host", read: r.truth(func(yes bool) { b.Host = yes })}))
}

func (r *reader) plane(path string, n ast.Node, p *machine.Plane) { r.text(&p.BusID)(path, n) }

func (r *reader) gpu(path string, n ast.Node, g *machine.GPU) {
	r.mapping(n, path, r.pci(&g.PCI,
		key{name: "model", read: r.text(&g.Model)}, key{name: "arch", read: r.text(&g.Arch)},
		key{name: "units", read: r.from0(&g.Units)}, key{name: "gdr", read: r.support(&g.GDR)},
		key{name: "numa", read: r.text(&g.NUMA)},
		key{name: "c2c", read: func(path string, n ast.Node) {
			r.mapping(n, path, []key{{name: "count", required: true, read: r.from0(&g.C2C.Count)}, {name: "rate", read: r.rate(&g.C2C.Rate)}})
		}}))
}

func (r *reader) nic(path string, n ast.Node, v *machine.NIC) {
	r.mapping(n, path, r.pci(&v.PCI,
		key{name: "name", read: r.text(&v.Name)}, key{name: "speed", read: r.rate(&v.Speed)},
		key{name: "port", read: r.from0(&v.Port)}, key{name: "guid", read: parsed(r, &v.GUID, parseGUID)},
		key{name: "gdr", read: r.support(&v.GDR)}, key{name: "reduces", read: r.support(&v.Reduces)},
		key{name: "latency", read: r.duration(&v.Latency)}, key{name: "maxConn", read: r.from0(&v.MaxConn)}))
}

func (r *reader) nvlink(path string, n ast.Node, l *machine.NVLink) {
	r.mapping(n, path, []key{
		{name: "from", required: true, read: parsed(r, &l.GPU, parseGPU)},
		{name: "to", required: true, read: parsed(r, l, func(text string) (machine.NVLink, error) { return parseEnd(*l, text) })},
		{name: "count", required: true, read: r.from0(&l.Count)},
		{name: "rate", read: r.rate(&l.Rate)},
	})
}

func (r *reader) told(path string, n ast.Node, t *machine.Told) {
	r.mapping(n, path, []key{
		{name: "a", required: true, read: parsed(r, &t.A, machine.ParseDevice)},
		{name: "b", required: true, read: parsed(r, &t.B, machine.ParseDevice)},
		{name: "is", required: true, read: parsed(r, &t.Is, machine.ParseNearness)},
	})
}

// parsed returns what reads a text by a function.
func parsed[T any](r *reader, to *T, parse func(string) (T, error)) func(string, ast.Node) {
	return func(path string, n ast.Node) {
		var text string
		if r.text(&text)(path, n); r.bad[path] {
			return
		}
		v, err := parse(text)
		if err != nil {
			r.add(n, path, err.Error())
			return
		}
		*to = v
	}
}

func (r *reader) rate(to *shaping.Rate) func(string, ast.Node) {
	return parsed(r, to, shaping.ParseRate)
}

func (r *reader) duration(to *shaping.Duration) func(string, ast.Node) {
	return parsed(r, to, shaping.ParseDuration)
}

// from0 reads a whole number, 0 allowed; Validate knows how large it may be.
func (r *reader) from0(to *int) func(string, ast.Node) {
	return func(path string, n ast.Node) {
		v, err := strconv.ParseInt(digits(n), 10, 32)
		if err != nil || v < 0 {
			r.add(n, path, fmt.Sprintf("%s must be a whole number from 0 to 2147483647", shown(n)))
			return
		}
		*to = int(v)
	}
}

func (r *reader) truth(set func(bool)) func(string, ast.Node) {
	return func(path string, n ast.Node) {
		b, ok := n.(*ast.BoolNode)
		if !ok {
			r.add(n, path, fmt.Sprintf("%s must be true or false", shown(n)))
			return
		}
		set(b.Value)
	}
}

func (r *reader) support(to *machine.Support) func(string, ast.Node) {
	return r.truth(func(yes bool) {
		if *to = machine.No; yes {
			*to = machine.Yes
		}
	})
}

func parseClass(text string) (uint32, error) {
	v, err := strconv.ParseUint(strings.TrimPrefix(text, "0x"), 16, 24)
	if err != nil {
		return 0, fmt.Errorf("class %q must be up to six hexadecimal digits in quotes: \"0x030200\"", text)
	}
	return uint32(v), nil
}

func parseGUID(text string) (uint64, error) {
	v, err := strconv.ParseUint(strings.TrimPrefix(text, "0x"), 16, 64)
	if err != nil {
		return 0, fmt.Errorf("guid %q must be up to 16 hexadecimal digits in quotes: \"0x9a70500003ae6d94\"", text)
	}
	return v, nil
}

func parseGPU(text string) (int, error) {
	d, err := machine.ParseDevice(text)
	if err == nil && d.NIC {
		err = fmt.Errorf("%q is no GPU; allowed are gpu0, gpu1, …", text)
	}
	return d.Index, err
}

// parseEnd fills in where a link leads.
func parseEnd(l machine.NVLink, text string) (machine.NVLink, error) {
	digits, plane := strings.CutPrefix(text, "plane")
	if !plane {
		gpu, err := parseGPU(text)
		l.To = gpu
		return l, err
	}
	to, err := strconv.Atoi(digits)
	if err != nil || strconv.Itoa(to) != digits {
		return l, fmt.Errorf("%q leads nowhere; allowed are gpu1, gpu2, … and plane0, plane1, …", text)
	}
	l.To, l.Plane = to, true
	return l, nil
}
