package smi

import (
	"cmp"
	"fmt"

	"github.com/railyard/railyard/emu/machine"
)

// Read reads what nvidia-smi topo -m printed, or rocm-smi --showtopo or amd-smi
// topology: a machine for each table in the text, called name, or name-0, name-1
// and so on. An error says why there is no table, or where it contradicts itself;
// it is ErrNoTable where nothing looks like one.
func Read(name string, data []byte) (*machine.Import, error) {
	tables, err := scan(data)
	if err != nil {
		report, other := readROCm(data)
		switch {
		case other != nil:
			return nil, other
		case report == nil:
			return nil, err
		}
		tables = []*raw{report}
	}
	in := &machine.Import{}
	for i, r := range tables {
		called := name
		if len(tables) > 1 {
			called = fmt.Sprintf("%s-%d", name, i)
		}
		t, err := place(r)
		if err != nil {
			return nil, err
		}
		m := t.build(called)
		t.tell(m)
		if err := m.Validate(); err != nil {
			return nil, err
		}
		t.remarks(m)
		for _, n := range t.notes {
			in.Say(n.Kind, n.About, "%s", n.Text)
		}
		in.Machines = append(in.Machines, *m)
	}
	if len(tables) > 1 {
		in.Say(machine.Assumed, "", "%d tables; each is taken as a machine", len(tables))
	}
	return in, nil
}

// builder makes up the bridges of a machine.
type builder struct {
	*table
	m  *machine.Machine
	at [len(levels)]groups
	to []machine.Place // of each device
}

func (t *table) build(name string) *machine.Machine {
	b := builder{t, &machine.Machine{Name: name}, t.group(), make([]machine.Place, len(t.labels))}
	b.numa()
	b.devices()
	b.links()
	return b.m
}

// parts returns the groups of a level that some devices fall into.
func (b *builder) parts(level int, of []int) [][]int {
	at := map[int]int{}
	var parts [][]int
	for _, i := range of {
		h := b.at[level].of(i)
		k, ok := at[h]
		if !ok {
			k = len(parts)
			at[h], parts = k, append(parts, nil)
		}
		parts[k] = append(parts[k], i)
	}
	return parts
}

// numa makes a NUMA node of each group that is not SYS apart, with a socket for
// each number that the table has.
func (b *builder) numa() {
	all := make([]int, len(b.labels))
	for i := range all {
		all[i] = i
	}
	sockets := map[string]int{}
	for n, part := range b.parts(3, all) {
		var node machine.NUMA
		for _, i := range part {
			if i < b.gpus && b.of[i] != (affinity{}) {
				node.Nodes, node.CPUs = b.of[i].nodes, b.of[i].cpus
				break
			}
		}
		socket, ok := sockets[node.Nodes]
		if !ok || node.Nodes == "" {
			socket = len(b.m.Sockets)
			sockets[node.Nodes] = socket
			b.m.Sockets = append(b.m.Sockets, machine.Socket{})
		}
		node.Socket = socket
		b.m.NUMA = append(b.m.NUMA, node)
		b.hosts(part, machine.OnNUMA(n))
	}
}

// hosts puts devices behind a host bridge for each group that shares one; a
// single group needs none.
func (b *builder) hosts(part []int, at machine.Place) {
	hosts := b.parts(2, part)
	for _, host := range hosts {
		under := at
		if len(hosts) > 1 {
			under = b.bridge(at, true)
		}
		for _, top := range b.parts(1, host) {
			b.switches(top, under)
		}
	}
}

// switches puts devices that share a top switch behind it: one bridge for those
// that share no more, else one for each group that does, and one above.
func (b *builder) switches(top []int, at machine.Place) {
	leaves := b.parts(0, top)
	if len(leaves) > 1 {
		at = b.bridge(at, false)
	}
	for _, leaf := range leaves {
		under := at
		if len(leaf) > 1 || len(leaves) > 1 {
			under = b.bridge(at, false)
		}
		for _, i := range leaf {
			b.to[i] = under
		}
	}
}

// What GPUs in a report of rocm-smi are taken for.
const (
	amdClass = 0x120000 // a processing accelerator, as AMD's are since MI300
	amdArch  = "gfx942"
)

// Domains of made-up bus ids; those of bridges are as Azure makes up its own.
const (
	gpuDomain    = 0x0000
	nicDomain    = 0x0001
	planeDomain  = 0xfffd
	hostDomain   = 0xfffe
	switchDomain = 0xffff
)

// busID returns the made-up bus id of the i-th device of a domain.
func busID(domain, i int) string {
	const perBus = 32 // devices on a PCI bus
	i++
	return fmt.Sprintf("%04x:%02x:%02x.0", domain, i/perBus, i%perBus)
}

func (b *builder) bridge(at machine.Place, host bool) machine.Place {
	i, domain := len(b.m.Bridges), switchDomain
	if host {
		domain = hostDomain
	}
	b.m.Bridges = append(b.m.Bridges, machine.Bridge{PCI: machine.PCI{BusID: busID(domain, i), At: at}, Host: host})
	return machine.OnBridge(i)
}

func (b *builder) devices() {
	for i, label := range b.labels {
		if i < b.gpus {
			g := machine.GPU{PCI: machine.PCI{BusID: busID(gpuDomain, i), At: b.to[i]}, NUMA: b.of[i].own}
			if b.report {
				g.Class, g.Arch, g.BusID = amdClass, amdArch, cmp.Or(b.names[label], g.BusID)
			}
			b.m.GPUs = append(b.m.GPUs, g)
			continue
		}
		n := machine.NIC{PCI: machine.PCI{BusID: busID(nicDomain, i-b.gpus), At: b.to[i]}, Name: b.names[label]}
		if _, plain := numbered(label, "NIC"); !plain {
			n.Name = label
		}
		b.m.NICs = append(b.m.NICs, n)
	}
}
