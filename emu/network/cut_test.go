package network_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/railyard/railyard/emu/network"
	"github.com/railyard/railyard/shaping"
)

// networks visits networks of every shape and routing, of one plane and of two.
func networks(t *testing.T, visit func(t *testing.T, n *network.Network)) {
	shapes := []network.Shape{network.Single, network.FatTree, network.RailOptimized, network.RailOnly, network.Dragonfly, network.DragonflyPlus, network.Torus}
	routings := []network.Routing{network.Adaptive, network.Static, network.Hash, network.Valiant}
	for _, shape := range shapes {
		for _, routing := range routings {
			for _, c := range [][3]int{{4, 8, 1}, {9, 8, 1}, {9, 8, 2}, {70, 8, 1}, {70, 8, 2}} {
				var hosts []network.Host
				for i := range 2 * c[0] {
					hosts = append(hosts, network.Host{Node: i / 2, NIC: i % 2})
				}
				n, err := network.New(network.Config{Shape: shape, Routing: routing, Rate: 50 * shaping.GBps, Radix: c[1] * c[2], Planes: c[2],
					Hop: 300 * shaping.Nanosecond, Pools: true, Seed: 7}, hosts)
				if err != nil {
					continue // too small a switch; the shapes' own tests say which
				}
				t.Run(fmt.Sprintf("%v/%v/%d nodes/%d planes", shape, routing, c[0], c[2]), func(t *testing.T) { visit(t, n) })
			}
		}
	}
}

// dead returns the ports of which nothing is left.
func dead(cuts []network.Cut) []int {
	var ports []int
	for _, c := range cuts {
		if c.Port != network.Own && c.Lost == c.Of {
			ports = append(ports, c.Port)
		}
	}
	return ports
}

// TestCutsAddUp: every cable's cut is part of what its switches lose, and all
// switches together lose each link between switches twice.
func TestCutsAddUp(t *testing.T) {
	networks(t, func(t *testing.T, n *network.Network) {
		links := map[int]int{} // port → of how many links
		lost := map[int]int{}
		for plane := range n.Planes {
			for i := range n.Switches {
				for _, c := range n.CutSwitch(plane, i) {
					if c.Lost < 1 || c.First < 0 || c.First+c.Lost > c.Of {
						t.Fatalf("cut %+v", c)
					}
					if c.Host < 0 {
						links[c.Port], lost[c.Port] = c.Of, lost[c.Port]+c.Lost
					}
				}
			}
		}
		cables := 0
		for _, k := range n.Trunks() {
			cuts := n.CutTrunk(0, k, k.Cables)
			for _, c := range cuts {
				cables += c.Lost
			}
			if one := n.CutTrunk(0, k, 1); len(cuts) == 0 || len(one) != 2 || one[0].Lost != 1 || one[1].Lost != 1 {
				t.Fatalf("trunk %+v: all %+v, one %+v", k, cuts, one)
			}
		}
		if cables != 2*n.TrunkCables {
			t.Errorf("cables cut %d, want %d, each both ways", cables, 2*n.TrunkCables)
		}
		for port, of := range links {
			if lost[port] != 2*of {
				t.Errorf("%s of %d links: switches lose %d, want each at both its ends", n.Ports[port].Name, of, lost[port])
			}
		}
	})
}

// TestAroundAvoids: round a dead switch or cable all flows find a way that are
// joined without it, and those that did not go by it keep theirs.
func TestAroundAvoids(t *testing.T) {
	networks(t, func(t *testing.T, n *network.Network) {
		for i := range n.Switches {
			cuts := n.CutSwitch(0, i)
			if ports := dead(cuts); len(ports) > 0 {
				avoids(t, n, n.Switches[i].Name, ports, func(a, b int) bool { return n.Planes > 1 || joined(n, i, network.Trunk{}, a, b) })
			}
		}
		for _, k := range n.Trunks() {
			if ports := dead(n.CutTrunk(0, k, k.Cables)); len(ports) > 0 {
				name := n.Switches[k.A].Name + "-" + n.Switches[k.B].Name
				avoids(t, n, name, ports, func(a, b int) bool { return n.Planes > 1 || joined(n, -1, k, a, b) })
			}
		}
	})
}

func avoids(t *testing.T, n *network.Network, name string, ports []int, joined func(a, b int) bool) {
	t.Helper()
	m := n.Around(ports)
	for from := range n.Hosts {
		to := (from*7 + 5) % len(n.Hosts)
		flow := uint64(from)*31 + 1
		old, ok := n.Path(from, to, flow)
		if from == to || !ok {
			continue
		}
		p, ok := m.Path(from, to, flow)
		hit := func(p network.Path) bool {
			return slices.ContainsFunc(p.Ports, func(port int) bool { return slices.Contains(ports, port) })
		}
		switch {
		case !ok:
			t.Fatalf("%s dead: no way from %d to %d", name, from, to)
		case !hit(old) && !slices.Equal(old.Ports, p.Ports):
			t.Errorf("%s dead: the way from %d to %d changed, which did not go by it", name, from, to)
		case hit(p) && joined(n.Leaf(from), n.Leaf(to)):
			t.Errorf("%s dead: the way from %d to %d goes by it still: %v", name, from, to, p.Ports)
		}
		if len(p.Latency) != len(p.Ports)+1 {
			t.Errorf("%s dead: %d latencies for %d ports", name, len(p.Latency), len(p.Ports))
		}
	}
}

// joined reports whether two switches are joined without one switch and one
// trunk, as a search of its own finds.
func joined(n *network.Network, without int, cut network.Trunk, a, b int) bool {
	if a == without || b == without {
		return false
	}
	seen := map[int]bool{a: true}
	for grew := true; grew; {
		grew = false
		for _, k := range n.Trunks() {
			if k.A == without || k.B == without || k == cut || seen[k.A] == seen[k.B] {
				continue
			}
			seen[k.A], seen[k.B], grew = true, true, true
		}
	}
	return seen[b]
}

// TestPoolsCostNothing: with ports that nothing contends for, ways are as long.
func TestPoolsCostNothing(t *testing.T) {
	networks(t, func(t *testing.T, n *network.Network) {
		c := n.Config
		c.Pools, c.Rate = false, 50*shaping.GBps
		bare, err := network.New(c, n.Hosts)
		if err != nil {
			t.Fatal(err)
		}
		for from := range n.Hosts {
			for to := range n.Hosts {
				a, ok := n.Path(from, to, 3)
				b, ok2 := bare.Path(from, to, 3)
				if from != to && (ok != ok2 || sum(a) != sum(b) || a.Switches != b.Switches) {
					t.Fatalf("from %d to %d: %+v, without pools %+v", from, to, a, b)
				}
			}
		}
	})
}

func sum(p network.Path) (all shaping.Duration) {
	for _, l := range p.Latency {
		all += l
	}
	return all
}
