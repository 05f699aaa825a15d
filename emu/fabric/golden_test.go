package fabric_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
)

// TestFabrics prints the ports and routes of small clusters. To rewrite the
// goldens, run the test with -rewrite.
//
//	cluster                          what follows is the spec of a cluster file
//	nodes: [{count: 2, system: dgx-h100, gpus: 2, nics: 1}]
//
//	route from=0 to=2 [channel=0] [proto=simple]      between GPUs of that cluster
//	shape comm=(3,0,1)                                what an algorithm sees of GPUs
func TestFabrics(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		var f *fabric.Fabric
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "cluster":
				f = load(t, d)
				return printPorts(f)
			case "route":
				return route(t, d, f)
			case "shape":
				return shape(t, d, f)
			}
			d.Fatalf(t, "unknown command %q", d.Cmd)
			return ""
		})
	})
}

func load(t *testing.T, d *datadriven.TestData) *fabric.Fabric {
	t.Helper()
	text := "apiVersion: railyard/v1alpha1\nkind: Cluster\nspec:\n"
	for line := range strings.Lines(d.Input) {
		text += "  " + line
	}
	c, err := emu.ParseCluster(d.Pos, []byte(text))
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	f, err := fabric.New(c)
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	return f
}

// printPorts prints a row for each owner's ports of one rate.
func printPorts(f *fabric.Fabric) string {
	var b strings.Builder
	c := f.Cluster.Fabric
	fmt.Fprintf(&b, "%d nodes, %d GPUs; %s, %s, oversubscription %d; contended: %v\n",
		f.Nodes(), f.GPUs(), c.Kind, c.Link, c.Oversubscription, f.Contended())
	for id := range int32(f.Ports()) {
		p := f.Port(id)
		owner := "shared"
		if p.Node != fabric.Shared {
			owner = fmt.Sprintf("node %d", p.Node)
		}
		fmt.Fprintf(&b, "%4d  %-22s  %-12s  %s\n", id, p.Name, p.Rate, owner)
	}
	return b.String()
}

func route(t *testing.T, d *datadriven.TestData, f *fabric.Fabric) string {
	t.Helper()
	var from, to, channel int
	proto := collective.Simple
	d.ScanArgs(t, "from", &from)
	d.ScanArgs(t, "to", &to)
	d.MaybeScanArgs(t, "channel", &channel)
	name := proto.String()
	if d.MaybeScanArgs(t, "proto", &name); name == collective.LL.String() {
		proto = collective.LL
	}
	r := f.Route(from, to, channel, proto)
	var b strings.Builder
	if r.Remote {
		printPath(&b, "to the buffer", f, &r.Local)
		printPath(&b, "on the wire", f, &r.Wire)
		fmt.Fprintf(&b, "proxies: of GPU %d posts in %s; of GPU %d posts in %s; reaction %s after the last write\n",
			r.SendProxy, r.Post, r.RecvProxy, r.RecvPost, r.Receive)
	} else {
		printPath(&b, "path", f, &r.Local)
	}
	fmt.Fprintf(&b, "a freed slot is known after %s\n", r.Credit)
	return b.String()
}

func printPath(b *strings.Builder, what string, f *fabric.Fabric, p *fabric.Path) {
	if len(p.Ports) == 0 {
		fmt.Fprintf(b, "%s: the SM writes there itself\n", what)
		return
	}
	fmt.Fprintf(b, "%s:\n", what)
	for i, id := range p.Ports {
		note := ""
		if i < p.Inject {
			note = "booked at injection"
		}
		if p.Latency[i] > 0 {
			note = strings.TrimPrefix(note+", then "+p.Latency[i].String(), ", ")
		}
		fmt.Fprintf(b, "%s\n", strings.TrimRight(fmt.Sprintf("  %-22s  %s", f.PortName(id), note), " "))
	}
}

func shape(t *testing.T, d *datadriven.TestData, f *fabric.Fabric) string {
	t.Helper()
	var comm []int
	d.ScanArgs(t, "comm", &comm)
	var b strings.Builder
	for i, g := range f.Shape(comm).Nodes {
		fmt.Fprintf(&b, "node %d: ranks %v, heads of its rails %v\n", i, g.Ranks, g.Heads)
	}
	return b.String()
}
