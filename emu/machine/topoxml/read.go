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
// in one NVLink domain, and several topologies in one file as many domains. An
// error says what the file is instead, or where it is broken.
func Read(name string, data []byte) (*machine.Import, error) {
	roots, err := parse(data)
	if err != nil {
		return nil, err
	}
	systems, err := recognise(roots)
	if err != nil {
		return nil, err
	}
	in := &machine.Import{}
	if len(systems) > 1 {
		in.Say(machine.Assumed, "", "%d topologies in one file; each is taken as a server that no NVLink joins with others", len(systems))
	}
	taken := map[string]bool{}
	for i, s := range systems {
		called := hostName(name, i, len(systems))
		if said := s.attr(oursName); said != "" && !taken[said] {
			called = said
		}
		taken[called] = true
		if err := readSystem(in, called, s); err != nil {
			return nil, err
		}
	}
	return in, nil
}

// readSystem adds the machines of a topology.
func readSystem(in *machine.Import, name string, root *element) error {
	if v := root.attr("version"); v != "1" && v != "2" {
		in.Say(machine.Odd, "system", "version %q; NCCL writes 1 and RCCL 2", clip(v))
	}
	hosts := fused(root)
	for i, cpus := range hosts {
		h := newHost(in, hostName(name, i, len(hosts)), cpus)
		h.system(root)
		if err := h.read(); err != nil {
			return err
		}
		if len(hosts) > 1 {
			h.m.Domain = name
			in.Say(machine.Assumed, h.m.Name, "one of %d hosts in the file (host_hash %s); their NVLink switches are taken as one domain",
				len(hosts), clip(cpus[0].attr("host_hash")))
		}
		if err := h.m.Validate(); err != nil {
			return firstOf(err)
		}
		h.remarks()
		in.Machines = append(in.Machines, h.m)
	}
	return nil
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

// maxSystems is how many topologies one file may have.
const maxSystems = 64

// recognise returns the topologies in a file, its roots or below one that holds
// them together, or says what it is instead.
func recognise(roots []*element) ([]*element, error) {
	var all []*element
	for _, r := range roots {
		if inner := r.all("system"); len(r.all("cpu")) == 0 && len(inner) > 0 {
			all = append(all, inner...)
		} else {
			all = append(all, r)
		}
	}
	if len(all) > maxSystems {
		return nil, fmt.Errorf("line %d: more than %d topologies in one file", all[maxSystems].line, maxSystems)
	}
	for _, s := range all {
		if err := isTopology(s); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// others are the roots of files that are no topologies.
var others = map[string]string{
	"graphs":         "this is a search graph of NCCL (NCCL_GRAPH_FILE, root <graphs>): the channels it chose, not the machine; import the file that NCCL_TOPO_DUMP_FILE wrote",
	"algo":           "this is an MSCCL plan (root <algo>), not a machine; see plan check",
	"topology":       "this is a topology of hwloc (lstopo, root <topology>), which is not read; import the file that NCCL_TOPO_DUMP_FILE wrote, or what nvidia-smi topo -m prints",
	"nvidia_smi_log": "this is what nvidia-smi -q -x prints: the GPUs, not how they are joined; import what nvidia-smi topo -m prints",
}

// isTopology says what an element is if it is no topology.
func isTopology(root *element) error {
	if says, ok := others[root.name]; ok {
		return errors.New(says)
	}
	switch {
	case root.name != "system":
		return fmt.Errorf("root element <%s> is unknown; a topology begins with <system version=\"1\">", clip(root.name))
	case len(root.all("cpu")) > 0:
		return nil
	case len(root.all("group")) > 0:
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
	// switches are bus ids of NVSwitches that stand in the PCIe tree.
	switches map[string]bool
	guessed  map[string]bool // targets that were taken as NVSwitches
	stray    bool            // text was found in elements
	dump     bool            // the file has gpu elements
}

func newHost(in *machine.Import, name string, cpus []*element) *host {
	return &host{in: in, m: machine.Machine{Name: name}, cpus: cpus, clones: map[string]int{}, hosted: map[string]int{},
		gpusAt: map[string][]int{}, planeAt: map[string]int{}, toPlanes: map[[2]int]int{}, switches: map[string]bool{}, guessed: map[string]bool{}}
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

// cpuNumbers reads which NUMA node and CPUs a cpu element stands for.
func (h *host) cpuNumbers(about string, e *element, n *machine.NUMA) {
	const none = "4294967295" // -1 where it was taken for unsigned
	id, mask := e.attr("numaid"), e.attr("affinity")
	var err error
	if n.Nodes, err = machine.ParseList(id); strings.HasPrefix(id, "-") || id == none {
		n.Nodes = "" // the system has no NUMA nodes
	} else if err != nil {
		h.say(machine.Odd, about, "numaid %q is no number of a NUMA node and left out", clip(id))
	}
	if n.CPUs, err = machine.ParseMask(mask); err != nil {
		if n.CPUs, err = machine.ParseList(mask); err != nil { // templates made by hand
			h.say(machine.Odd, about, "affinity %q is no mask of CPUs, as in 0000ffff,ffffffff, and left out", clip(mask))
		}
	}
	switch {
	case id == "" && mask == "":
		h.say(machine.Missing, about, "which NUMA node it is, and which CPUs are in it")
	case mask == "":
		h.say(machine.Missing, about, "which CPUs are in it")
	case id == "":
		h.say(machine.Missing, about, "which NUMA node it is")
	}
}

// cpu reads what a cpu element says of itself.
func (h *host) cpu(i int, e *element) error {
	s := machine.Socket{Arch: e.attr("arch"), Vendor: e.attr("vendor"), Family: h.number(e, "familyid"), Model: h.number(e, "modelid")}
	n := machine.NUMA{Socket: len(h.m.Sockets)}
	about := fmt.Sprintf("cpu %d", i)
	h.cpuNumbers(about, e, &n)
	if h.stray = h.stray || e.text; s == (machine.Socket{}) {
		h.say(machine.Missing, about, "nothing about the CPU (arch, vendor, familyid, modelid), so the rate between sockets is unknown")
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
