package draw

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/railyard/railyard/emu/machine"
	"github.com/railyard/railyard/emu/machine/machinetest"
	"github.com/railyard/railyard/emu/network"
	"github.com/railyard/railyard/shaping"
)

// server is a machine of two sockets with a PCIe switch, GPU and NIC each, its
// GPUs joined by planes, or one to one where there are none.
func server(planes int) *machine.Machine {
	m := &machine.Machine{Name: "box", Sockets: make([]machine.Socket, 2), NUMA: []machine.NUMA{{Nodes: "0"}, {Socket: 1, Nodes: "1"}},
		SocketLinks: []machine.SocketLink{{B: 1}}, Planes: make([]machine.Plane, planes)}
	for i := range 2 {
		slot := machine.Slot{Gen: 5, Lanes: 16}
		m.Bridges = append(m.Bridges, machine.Bridge{PCI: machine.PCI{At: machine.OnNUMA(i), Slot: slot}})
		m.GPUs = append(m.GPUs, machine.GPU{PCI: machine.PCI{At: machine.OnBridge(i), Slot: slot}})
		m.NICs = append(m.NICs, machine.NIC{PCI: machine.PCI{At: machine.OnBridge(i)}, Speed: 400 * shaping.Gbps})
		for p := range planes {
			m.NVLinks = append(m.NVLinks, machine.NVLink{GPU: i, Plane: true, To: p, Count: 9, Rate: 25 * shaping.GBps})
		}
	}
	if planes == 0 {
		m.NVLinks = []machine.NVLink{{To: 1, Count: 3, Rate: 25 * shaping.GBps}}
	}
	return m
}

func joined(t testing.TB, shape network.Shape, nodes, nics, radix int) *network.Network {
	t.Helper()
	var hosts []network.Host
	for n := range nodes {
		for i := range nics {
			hosts = append(hosts, network.Host{Node: n, NIC: i})
		}
	}
	n, err := network.New(network.Config{Shape: shape, Rate: 49 * shaping.GBps, Radix: radix, Hop: shaping.Nanosecond}, hosts)
	if err != nil {
		return nil
	}
	return n
}

// TestGolden draws two small clusters: draw FORMAT, nodes= and planes=.
func TestGolden(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			nodes, planes := 2, 2
			d.MaybeScanArgs(t, "nodes", &nodes)
			d.MaybeScanArgs(t, "planes", &planes)
			g := Cluster("a \"small\" <cluster>", []Group{{Count: nodes, Machine: server(planes)}}, joined(t, network.RailOptimized, nodes, 2, 64), 400*shaping.Gbps, 4)
			switch d.Cmd {
			case "dot":
				return string(g.DOT())
			case "mermaid":
				return string(g.Mermaid())
			}
			return string(g.SVG())
		})
	})
}

// TestWhole: whatever the network and the number of servers, every device and
// switch appears once, by itself or within the number that a box stands for; links
// end at boxes that exist; and all cables are there.
func TestWhole(t *testing.T) {
	drawn := 0
	for shape := network.Single; shape <= network.Torus; shape++ {
		for _, nodes := range []int{1, 2, 4, 5, 33, 100} {
			net := joined(t, shape, nodes, 2, 64)
			if net == nil {
				continue
			}
			drawn++
			name := fmt.Sprintf("%v of %d", shape, nodes)
			g := Cluster(name, []Group{{Count: nodes, Machine: server(2)}}, net, 400*shaping.Gbps, 4)
			sound(t, name, g)
			switches, servers, cables, trunks := 0, 0, 0, 0
			for _, b := range g.Boxes {
				switch {
				case b.Kind == Switch || b.Kind == More && b.Tier >= 0:
					switches += b.Stands
				case b.Kind == Server || b.Kind == More:
					servers += b.Stands
				}
			}
			for _, l := range g.Links {
				switch l.Wire {
				case Cable:
					cables += l.Count
				case Trunk:
					trunks += l.Count
				}
			}
			if switches != len(net.Switches) || servers != nodes || cables != net.HostCables || trunks > net.TrunkCables {
				t.Errorf("%s: %d switches, %d servers, %d and %d cables; want %d, %d, %d, %d", name, switches, servers, cables, trunks,
					len(net.Switches), nodes, net.HostCables, net.TrunkCables)
			}
		}
	}
	if drawn < 20 {
		t.Errorf("only %d networks could be built", drawn)
	}
}

// TestAnyMachine draws machines of all kinds.
func TestAnyMachine(t *testing.T) {
	for seed := range uint64(150) {
		m := machinetest.Draw(rand.New(rand.NewPCG(seed, 4)))
		g := Cluster("any", []Group{{Count: 1, Machine: &m}}, nil, 0, 4)
		name := fmt.Sprintf("seed %d", seed)
		sound(t, name, g)
		gpus, nics, planes := 0, 0, 0
		for _, b := range g.Boxes {
			switch b.Kind {
			case GPU:
				gpus++
			case NIC:
				nics++
			case Plane:
				planes += b.Stands
			}
		}
		if gpus != len(m.GPUs) || nics != len(m.NICs) || planes != len(m.Planes) {
			t.Errorf("%s: %d GPUs, %d NICs, %d planes; the machine has %d, %d, %d", name, gpus, nics, planes, len(m.GPUs), len(m.NICs), len(m.Planes))
		}
	}
}

// sound checks a graph and its three pictures.
func sound(t *testing.T, name string, g *Graph) {
	t.Helper()
	ids := map[string]bool{}
	for i, b := range g.Boxes {
		if ids[b.ID] || b.Parent >= i {
			t.Fatalf("%s: box %d, %s, twice or before its parent", name, i, b.ID)
		}
		ids[b.ID] = true
	}
	for _, l := range g.Links {
		if l.A < 0 || l.B < 0 || l.A >= len(g.Boxes) || l.B >= len(g.Boxes) || l.A == l.B || l.Count < 1 {
			t.Fatalf("%s: link %+v", name, l)
		}
	}
	l := arrange(g)
	l.nested(t, name)
	l.apart(t, name)
	svg, dot, mermaid := g.SVG(), string(g.DOT()), string(g.Mermaid())
	if !bytes.Equal(svg, g.SVG()) {
		t.Fatalf("%s: drawn twice, two pictures", name)
	}
	drawnOnce(t, name, svg, ids)
	for id := range ids { // order: all are looked for
		if strings.Count(dot, `"`+id+`" [`)-strings.Count(dot, `-- "`+id+`" [`)+strings.Count(dot, `"cluster_`+id+`" {`) != 1 {
			t.Fatalf("%s: %s is not in the DOT file once", name, id)
		}
		if strings.Count(mermaid, " "+id+"[") != 1 {
			t.Fatalf("%s: %s is not in the Mermaid file once", name, id)
		}
	}
}

// drawnOnce reads an SVG back: it is XML, has each box once, and its lines end at
// boxes.
func drawnOnce(t *testing.T, name string, svg []byte, ids map[string]bool) {
	t.Helper()
	seen := map[string]int{}
	for d := xml.NewDecoder(bytes.NewReader(svg)); ; {
		tok, err := d.Token()
		if tok == nil {
			if err.Error() != "EOF" {
				t.Fatalf("%s: %v", name, err)
			}
			break
		}
		e, ok := tok.(xml.StartElement)
		if !ok {
			continue
		}
		for _, a := range e.Attr {
			switch {
			case a.Name.Local == "id":
				seen[a.Value]++
			case strings.HasPrefix(a.Name.Local, "data-") && !ids[a.Value]:
				t.Fatalf("%s: a line ends at %q", name, a.Value)
			case a.Name.Local == "href":
				t.Fatalf("%s: needs %s", name, a.Value)
			}
		}
	}
	for id := range ids { // order: all are looked for
		if seen[id] != 1 {
			t.Fatalf("%s: %s is drawn %d times", name, id, seen[id])
		}
	}
}

// nested: boxes lie within their parents and beside each other.
func (l *layout) nested(t *testing.T, name string) {
	t.Helper()
	for p, kids := range l.kids {
		for k, i := range kids {
			r := l.at[i]
			if out := (rect{0, 0, l.w, l.h}); p > 0 {
				out = l.at[p-1]
				if !holds(out, r) {
					t.Fatalf("%s: %s %v sticks out of %s %v", name, l.Boxes[i].ID, r, l.Boxes[p-1].ID, out)
				}
			} else if !holds(out, r) {
				t.Fatalf("%s: %s %v is off the picture %v", name, l.Boxes[i].ID, r, out)
			}
			for _, j := range kids[:k] {
				if meet(r, l.at[j]) {
					t.Fatalf("%s: %s %v and %s %v overlap", name, l.Boxes[i].ID, r, l.Boxes[j].ID, l.at[j])
				}
			}
		}
	}
}

// apart: no two labels overlap, none leaves the picture.
func (l *layout) apart(t *testing.T, name string) {
	t.Helper()
	for i := range l.texts {
		r := l.texts[i].bounds()
		if !holds(rect{0, 0, l.w, l.h}, r) {
			t.Fatalf("%s: %q is off the picture", name, l.texts[i].s)
		}
		for j := range i {
			if meet(r, l.texts[j].bounds()) {
				t.Fatalf("%s: %q %v and %q %v overlap", name, l.texts[i].s, r, l.texts[j].s, l.texts[j].bounds())
			}
		}
	}
}

func holds(a, b rect) bool {
	return b.x >= a.x && b.y >= a.y && b.x+b.w <= a.x+a.w && b.bottom() <= a.bottom()
}

func meet(a, b rect) bool {
	return a.x < b.x+b.w && b.x < a.x+a.w && a.y < b.bottom() && b.y < a.bottom()
}

// TestRailsAreAligned: in a rail-optimised network of a server's width the leaves
// stand in the order of the rails, and so do the NICs below them.
func TestRailsAreAligned(t *testing.T) {
	l := arrange(Cluster("rails", []Group{{Count: 2, Machine: server(2)}}, joined(t, network.RailOptimized, 2, 2, 64), 400*shaping.Gbps, 4))
	for _, k := range l.Links {
		if k.Wire != Cable {
			continue
		}
		for _, m := range l.Links {
			if m.Wire == Cable && l.Boxes[m.A].Parent != l.Boxes[k.A].Parent && sameServer(l, m.A, k.A) &&
				(l.at[m.A].x < l.at[k.A].x) != (l.at[m.B].x < l.at[k.B].x) {
				t.Errorf("%s and %s cross on the way to their leaves", l.Boxes[m.A].ID, l.Boxes[k.A].ID)
			}
		}
	}
}

func sameServer(l *layout, a, b int) bool {
	for l.Boxes[a].Parent >= 0 {
		a = l.Boxes[a].Parent
	}
	return l.within(b, a)
}

// A network that somebody listed is drawn by how far its switches are from servers,
// however it is listed; a ring of switches with servers stays a row.
func TestListedNetworksHaveTiers(t *testing.T) {
	for _, tc := range []struct {
		names []string
		links []network.Cable
		hosts []int // the switch of each
		want  string
	}{
		{[]string{"core", "spine", "leaf0", "leaf1"}, []network.Cable{{A: 0, B: 1, Count: 1}, {A: 1, B: 2, Count: 1}, {A: 1, B: 3, Count: 1}}, []int{2, 3}, "2 1 0 0"},
		{[]string{"a", "b", "c"}, []network.Cable{{A: 0, B: 1, Count: 1}, {A: 1, B: 2, Count: 1}, {A: 0, B: 2, Count: 1}}, []int{0, 1, 2}, "0 0 0"},
	} {
		var hosts []network.Host
		for node, at := range tc.hosts {
			hosts = append(hosts, network.Host{Node: node, Switch: at})
		}
		n, err := network.New(network.Config{Shape: network.Custom, Rate: 49 * shaping.GBps, Radix: 64, Hop: 305 * shaping.Nanosecond, Switches: tc.names, Links: tc.links}, hosts)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Trim(fmt.Sprint(tiersOf(n)), "[]"); got != tc.want {
			t.Errorf("%v: tiers %s, want %s", tc.names, got, tc.want)
		}
		sound(t, "listed", Cluster("listed", []Group{{Count: len(hosts), Machine: server(1)}}, n, 400*shaping.Gbps, 4))
	}
}
