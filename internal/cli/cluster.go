package cli

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/catalog"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/network"
	"github.com/railyard/railyard/emu/suggest"
)

// hardware is what the flags say of the cluster: a preset, or a file and what
// replaces parts of it.
type hardware struct {
	file, system, fabric, routing string
	topo, dump                    string // topology files, in and out
	nodes, gpus, nics, over       int
	seed                          int64
	pxn                           emu.PXN
	cross                         emu.CrossNIC
	notes                         []string // what had no effect
}

// defaultSystem is what servers are where nobody says.
const defaultSystem = "dgx-h100"

// hardwareFlags are the flags that say what the cluster is. They make no sense
// together with --connect: what is up is what it is.
var hardwareFlags = []string{"cluster", "system", "nodes", "gpus-per-node", "nics", "fabric", "routing", "oversubscription", "pxn", "cross-nic", "topo-file"}

func (h *hardware) settings() []setting {
	return append([]setting{
		{name: "cluster", arg: "FILE", usage: "cluster file; the flags below replace parts of it", set: text(&h.file)},
		{name: "system", arg: "NAME", def: defaultSystem, values: known().SystemNames(), usage: "kind of server", set: text(&h.system)},
		{name: "nodes", arg: "N", def: "1", usage: "number of servers", set: whole(&h.nodes, 1, emu.MaxNodes)},
		{name: "gpus-per-node", arg: "N", usage: "use part of each server's GPUs (default all)", set: whole(&h.gpus, 1, emu.MaxNodes)},
		{name: "nics", arg: "N", usage: "use part of each server's NICs (default one a GPU)", set: whole(&h.nics, 1, emu.MaxNodes)},
		{name: "fabric", arg: "SHAPE-LINK", values: fabricNames(), usage: "what joins the servers, for example rail-ndr (default the system's own)", set: text(&h.fabric)},
		{name: "routing", arg: "NAME", values: network.Routings(), usage: "how switches choose among equal links: " + strings.Join(network.Routings(), ", ") + " (default the link's own)", set: text(&h.routing)},
		{name: "oversubscription", arg: "N", usage: "how many times more the NICs of a leaf can send than its links up carry (default 1)", set: whole(&h.over, 1, 1024)},
		{name: "pxn", arg: "0|1", values: []string{"0", "1"}, usage: "1: GPUs forward to the owner of a rail's NIC over NVLink; 0: they send by their own NIC, as with NCCL_PXN_DISABLE=1 (default 1)", set: setPXN(&h.pxn)},
		{name: "cross-nic", arg: "0|1|2", values: []string{"0", "1", "2"}, usage: "rings leave a server by the NIC that they entered by (0) or by another (1), or by another if that is faster (2); also NCCL_CROSS_NIC (default 2)", set: setCrossNIC(&h.cross)},
		{name: "seed", arg: "N", def: "0", usage: "seeds the test data and every random draw", set: whole(&h.seed, 0, 1<<63-1)},
	}, h.topoSettings()...)
}

// cluster returns the cluster that flags and file add up to: flags are
// stronger. given says which flags were on the command line.
func (h *hardware) cluster(a *App, given func(string) bool) (emu.Cluster, error) {
	c := emu.Cluster{Groups: []emu.Group{{Count: h.nodes, System: h.system}}}
	if h.file != "" {
		data, err := a.ReadFile(h.file)
		if err != nil {
			return c, fmt.Errorf("--cluster: %w", err)
		}
		if c, err = emu.LoadCluster(h.file, data, known()); err != nil {
			return c, err
		}
		if given("system") {
			return c, errors.New("--system: the cluster file names its systems; give one or the other")
		}
		if given("nodes") && len(c.Groups) > 1 {
			return c, fmt.Errorf("--nodes: %s has %d groups of nodes; change their counts there", h.file, len(c.Groups))
		}
	}
	if err := h.topology(a, &c, given); err != nil {
		return c, err
	}
	if err := h.overlay(&c, given); err != nil {
		return c, err
	}
	if err := asFlags(c.Validate(known())); err != nil {
		return c, err
	}
	h.notes = append(h.notes, idle(&c)...)
	return c, nil
}

// overlay puts what was given as flags into a cluster.
func (h *hardware) overlay(c *emu.Cluster, given func(string) bool) error {
	for i := range c.Groups {
		g := &c.Groups[i]
		if given("nodes") {
			g.Count = h.nodes
		}
		if given("gpus-per-node") {
			g.GPUs = h.gpus
		}
		if given("nics") {
			g.NICs = h.nics
		}
	}
	if given("seed") {
		c.Seed = uint64(h.seed)
	}
	if given("routing") {
		c.Fabric.Routing = h.routing
	}
	if given("pxn") {
		c.Fabric.PXN = h.pxn
	}
	if given("cross-nic") {
		c.Fabric.CrossNIC = h.cross
	}
	if given("oversubscription") {
		c.Fabric.Oversubscription = h.over
	}
	if !given("fabric") {
		return nil
	}
	var err error
	c.Fabric.Kind, c.Fabric.Link, err = parseFabric(h.fabric)
	return err
}

func setPXN(to *emu.PXN) func(string) error {
	return func(s string) error {
		on := false
		if err := switched(&on)(s); err != nil {
			return err
		}
		*to = emu.PXNOff
		if on {
			*to = emu.PXNOn
		}
		return nil
	}
}

func setCrossNIC(to *emu.CrossNIC) func(string) error {
	return func(s string) error {
		c, ok := emu.ParseCrossNIC(s)
		if !ok {
			return fmt.Errorf("%q must be 0 (never), 1 (always) or 2 (if that is faster)", suggest.Clip(s))
		}
		*to = c
		return nil
	}
}

// parseFabric reads SHAPE-LINK. Of a slip it says which half is wrong.
func parseFabric(name string) (kind, link string, err error) {
	kind, link, err = catalog.ParseFabric(name)
	if err == nil {
		return kind, link, nil
	}
	if meant := misspeltShape(name); meant != nil {
		return "", "", fmt.Errorf("--fabric %s: %w", suggest.Clip(name), meant)
	}
	var unknown *catalog.UnknownError
	if errors.As(err, &unknown) {
		return "", "", fmt.Errorf("--fabric %s: %s %s", suggest.Clip(name), unknown.What, suggest.Unknown(unknown.Name, unknown.Known))
	}
	return "", "", fmt.Errorf("--%w", err)
}

// misspeltShape says of a name that ends with a known link that it does not begin
// with a shape, and which was probably meant, by its long name or its short; nil
// where no link is known. A shape may be part of a misspelt one: rail-optimised-ndr.
func misspeltShape(name string) error {
	shape, link, known := "", "", false
	for _, l := range catalog.Links() {
		if before, ok := strings.CutSuffix(name, "-"+l.Name); ok {
			shape, link, known = before, l.Name, true
		}
	}
	if !known {
		return nil
	}
	var long, both []string
	for _, s := range catalog.Shapes() {
		long, both = append(long, s.Name), append(both, s.Name, s.Short)
	}
	hint := ""
	if meant, ok := suggest.Closest(shape, both); ok {
		hint = fmt.Sprintf("; did you mean %q?", meant+"-"+link)
	}
	return fmt.Errorf("fabric %q is unknown; allowed are %s%s", suggest.Clip(shape), strings.Join(long, ", "), hint)
}

// known returns what the catalog offers.
func known() emu.Known {
	k := emu.Known{Ports: ports, Joins: joins, Routings: network.Routings()}
	for _, s := range catalog.Systems() {
		for _, name := range []string{s.Name, s.Alias} {
			if name != "" {
				k.Systems = append(k.Systems, emu.KnownSystem{Name: name, GPUs: s.GPUs, NICs: s.NICs, Kind: s.Fabric, Link: s.Link, Pod: emu.Pod{Chips: s.Board.ICI.Chips, Slice: s.Board.ICI.Slice}})
			}
		}
	}
	for _, s := range catalog.Shapes() {
		k.Kinds = append(k.Kinds, s.Name)
	}
	for _, l := range catalog.Links() {
		k.Links = append(k.Links, l.Name)
	}
	return k
}

// ports returns how many NICs a fabric joins.
func ports(kind, link string) int {
	s, err := catalog.LookupShape(kind)
	if err != nil {
		return 0
	}
	l, err := catalog.LookupLink(link)
	if err != nil {
		return 0
	}
	return s.MaxNICs(l.Radix)
}

// joins builds the network of a cluster, without what lies inside its servers.
func joins(c *emu.Cluster) error {
	l, err := catalog.LookupLink(c.Fabric.Link)
	if err != nil {
		return err
	}
	var servers []fabric.Server
	for i, g := range c.Groups {
		for place := range g.Count {
			servers = append(servers, fabric.Server{Group: i, Place: place, NICs: g.NICs})
		}
		if err := fabric.JoinSlice(g); err != nil {
			return fmt.Errorf("the slice of nodes[%d]: %w", i, err)
		}
	}
	_, err = fabric.Join(c.Fabric, l, servers, c.Seed)
	return err
}

func fabricNames() []string {
	var names []string
	for _, s := range catalog.Shapes() {
		for _, l := range catalog.Links() {
			names = append(names, cmp.Or(s.Short, s.Name)+"-"+l.Name)
		}
	}
	return names
}

// imported returns what a user should know of machines given in full.
func imported(c *emu.Cluster) []string {
	f, err := fabric.New(*c)
	if err != nil {
		return nil // whoever runs it says so
	}
	return f.Notes()
}

// idle returns which settings of a cluster's fabric change nothing.
func idle(c *emu.Cluster) []string {
	if c.Fabric.Oversubscription < 2 && c.Fabric.Routing == "" {
		return nil
	}
	f, err := fabric.New(*c)
	if err != nil {
		return nil // whoever runs it says so
	}
	return f.Idle()
}

// flagOf says which flag a field of a cluster comes from.
var flagOf = []struct{ field, flag string }{
	{".count", "--nodes"}, {".system", "--system"}, {".gpus", "--gpus-per-node"}, {".nics", "--nics"},
	{"spec.nodes", "--nodes"}, {"spec.fabric.kind", "--fabric"}, {"spec.fabric.link", "--fabric"}, {"spec.fabric.routing", "--routing"}, {"spec.fabric.oversubscription", "--oversubscription"}, {"spec.fabric", "--fabric"},
}

// asFlags renames problems of a cluster after the flags that made it: the file,
// if there was one, has been found good before.
func asFlags(err error) error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return err
	}
	var errs []error
	for _, e := range joined.Unwrap() {
		var p *emu.Problem
		if errors.As(e, &p) {
			for _, f := range flagOf {
				if strings.HasSuffix(p.Field, f.field) {
					e = fmt.Errorf("%s: %s", f.flag, p.Reason)
					break
				}
			}
		}
		errs = append(errs, e)
	}
	return errors.Join(errs...)
}
