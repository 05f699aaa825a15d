package topoxml

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/railyard/railyard/emu/machine"
)

// Read reads a topology file. name is what the machine is called unless the
// file says; a file that several hosts were fused into gives one machine each,
// in one NVLink domain. An error says what the file is instead, or where it is
// broken.
func Read(name string, data []byte) (*machine.Import, error) {
	root, err := parse(data)
	if err != nil {
		return nil, err
	}
	if err := recognise(root); err != nil {
		return nil, err
	}
	in := &machine.Import{}
	if v := root.attr("version"); v != "1" && v != "2" {
		in.Say(machine.Odd, "system", "version %q; NCCL writes 1 and RCCL 2", clip(v))
	}
	if said := root.attr(oursName); said != "" {
		name = said
	}
	hosts := fused(root)
	for i, cpus := range hosts {
		h := newHost(in, hostName(name, i, len(hosts)), cpus)
		h.system(root)
		if err := h.read(); err != nil {
			return nil, err
		}
		if len(hosts) > 1 {
			h.m.Domain = name
			in.Say(machine.Assumed, h.m.Name, "one of %d hosts in the file (host_hash %s); their NVLink switches are taken as one domain",
				len(hosts), clip(cpus[0].attr("host_hash")))
		}
		if err := h.m.Validate(); err != nil {
			return nil, firstOf(err)
		}
		h.remarks()
		in.Machines = append(in.Machines, h.m)
	}
	return in, nil
}

// firstOf returns one of many problems: what is wrong in the XML repeats.
func firstOf(err error) error {
	joined, ok := err.(interface{ Unwrap() []error })
	if all := []error(nil); ok {
		if all = joined.Unwrap(); len(all) > 1 {
			return fmt.Errorf("%w (and %d more of this kind)", all[0], len(all)-1)
		}
	}
	return err
}

// hostName tells the hosts of a fused file apart.
func hostName(name string, i, of int) string {
	if of == 1 {
		return name
	}
	return fmt.Sprintf("%s-%d", name, i)
}

// recognise says what a file is if it is no topology.
func recognise(root *element) error {
	switch root.name {
	case "system":
	case "graphs":
		return errors.New("this is a search graph of NCCL (NCCL_GRAPH_FILE, root <graphs>): the channels it chose, not the machine; import the file that NCCL_TOPO_DUMP_FILE wrote")
	case "algo":
		return errors.New("this is an MSCCL plan (root <algo>), not a machine; see plan check")
	default:
		return fmt.Errorf("root element <%s> is unknown; a topology begins with <system version=\"1\">", clip(root.name))
	}
	if len(root.all("cpu")) > 0 {
		return nil
	}
	if len(root.all("group")) > 0 {
		return errors.New("this is a mapping of slots to devices by another tool (<system> of <group> elements), not a topology of NCCL or RCCL; import a file that NCCL_TOPO_DUMP_FILE wrote")
	}
	return errors.New("<system> has no <cpu>; a topology has one for each NUMA node, with the devices in it")
}

// fused returns the cpus of each host, in the file's order.
func fused(root *element) [][]*element {
	var hashes []string
	var hosts [][]*element
	for _, c := range root.all("cpu") {
		hash := c.attr("host_hash")
		i := slices.Index(hashes, hash)
		if i < 0 {
			i = len(hashes)
			hashes, hosts = append(hashes, hash), append(hosts, nil)
		}
		hosts[i] = append(hosts[i], c)
	}
	return hosts
}

// host is a machine being read.
type host struct {
	in   *machine.Import
	m    machine.Machine
	cpus []*element

	gpus []foundGPU
	nics []foundNIC
	// clones counts how often the file gives a bus id.
	clones map[string]int
	hosted map[string]int // bridge number of each host bridge of ours
	planes []string       // bus ids of planes in the order of ours
	// What links name: GPUs and planes by bus id, links to planes by both ends.
	gpusAt   map[string][]int
	planeAt  map[string]int
	toPlanes map[[2]int]int
	// roleless are bus ids of leaves without a class.
	roleless []string
	stray    bool // text was found in elements
	dump     bool // the file has gpu elements
}

func newHost(in *machine.Import, name string, cpus []*element) *host {
	return &host{in: in, m: machine.Machine{Name: name}, cpus: cpus, clones: map[string]int{}, hosted: map[string]int{},
		gpusAt: map[string][]int{}, planeAt: map[string]int{}, toPlanes: map[[2]int]int{}}
}

// say adds a note about a part of this host.
func (h *host) say(k machine.Kind, about, format string, args ...any) {
	h.in.Say(k, h.m.Name+": "+about, format, args...)
}

func (h *host) read() error {
	for i, c := range h.cpus {
		if i >= machine.MaxDevices {
			return fmt.Errorf("line %d: more than %d <cpu> elements", c.line, machine.MaxDevices)
		}
		if err := h.cpu(i, c); err != nil {
			return err
		}
		at := machine.OnNUMA(i)
		for _, e := range c.children {
			switch e.name {
			case "pci":
				if err := h.pci(e, at); err != nil {
					return err
				}
			case "nic":
				h.virtual(e, at)
			default:
				h.ignored(e)
			}
		}
	}
	if err := h.finish(); err != nil {
		return err
	}
	return h.links()
}

// finish puts the devices in order and gives each its number.
func (h *host) finish() error {
	if len(h.gpus) == 0 && len(h.roleless) > 0 {
		return fmt.Errorf("the file cannot stand alone: %d devices have neither a PCI class nor a <gpu> or <net> element (%s …), so nothing tells GPUs from NICs; NCCL merges such a template with the machine it runs on: import a dump made there (NCCL_TOPO_DUMP_FILE)",
			len(h.roleless), h.roleless[0])
	}
	if len(h.gpus) == 0 {
		return errors.New("the file has no GPU: no <gpu> element and no device of PCI class 0x03 or 0x12")
	}
	h.orderGPUs()
	h.orderNICs()
	return nil
}

func (h *host) ignored(e *element) {
	h.say(machine.Odd, fmt.Sprintf("line %d", e.line), "<%s> is unknown here, and ignored", clip(e.name))
}

// cpu reads what a cpu element says of itself.
func (h *host) cpu(i int, e *element) error {
	s := machine.Socket{Arch: e.attr("arch"), Vendor: e.attr("vendor"), Family: h.number(e, "familyid"), Model: h.number(e, "modelid")}
	n := machine.NUMA{Socket: len(h.m.Sockets)}
	if id := e.attr("numaid"); !strings.HasPrefix(id, "-") { // -1: the system has no NUMA nodes
		var err error
		if n.Nodes, err = machine.ParseList(id); err != nil {
			return fmt.Errorf("line %d: numaid: %w", e.line, err)
		}
	}
	var err error
	if n.CPUs, err = machine.ParseMask(e.attr("affinity")); err != nil {
		return fmt.Errorf("line %d: affinity: %w", e.line, err)
	}
	if h.stray = h.stray || e.text; s == (machine.Socket{}) {
		h.say(machine.Missing, fmt.Sprintf("cpu %d", i), "nothing about the CPU (arch, vendor, familyid, modelid), so the rate between sockets is unknown")
	}
	if err := h.oursCPU(e, &n); err != nil {
		return err
	}
	if n.Socket == len(h.m.Sockets) {
		h.m.Sockets = append(h.m.Sockets, s)
	}
	h.m.NUMA = append(h.m.NUMA, n)
	return nil
}
