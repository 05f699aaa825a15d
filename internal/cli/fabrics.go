package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/catalog"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/network"
	"github.com/railyard/railyard/shaping"
)

// fabricsLine is a command line of fabrics.
type fabricsLine struct {
	Common
	nodes, nics int
	fabric      emu.Fabric
}

func (l *fabricsLine) settings() []setting {
	f := &l.fabric
	return append([]setting{
		{name: "nodes", arg: "N", usage: "number of servers to join", set: whole(&l.nodes, 1, emu.MaxNodes)},
		{name: "nics", arg: "N", def: "8", usage: "NICs of each server", set: whole(&l.nics, 1, 1024)},
		{name: "oversubscription", arg: "N", def: "1", usage: "how many times more the NICs of a leaf can send than its links up carry", set: whole(&f.Oversubscription, 1, 1024)},
		{name: "unit", arg: "N", usage: "servers that share a set of leaves (default as many as fit)", set: whole(&f.Unit, 1, emu.MaxNodes)},
		{name: "planes", arg: "N", def: "1", usage: "separate networks, each with a port of every NIC", set: whole(&f.Planes, 1, 8)},
		{name: "hosts-per-switch", arg: "N", usage: "NICs on a switch of a fat tree or dragonfly (default balanced)", set: whole(&f.HostsPerSwitch, 1, 1024)},
	}, l.Common.settings()...)
}

// fabrics lists what the catalog has between servers, or prices one network.
func (a *App) fabrics() *cobra.Command {
	l := &fabricsLine{}
	settings := l.settings()
	cmd := &cobra.Command{Use: "fabrics [SHAPE-LINK]", Short: "List the fabrics, with figures, units and sources; count what one takes",
		Long: "List links, shapes, switches and cables of the catalog, with units and sources.\n\nWith SHAPE-LINK and --nodes: how many switches and cables that fabric takes,\nand what its optics draw.",
		RunE: func(cmd *cobra.Command, args []string) error {
			err := apply(cmd.Flags(), settings, a.Getenv, map[string]source{})
			l.finish(a)
			switch {
			case err != nil:
			case len(args) == 0 && l.nodes > 0:
				err = fmt.Errorf("--nodes: of which fabric? coordinator fabrics rail-ndr --nodes %d", l.nodes)
			case len(args) > 0 && l.nodes == 0:
				err = fmt.Errorf("fabrics %s needs a size: coordinator fabrics %s --nodes 64", args[0], args[0])
			}
			if err == nil && len(args) > 0 {
				err = l.price(a, args)
			} else if err == nil {
				return l.list(a.Stdout)
			}
			if err != nil {
				return &ExitError{ExitUsage, err}
			}
			return nil
		}}
	register(cmd, settings)
	return cmd
}

// The rows of fabrics --format json. Rates are bytes a second, latencies
// picoseconds, powers milliwatts.
type (
	linkJSON struct {
		Name       string           `json:"name"`
		About      string           `json:"about"`
		Rate       shaping.Rate     `json:"rate"`
		Usable     int64            `json:"usable_permille"`
		NIC        shaping.Duration `json:"nic_latency"`
		Hop        shaping.Duration `json:"hop_latency"`
		Switch     string           `json:"switch"`
		Ports      int              `json:"ports"`
		Routing    string           `json:"routing"`
		SHARP      shaping.Rate     `json:"sharp"`
		Milliwatts int64            `json:"optic_milliwatts"`
		Sources    []string         `json:"sources"`
	}
	shapeJSON struct {
		Name    string   `json:"name"`
		Short   string   `json:"short,omitempty"`
		About   string   `json:"about"`
		Sources []string `json:"sources,omitempty"`
	}
	deviceJSON struct {
		Name     string           `json:"name"`
		About    string           `json:"about"`
		Ports    int              `json:"ports"`
		Rate     shaping.Rate     `json:"rate"`
		Capacity shaping.Rate     `json:"capacity_both_directions"`
		Hop      shaping.Duration `json:"hop_latency,omitempty"`
		Sources  []string         `json:"sources"`
	}
	fabricsJSON struct {
		Links    []linkJSON        `json:"links"`
		Shapes   []shapeJSON       `json:"shapes"`
		Switches []deviceJSON      `json:"switches"`
		Cables   []mediumJSON      `json:"cables"`
		Sources  map[string]string `json:"sources"`
	}
	mediumJSON struct {
		Name    string   `json:"name"`
		About   string   `json:"about"`
		Percent int64    `json:"percent_of_optic"`
		Sources []string `json:"sources"`
	}
)

func catalogOfFabrics() fabricsJSON {
	all := fabricsJSON{Sources: map[string]string{}}
	for _, l := range catalog.Links() {
		all.Links = append(all.Links, linkJSON{l.Name, l.About, l.Wire, l.Usable, l.NIC, l.Switch, l.Device, l.Radix, l.Routing, l.SHARP, l.Milliwatts, catalog.SourcesOf(l.Name)})
	}
	for _, s := range catalog.Shapes() {
		all.Shapes = append(all.Shapes, shapeJSON{s.Name, s.Short, s.About, catalog.SourcesOf(s.Name)})
	}
	for _, d := range catalog.Devices() {
		all.Switches = append(all.Switches, deviceJSON{d.Name, d.About, d.Ports, d.Wire, d.Capacity(), d.Hop, catalog.SourcesOf(d.Name)})
	}
	for _, m := range catalog.Media() {
		all.Cables = append(all.Cables, mediumJSON{m.Name, m.About, m.Percent, catalog.SourcesOf(m.Name)})
	}
	for _, s := range catalog.Sources() {
		all.Sources[s.Tag] = s.Is
	}
	return all
}

func (l *fabricsLine) list(w io.Writer) error {
	all := catalogOfFabrics()
	switch l.Format {
	case "json":
		return json.NewEncoder(w).Encode(all)
	case "csv":
		return writeCSV(w, all.records())
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	all.printLinks(t)
	all.printRest(t)
	return t.Flush()
}

// records returns all that is listed, as rows of one table.
func (all *fabricsJSON) records() (rows []record) {
	for _, r := range all.Links {
		rows = append(rows, record{"link", r})
	}
	for _, r := range all.Shapes {
		rows = append(rows, record{"shape", r})
	}
	for _, r := range all.Switches {
		rows = append(rows, record{"switch", r})
	}
	for _, r := range all.Cables {
		rows = append(rows, record{"cable", r})
	}
	for _, s := range catalog.Sources() {
		rows = append(rows, record{"source", shapeJSON{Name: s.Tag, About: s.Is}})
	}
	return rows
}

func (all *fabricsJSON) printLinks(t io.Writer) {
	fmt.Fprintln(t, "LINK\tGb/s\tUSABLE ‰\tNIC\tHOP\tSWITCH\tPORTS\tROUTING\tSHARP\tOPTIC\tSOURCES\tABOUT")
	for _, r := range all.Links {
		sharp := "-"
		if r.SHARP > 0 {
			sharp = r.SHARP.String()
		}
		fmt.Fprintf(t, "%s\t%d\t%d\t%v\t%v\t%s\t%d\t%s\t%s\t%s\t%s\t%s\n", r.Name, r.Rate/shaping.Gbps, r.Usable, r.NIC, r.Hop, r.Switch, r.Ports,
			r.Routing, sharp, watts(r.Milliwatts), strings.Join(r.Sources, ","), r.About)
	}
}

func (all *fabricsJSON) printRest(t io.Writer) {
	fmt.Fprintln(t, "\nSHAPE\tSHORT\tSOURCES\tABOUT")
	for _, r := range all.Shapes {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", r.Name, orDash(r.Short), orDash(strings.Join(r.Sources, ",")), r.About)
	}
	fmt.Fprintln(t, "\nSWITCH\tPORTS\tGb/s\tTb/s BOTH DIRECTIONS\tHOP ALONE\tSOURCES\tABOUT")
	for _, r := range all.Switches {
		hop := "-"
		if r.Hop > 0 {
			hop = r.Hop.String()
		}
		tenths := int64(r.Capacity / (100 * shaping.Gbps))
		fmt.Fprintf(t, "%s\t%d\t%d\t%d.%d\t%s\t%s\t%s\n", r.Name, r.Ports, r.Rate/shaping.Gbps, tenths/10, tenths%10, hop, strings.Join(r.Sources, ","), r.About)
	}
	fmt.Fprintln(t, "\nCABLE\t% OF OPTIC\tSOURCES\tABOUT")
	for _, r := range all.Cables {
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\n", r.Name, r.Percent, strings.Join(r.Sources, ","), r.About)
	}
	fmt.Fprintln(t, "\nSOURCE\tIS")
	for _, s := range catalog.Sources() {
		fmt.Fprintf(t, "%s\t%s\n", s.Tag, s.Is)
	}
}

// watts prints milliwatts.
func watts(mW int64) string { return fmt.Sprintf("%d.%d W", mW/1000, mW%1000/100) }

// billJSON is what a fabric takes.
type billJSON struct {
	Fabric       string      `json:"fabric"`
	Nodes        int         `json:"nodes"`
	NICs         int         `json:"nics"`
	Switch       string      `json:"switch"`
	Leaves       int         `json:"leaves"`
	Spines       int         `json:"spines"`
	Cores        int         `json:"cores"`
	HostCables   int         `json:"host_cables"`
	TrunkCables  int         `json:"trunk_cables"`
	GlobalCables int         `json:"global_cables"`
	Ports        int         `json:"switch_ports"`
	Optics       []powerJSON `json:"optics"`
}

type powerJSON struct {
	Cables     string `json:"cables"`
	Milliwatts int64  `json:"milliwatts"`
}

// price counts what a fabric takes.
func (l *fabricsLine) price(a *App, args []string) error {
	name, err := one("fabrics", "fabrics rail-ndr --nodes 64", args)
	if err != nil {
		return err
	}
	kind, link, err := parseFabric(name)
	if err != nil {
		return fmt.Errorf("fabrics%s", strings.TrimPrefix(err.Error(), "--fabric"))
	}
	ln, err := catalog.LookupLink(link)
	if err != nil {
		return err
	}
	l.fabric.Kind = kind
	servers := make([]fabric.Server, l.nodes)
	for i := range servers {
		servers[i] = fabric.Server{Place: i, NICs: l.nics}
	}
	n, err := fabric.Join(l.fabric, ln, servers, 0)
	if err != nil {
		return err
	}
	l.note(a, n.Idle())
	b := bill(name, l, ln, n)
	switch l.Format {
	case "json":
		return json.NewEncoder(a.Stdout).Encode(b)
	case "csv":
		return writeCSV(a.Stdout, b.records())
	}
	return b.print(a.Stdout)
}

func bill(name string, l *fabricsLine, link catalog.Link, n *network.Network) billJSON {
	b := n.Bill()
	return billJSON{Fabric: name, Nodes: l.nodes, NICs: l.nodes * l.nics, Switch: fmt.Sprintf("%s, %d ports", link.Device, n.Radix),
		Leaves: b.Leaves, Spines: b.Spines, Cores: b.Cores, HostCables: b.HostCables, TrunkCables: b.TrunkCables, GlobalCables: b.GlobalCables,
		Ports: b.Ports, Optics: optics(link, b, n.Planes)}
}

// optics adds up what the ends of all cables draw. A plane's port takes its part
// of the link's transceiver.
func optics(link catalog.Link, b network.Bill, planes int) []powerJSON {
	percent := map[string]int64{}
	for _, m := range catalog.Media() {
		percent[m.Name] = m.Percent
	}
	ends := func(cables int, medium string) int64 {
		return int64(cables) * link.Milliwatts * percent[medium] / 100 / int64(cmp.Or(planes, 1))
	}
	return []powerJSON{
		{"copper to servers, optical between switches", ends(2*b.HostCables, "copper") + ends(2*b.TrunkCables, "optical")},
		{"optical", ends(2*(b.HostCables+b.TrunkCables), "optical")},
		{"optical, co-packaged in switches", ends(b.HostCables, "optical") + ends(b.HostCables+2*b.TrunkCables, "co-packaged")},
	}
}

// records returns the bill once for each way to cable it.
func (b *billJSON) records() (rows []record) {
	for _, o := range b.Optics {
		rows = append(rows, record{of: struct {
			billJSON
			powerJSON
		}{*b, o}})
	}
	return rows
}

func (b *billJSON) print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "%s\t%d servers, %d NICs\n", b.Fabric, b.Nodes, b.NICs)
	fmt.Fprintf(t, "switches\t%d leaves, %d spines, %d cores of %s\n", b.Leaves, b.Spines, b.Cores, b.Switch)
	fmt.Fprintf(t, "cables\t%d to NICs, %d between switches (%d of them between groups)\n", b.HostCables, b.TrunkCables, b.GlobalCables)
	fmt.Fprintf(t, "switch ports\t%d\n", b.Ports)
	for _, o := range b.Optics {
		fmt.Fprintf(t, "optics\t%s\t%s\n", watts(o.Milliwatts), o.Cables)
	}
	return t.Flush()
}
