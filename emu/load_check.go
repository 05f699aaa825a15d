package emu

import (
	"fmt"
	"slices"
	"strings"

	"github.com/railyard/railyard/emu/machine"
	"github.com/railyard/railyard/emu/suggest"
)

// MaxNodes is the largest number of servers a cluster may have: test data stays
// exact up to 2^17 ranks.
const MaxNodes = 1 << 17

const (
	maxDevices          = 1024 // GPUs or NICs in one NVLink domain; NVL576 is the largest announced
	maxOversubscription = 1024
	maxPlanes           = 8 // lanes of a port (OSFP)
	maxDims             = 6 // Fugaku's; more than anyone has built
)

// Known is what a catalog offers to clusters. What is left nil is not checked.
type Known struct {
	Systems []KnownSystem
	Kinds   []string // shapes of fabrics
	Links   []string
	// Routings are those that switches know.
	Routings []string
	// Ports returns how many NICs a fabric of the given kind and link joins.
	Ports func(kind, link string) int
	// Fabric reads the name of a fabric, such as rail-ndr.
	Fabric func(name string) (kind, link string, err error)
	// Faults knows types of faults; scenarios need it.
	Faults KnownFaults
	// Joins returns why the effective cluster's fabric cannot be built.
	Joins func(c *Cluster) error
}

// KnownSystem is what a cluster needs to know of a kind of server.
type KnownSystem struct {
	Name       string
	GPUs, NICs int
	Kind, Link string // the fabric it ships with
	// Pod is what ICI may join, where there is any.
	Pod Pod
}

// KnownFaults is what scenarios need to know of faults.
type KnownFaults struct {
	// Type settles the type that a word means, or says that there is none.
	Type func(word string) (string, error)
	// Set gives a fault, whose type is settled, a parameter by its word.
	Set func(f *Fault, word, value string) error
	// Words returns the parameters of a fault as Set reads them.
	Words func(f *Fault) [][2]string
	// Check returns what else is wrong with a scenario, in values of type *Problem.
	Check func(s *Scenario) error
}

// Validate says what is wrong with a cluster, all at once: the error joins
// values of type *Problem. The fields are named as in a cluster file.
func (c *Cluster) Validate(known Known) error { return c.check(known).join() }

// Effective returns the cluster with every default filled in.
func (c *Cluster) Effective(known Known) Cluster {
	e := *c
	e.Groups = slices.Clone(c.Groups)
	e.Fabric.Oversubscription = max(e.Fabric.Oversubscription, 1)
	for i := range e.Groups {
		g := &e.Groups[i]
		s, ok := c.kind(*g, known)
		if !ok {
			continue
		}
		if g.GPUs == 0 {
			g.GPUs = s.GPUs
		}
		if g.NICs == 0 {
			g.NICs = min(s.NICs, g.GPUs)
		}
		if s.Pod.Chips > 0 {
			g.Slice = g.Slice.Filled(g.Count)
		}
		if e.Fabric.Kind == "" {
			e.Fabric.Kind = s.Kind
		}
		if e.Fabric.Link == "" {
			e.Fabric.Link = s.Link
		}
	}
	return e
}

// kind returns what is known of a group's servers.
func (c *Cluster) kind(g Group, known Known) (KnownSystem, bool) {
	if g.Machine == "" {
		return known.system(g.System)
	}
	m, ok := c.Machine(g.Machine)
	if !ok {
		return KnownSystem{}, false
	}
	return KnownSystem{Name: g.Machine, GPUs: len(m.GPUs), NICs: len(m.NICs)}, true
}

// Machine returns one of the cluster's machines by its name.
func (c *Cluster) Machine(name string) (*machine.Machine, bool) {
	i := slices.IndexFunc(c.Machines, func(m machine.Machine) bool { return m.Name == name })
	if i < 0 {
		return nil, false
	}
	return &c.Machines[i], true
}

func (k Known) system(name string) (KnownSystem, bool) {
	i := slices.IndexFunc(k.Systems, func(s KnownSystem) bool { return s.Name == name })
	if i < 0 {
		return KnownSystem{}, false
	}
	return k.Systems[i], true
}

// isName reports whether s is fit for file names, host names and log lines.
func isName(s string) bool {
	for i, c := range []byte(s) {
		alnum := c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !alnum && (i == 0 || !strings.ContainsRune("._-", rune(c))) {
			return false
		}
	}
	return s != "" && len(s) <= 63
}

func (c *Cluster) check(known Known) problems {
	var ps problems
	if c.Name != "" && !isName(c.Name) {
		ps.say("metadata.name", "%q must be up to 63 letters, digits and . _ -, a letter or digit first", suggest.Clip(c.Name))
	}
	if len(c.Groups) == 0 {
		ps.say("spec.nodes", "must list at least one group: - {count: 4, system: dgx-h100}")
	}
	c.checkMachines(&ps)
	for i, g := range c.Groups {
		c.checkGroup(g, fmt.Sprintf("spec.nodes[%d]", i), known, &ps)
	}
	c.checkFabric(known, &ps)
	if len(ps) == 0 { // sums over wrong values mean nothing
		c.checkTotals(known, &ps)
	}
	return ps
}

func (c *Cluster) checkMachines(ps *problems) {
	for i := range c.Machines {
		m, field := &c.Machines[i], fmt.Sprintf("spec.machines[%d]", i)
		for _, p := range m.Problems() {
			ps.say(field+"."+p.Field, "%s", p.Reason)
		}
		if first, _ := c.Machine(m.Name); first != m {
			ps.say(field+".name", "%q is the name of another machine, too", suggest.Clip(m.Name))
		}
	}
}

// machineNames returns the names of the cluster's machines.
func (c *Cluster) machineNames() []string {
	var all []string
	for i := range c.Machines {
		all = append(all, c.Machines[i].Name)
	}
	return all
}

func (c *Cluster) checkGroup(g Group, field string, known Known, ps *problems) {
	ps.between(field+".count", g.Count, MaxNodes, "")
	if g.Count == 0 {
		ps.say(field+".count", "must be at least 1")
	}
	gpus, nics, of := maxDevices, maxDevices, ""
	if g.Machine != "" && g.System != "" {
		ps.say(field+".machine", "%q and system %q exclude each other; leave one out", suggest.Clip(g.Machine), suggest.Clip(g.System))
	}
	if s, ok := c.kind(g, known); ok {
		gpus, nics, of = s.GPUs, s.NICs, ", what a "+s.Name+" has; leave it out for all"
	} else if g.Machine != "" && len(c.Machines) == 0 {
		ps.say(field+".machine", "%q is unknown: spec.machines lists none", suggest.Clip(g.Machine))
	} else if g.Machine != "" {
		ps.say(field+".machine", "%s", suggest.Unknown(g.Machine, c.machineNames()))
	} else if known.Systems != nil {
		ps.say(field+".system", "%s", suggest.Unknown(g.System, known.SystemNames()))
	}
	if s, ok := c.kind(g, known); ok && s.Pod.Chips > 0 {
		g.Slice.check(g.Count, s.Pod, field, ps)
	} else if ok && !g.Unsaid() {
		ps.say(field, "torus, wrap, cubes and dark say how ICI joins hosts of TPUs; a %s has none", s.Name)
	}
	ps.between(field+".gpus", g.GPUs, gpus, of)
	ps.between(field+".nics", g.NICs, nics, of)
}

// SystemNames returns the names of the systems in listing order.
func (k Known) SystemNames() []string {
	var all []string
	for _, s := range k.Systems {
		all = append(all, s.Name)
	}
	return all
}

func (c *Cluster) checkFabric(known Known, ps *problems) {
	f := c.Fabric
	c.checkCustom(known, ps)
	if f.Kind != "" && f.Kind != KindCustom && known.Kinds != nil && !slices.Contains(known.Kinds, f.Kind) {
		ps.say("spec.fabric.kind", "%s", suggest.Unknown(f.Kind, known.Kinds))
	}
	if f.Link != "" && known.Links != nil && !slices.Contains(known.Links, f.Link) {
		ps.say("spec.fabric.link", "%s", suggest.Unknown(f.Link, known.Links))
	}
	if f.Routing != "" && known.Routings != nil && !slices.Contains(known.Routings, f.Routing) {
		ps.say("spec.fabric.routing", "%s", suggest.Unknown(f.Routing, known.Routings))
	}
	ps.between("spec.fabric.oversubscription", f.Oversubscription, maxOversubscription, "")
	ps.between("spec.fabric.unit", f.Unit, MaxNodes, "")
	ps.between("spec.fabric.planes", f.Planes, maxPlanes, "")
	ps.between("spec.fabric.hostsPerSwitch", f.HostsPerSwitch, maxDevices, "")
	if len(f.Dims) > maxDims {
		ps.say("spec.fabric.dims", "a torus of %d dimensions; at most %d are allowed", len(f.Dims), maxDims)
	}
	for i, d := range f.Dims {
		if field := fmt.Sprintf("spec.fabric.dims[%d]", i); d == 0 {
			ps.say(field, "0 must be a whole number from 1 to %d", MaxNodes)
		} else {
			ps.between(field, d, MaxNodes, "")
		}
	}
}

func (c *Cluster) checkTotals(known Known, ps *problems) {
	if n := c.Nodes(); n > MaxNodes {
		ps.say("spec.nodes", "%d nodes in all; at most %d are allowed", n, MaxNodes)
		return
	}
	if known.Ports == nil || c.Nodes() == 1 || c.Fabric.Kind == KindCustom {
		return
	}
	e := c.Effective(known)
	if e.Fabric.Kind == "" || e.Fabric.Link == "" {
		return // no catalog server brings one along; whoever joins the nodes asks for it
	}
	need := 0
	for _, g := range e.Groups {
		need += g.Count * g.NICs
	}
	if have := known.Ports(e.Fabric.Kind, e.Fabric.Link); need > have {
		ps.say("spec.nodes", "%d nodes plug in %d NICs, but a %s fabric of %s switches has %d ports; take fewer nodes or another link",
			c.Nodes(), need, e.Fabric.Kind, e.Fabric.Link, have)
		return
	}
	if known.Joins != nil {
		if err := known.Joins(&e); err != nil {
			ps.say("spec.fabric", "%v", err)
		}
	}
}
