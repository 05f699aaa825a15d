package cli

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/catalog"
	"github.com/railyard/railyard/emu/draw"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/machine"
	"github.com/railyard/railyard/emu/network"
	"github.com/railyard/railyard/emu/network/survey"
	"github.com/railyard/railyard/shaping"
)

// drawings are the formats of topo graph.
var drawings = []string{"svg", "dot", "mermaid"}

// graphLine is a command line of topo graph.
type graphLine struct {
	topoLine
	format, out string
	most        int
}

func (a *App) topoGraph() *cobra.Command {
	l := &graphLine{}
	settings := slices.Concat(l.which(), []setting{
		{name: "format", arg: "FORMAT", def: "svg", values: drawings, usage: "svg, dot (Graphviz) or mermaid", set: choice(&l.format, drawings, nil)},
		{name: "out", arg: "FILE", usage: "write to a file instead of stdout", set: text(&l.out)},
		{name: "most", arg: "N", def: "4", usage: "servers to draw one by one; of more, the rest are one box", set: whole(&l.most, 1, 64)},
	})
	cmd := &cobra.Command{Use: "graph [FILE]", Short: "Draw the hardware",
		Long: "Draw the hardware.\n\nFILE is a cluster file, or whatever topo import reads; without one the flags say\nwhat the cluster is.",
		RunE: func(cmd *cobra.Command, args []string) error {
			sources := map[string]source{}
			err := apply(cmd.Flags(), settings, a.Getenv, sources)
			var g *draw.Graph
			if err == nil {
				g, err = l.graph(a, args, func(name string) bool { return sources[name].from == "flag" })
			}
			if err == nil {
				err = a.deliver(l.render(g), l.out)
			}
			if err != nil {
				return &ExitError{ExitUsage, err}
			}
			return nil
		}}
	register(cmd, settings)
	return cmd
}

func (l *graphLine) render(g *draw.Graph) []byte {
	switch l.format {
	case "dot":
		return g.DOT()
	case "mermaid":
		return g.Mermaid()
	}
	return g.SVG()
}

// graph returns the picture of a cluster, or of the machines in a file that tells
// of nothing else.
func (l *graphLine) graph(a *App, args []string, given func(string) bool) (*draw.Graph, error) {
	if len(args) > 1 || len(args) == 1 && l.hardware.file != "" {
		return nil, errors.New("topo graph draws one file: coordinator topo graph [FILE]")
	}
	if len(args) == 1 {
		in, err := l.read(a, args[0])
		if err != nil {
			return nil, err
		}
		if in != nil {
			return l.imported(args[0], in), nil
		}
	}
	if l.fabric == nil {
		if err := l.build(a, given); err != nil {
			return nil, err
		}
	}
	f := l.fabric
	var groups []draw.Group
	node := 0
	for _, g := range l.cluster.Groups {
		m := l.server(&g, node)
		_, gpus := f.GPURange(node)
		drawn := draw.Group{Count: g.Count, Machine: &m, GPUs: gpus, NICs: f.NICs(node), Joint: f.System(node).Joint(), Shared: f.Neighbours(node)}
		overICI(f, node, &drawn)
		groups = append(groups, drawn)
		node += g.Count
	}
	net, title := f.Network(), fmt.Sprintf("%d servers, %d GPUs", f.Nodes(), f.GPUs())
	if net == nil {
		title = fmt.Sprintf("%s, %d GPUs", f.System(0).Name, f.GPUs())
	} else {
		title += ": " + networkWords(f, net)
	}
	return draw.Cluster(title, groups, net, f.Link().Wire, l.most), nil
}

// overICI adds to a group of servers the slice of TPUs that they make.
func overICI(f *fabric.Fabric, first int, g *draw.Group) {
	chips, _ := f.Slice(first)
	if chips == nil {
		return
	}
	host := make([]int, len(chips.Hosts))
	for i := range g.Count {
		_, of := f.Slice(first + i)
		for chip := range len(chips.Hosts) / g.Count {
			host[of(chip)] = i
		}
	}
	leaving := make([]int, len(host))
	for _, t := range chips.Trunks() {
		if host[t.A] != host[t.B] {
			leaving[t.A]++
			leaving[t.B]++
		}
	}
	v := &f.System(first).NVLink
	g.ICI, g.Link = fmt.Sprintf("ICI, torus %dx%dx%d", chips.Dims[0], chips.Dims[1], chips.Dims[2]), v.Wire/shaping.Rate(v.Links)
	g.Leave = func(place, gpu int) int {
		_, of := f.Slice(first + place)
		return leaving[of(gpu)]
	}
}

// server returns the inside of a group's servers: as the file has it in full, or
// as the catalog knows it.
func (l *graphLine) server(g *emu.Group, node int) machine.Machine {
	for _, m := range l.cluster.Machines {
		if m.Name == g.Machine {
			return m
		}
	}
	return l.fabric.System(node).Machine()
}

// networkWords says in a line what the network is.
func networkWords(f *fabric.Fabric, n *network.Network) string {
	b := n.Bill()
	text := fmt.Sprintf("%v, %s", n.Shape, f.Link().About)
	if n.Oversubscription > 1 {
		text += fmt.Sprintf(", oversubscribed %d:1", n.Oversubscription)
	}
	return text + fmt.Sprintf("; %d switches, %d cables", b.Leaves+b.Spines+b.Cores, b.HostCables+b.TrunkCables)
}

// read reads a file: the machines of one that tells of machines alone. A network's
// becomes a cluster; a cluster file is left to the flags.
func (l *graphLine) read(a *App, file string) (*machine.Import, error) {
	data, err := a.ReadFile(file)
	if err != nil {
		return nil, err
	}
	data = plainText(data)
	switch {
	case isCluster(data):
		l.hardware.file = file
		return nil, nil
	case isMachine(data):
		return a.readMachines(file)
	}
	c, err := a.surveyed(file, data, &importFlags{})
	if errors.Is(err, survey.ErrUnknown) {
		return a.readMachines(file)
	}
	if err == nil {
		l.cluster = c
		l.fabric, err = fabric.New(c)
	}
	return nil, err
}

// imported draws machines side by side, without a network: their file tells of
// none.
func (l *graphLine) imported(file string, in *machine.Import) *draw.Graph {
	var groups []draw.Group
	for i := range in.Machines {
		like := catalog.Like(&in.Machines[i])
		groups = append(groups, draw.Group{Count: 1, Machine: &in.Machines[i], Joint: like.Joint()})
	}
	return draw.Cluster(machineName(file), groups, nil, shaping.Rate(0), max(l.most, len(groups)))
}
