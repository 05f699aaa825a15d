package topoxml

import (
	"encoding/xml"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/railyard/railyard/emu/machine"
	"github.com/railyard/railyard/shaping"
)

// Write returns the topology file of a machine, which must be valid: version 2
// (RCCL) if it has AMD's GPUs, else 1. Read returns the same machine, in
// canonical order. Host bridges have no element there, as NCCL sees none: it
// takes all that is not under one switch as joined by the CPU.
func Write(of *machine.Machine) []byte {
	m := of.Canonical()
	w := writer{m: &m, amd: slices.ContainsFunc(m.GPUs, func(g machine.GPU) bool { return strings.HasPrefix(g.Arch, "gfx") || isAMD(g.PCI) })}
	w.children()
	w.system()
	return []byte(w.b.String())
}

type writer struct {
	m     *machine.Machine
	b     strings.Builder
	depth int
	amd   bool
	// What hangs at each place: bridges, GPUs, NICs by number.
	bridges, gpus, nics map[machine.Place][]int
}

func (w *writer) children() {
	w.bridges, w.gpus, w.nics = map[machine.Place][]int{}, map[machine.Place][]int{}, map[machine.Place][]int{}
	for i, b := range w.m.Bridges {
		w.bridges[b.At] = append(w.bridges[b.At], i)
	}
	for i, g := range w.m.GPUs {
		w.gpus[g.At] = append(w.gpus[g.At], i)
	}
	for i, n := range w.m.NICs {
		w.nics[n.At] = append(w.nics[n.At], i)
	}
}

// attrs are the attributes of an element: name, value, name, value.
type attrs []string

func (a *attrs) add(name, value string) { *a = append(*a, name, value) }

// some adds an attribute unless its value is the zero value.
func (a *attrs) some(name string, value any) {
	if value != "" && value != 0 && value != shaping.Rate(0) {
		a.add(name, fmt.Sprint(value))
	}
}

func (w *writer) tag(name string, a attrs, end string) {
	w.b.WriteString(strings.Repeat("  ", w.depth) + "<" + name)
	for i := 0; i < len(a); i += 2 {
		w.b.WriteString(" " + a[i] + `="`)
		_ = xml.EscapeText(&w.b, []byte(a[i+1])) // a strings.Builder never fails
		w.b.WriteString(`"`)
	}
	w.b.WriteString(end + "\n")
}

// element writes an element; inside writes what is in it, nil for nothing.
func (w *writer) element(name string, a attrs, inside func()) {
	if inside == nil {
		w.tag(name, a, "/>")
		return
	}
	w.tag(name, a, ">")
	w.depth++
	inside()
	w.depth--
	w.b.WriteString(strings.Repeat("  ", w.depth) + "</" + name + ">\n")
}

func (w *writer) system() {
	m, a := w.m, attrs{"version", "1"}
	if w.amd {
		a[1] = "2"
	}
	a.some(oursName, m.Name)
	a.some(oursDomain, m.Domain)
	a.some(oursPlanes, w.planes())
	var links []string
	for _, l := range m.SocketLinks {
		text := fmt.Sprintf("%d-%d", l.A, l.B)
		if l.Rate != 0 {
			text += ":" + l.Rate.String()
		}
		links = append(links, text)
	}
	a.some(oursSocketLinks, strings.Join(links, " "))
	w.element("system", a, func() {
		for i := range m.NUMA {
			w.cpu(i)
		}
	})
}

// planes returns the bus ids of all planes, empty when the links name them in
// this order.
func (w *writer) planes() string {
	var ids []string
	next := 0
	for _, l := range w.m.NVLinks {
		if l.Plane && l.To == next {
			next++
		} else if l.Plane && l.To > next {
			break
		}
	}
	if next == len(w.m.Planes) {
		return ""
	}
	for _, p := range w.m.Planes {
		ids = append(ids, p.BusID)
	}
	return strings.Join(ids, " ")
}

func (w *writer) cpu(i int) {
	n := &w.m.NUMA[i]
	s := w.m.Sockets[n.Socket]
	id, a := "-1", attrs{}
	if first, ok := machine.FirstOf(n.Nodes); ok {
		id = strconv.Itoa(first)
	}
	a.add("numaid", id)
	if n.Nodes != "" && n.Nodes != id {
		a.add(oursNodes, n.Nodes)
	}
	affinity := ""
	if n.CPUs != "" {
		affinity = machine.Mask(n.CPUs)
	}
	a.add("affinity", affinity)
	a.some("arch", s.Arch)
	a.some("vendor", s.Vendor)
	a.some("familyid", s.Family)
	a.some("modelid", s.Model)
	if slices.ContainsFunc(w.m.NUMA[:i], func(o machine.NUMA) bool { return o.Socket == n.Socket }) {
		a.add(oursSocket, strconv.Itoa(n.Socket))
	}
	a.some(oursDRAM, n.DRAM)
	w.element("cpu", a, func() { w.at(machine.OnNUMA(i), "") })
}

// at writes what hangs at a place. host is the bus id of the host bridge it is,
// which its children tell.
func (w *writer) at(p machine.Place, host string) {
	for _, i := range w.bridges[p] {
		b := &w.m.Bridges[i]
		if b.Host {
			w.at(machine.OnBridge(i), b.BusID)
			continue
		}
		w.element("pci", w.pci(&b.PCI, host), func() { w.at(machine.OnBridge(i), "") })
	}
	for _, i := range w.gpus[p] {
		w.element("pci", w.pci(&w.m.GPUs[i].PCI, host), func() { w.gpu(i) })
	}
	for k, i := range w.nics[p] {
		card := w.m.NICs[i].BusID
		same := func(j int) bool { return w.m.NICs[j].BusID == card }
		if slices.ContainsFunc(w.nics[p][:k], same) {
			continue // written with the first port
		}
		ports := func() {
			for _, j := range w.nics[p] {
				if same(j) {
					w.net(j)
				}
			}
		}
		if card == "" {
			w.element("nic", nil, ports)
			continue
		}
		w.element("pci", w.pci(&w.m.NICs[i].PCI, host), func() { w.element("nic", nil, ports) })
	}
}

func (w *writer) pci(p *machine.PCI, host string) attrs {
	a := attrs{"busid", p.BusID}
	if p.Class != 0 {
		a.add("class", fmt.Sprintf("0x%06x", p.Class))
	}
	names := []string{"vendor", "device", "subsystem_vendor", "subsystem_device"}
	if p.ID != "" {
		for i, word := range strings.Split(p.ID, ":") {
			a.add(names[i], "0x"+word)
		}
	}
	a.add("link_speed", p.Slot.Transfers())
	a.add("link_width", strconv.Itoa(p.Slot.Lanes))
	a.some(oursHost, host)
	return a
}
