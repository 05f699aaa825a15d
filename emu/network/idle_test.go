package network

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/railyard/railyard/shaping"
)

// TestCablesAreThePools: what can be contended carries as much as the cables that
// are counted, for any size, unit and ratio, leaves that are partly filled included,
// and no ratio is exceeded. With a NIC a server a rail-optimised network and a fat
// tree are one and the same.
func TestCablesAreThePools(t *testing.T) {
	for _, radix := range []int{8, 10, 64} {
		for _, over := range []int{1, 2, 3, 5, 8, 13} {
			for _, unit := range []int{0, 1, 3, 4} {
				for _, nodes := range []int{1, 2, 5, 8, 13, 37, 64, 70, 130} {
					what := fmt.Sprintf("%d servers, units of %d, radix %d, %d:1", nodes, unit, radix, over)
					for _, r := range []Routing{Adaptive, Static} {
						rail := cabled(t, what, Config{Shape: RailOptimized, Routing: r, Radix: radix, Unit: unit, Oversubscription: over}, nodes, 1)
						tree := cabled(t, what, Config{Shape: FatTree, Routing: r, Radix: radix, PerSwitch: unit, Oversubscription: over}, nodes, 1)
						cabled(t, what, Config{Shape: RailOptimized, Routing: r, Radix: radix, Unit: unit, Oversubscription: over}, nodes, 3)
						cabled(t, what, Config{Shape: RailOnly, Routing: r, Radix: radix, Unit: unit, Oversubscription: over}, nodes, 3)
						if (rail == nil) != (tree == nil) || rail != nil && !same(rail, tree) {
							t.Fatalf("%s, %v: rail-optimised and fat tree differ", what, r)
						}
					}
				}
			}
		}
	}
}

// cabled builds a network, nil where its switches are too small, and compares ports
// with cables.
func cabled(t *testing.T, what string, c Config, nodes, nics int) *Network {
	t.Helper()
	c.Rate = 49 * shaping.GBps
	n, err := New(c, hosts(nodes, nics))
	if err != nil {
		return nil
	}
	carry := func(down bool) (sum shaping.Rate) {
		for _, p := range n.Ports {
			if strings.Contains(p.Name, "/down") == down {
				sum += p.Rate
			}
		}
		return sum
	}
	b := n.Bill()
	if want := n.Rate * shaping.Rate(b.TrunkCables); len(n.Ports) > 0 && (carry(false) != want || carry(true) != want) {
		t.Fatalf("%s, %v of %d NICs, %v: ports carry %v up and %v down, %d cables %v", what, c.Shape, nics, c.Routing, carry(false), carry(true), b.TrunkCables, want)
	}
	hang, up := make([]int, len(n.Switches)), make([]int, len(n.Switches))
	for i := range n.Hosts {
		hang[n.Leaf(i)]++
	}
	for _, k := range n.Trunks() {
		up[k.A] += k.Cables
	}
	for i := range n.Switches[:b.Leaves] {
		if b.TrunkCables > 0 && hang[i] > up[i]*c.Oversubscription {
			t.Fatalf("%s, %v of %d NICs: %d hosts of %s have %d links up", what, c.Shape, nics, hang[i], n.Switches[i].Name, up[i])
		}
		if n.Switches[i].Used > n.Radix {
			t.Fatalf("%s, %v of %d NICs: %s uses %d ports", what, c.Shape, nics, n.Switches[i].Name, n.Switches[i].Used)
		}
	}
	return n
}

// same reports whether two networks are alike but for names.
func same(a, b *Network) bool {
	if a.Bill() != b.Bill() || !slices.EqualFunc(a.Ports, b.Ports, func(p, q Port) bool { return p.Rate == q.Rate }) {
		return false
	}
	for from := range a.Hosts {
		for to := range a.Hosts {
			p, _ := a.Path(from, to, 7)
			q, _ := b.Path(from, to, 7)
			if from != to && (!slices.Equal(p.Ports, q.Ports) || !slices.Equal(p.Latency, q.Latency)) {
				return false
			}
		}
	}
	return true
}

// A setting that the size of a network leaves without effect is named, and what is
// named moves no message.
func TestIdleSettingsAreNamed(t *testing.T) {
	for _, shape := range []Shape{Single, FatTree, RailOptimized, Dragonfly, Torus} {
		for _, nodes := range []int{2, 5, 30, 70} {
			for r := range numRoutings {
				for over := 1; over <= 3; over += 2 {
					c := Config{Shape: shape, Routing: r, Radix: 16, Oversubscription: over, Rate: 49 * shaping.GBps}
					n, err := New(c, hosts(nodes, 1))
					if err != nil {
						continue
					}
					notes := strings.Join(n.Idle(), "; ")
					// One leaf, one group, or one way.
					leaf := len(n.Switches) == 1
					want := !r.spreads() && (leaf || shape == Torus || shape == Dragonfly && (n.GlobalCables == 0 || r == Valiant && n.way.(*graph).groups < 3))
					if named := strings.Contains(notes, "routing"); named != want {
						t.Errorf("%v of %d, %v: %q; want it named: %v", shape, nodes, r, notes, want)
					}
					if named := strings.Contains(notes, "oversubscription"); named != (over > 1 && leaf) && c.Radix*over/(over+1)%over == 0 {
						t.Errorf("%v of %d, %d:1: %q", shape, nodes, over, notes)
					}
					if c.Routing = Adaptive; r == Valiant {
						c.Routing = Hash
					}
					if other := build(t, c, n.Hosts); want && !sameWays(n, other) {
						t.Errorf("%v of %d, %v: %q, and its ways are not those of %v", shape, nodes, r, notes, c.Routing)
					}
				}
			}
		}
	}
	for unit, want := range map[int]string{3: "", 4: "a leaf with room for 4 NICs has 2 up", 6: ""} { // order: each alone
		n := build(t, Config{Shape: RailOptimized, Radix: 16, Unit: unit, Oversubscription: 3}, hosts(12, 2))
		if got := strings.Join(n.Idle(), "; "); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("units of %d at 3:1: %q, want %q", unit, got, want)
		}
	}
}

// sameWays reports whether all flows pass the same ports.
func sameWays(a, b *Network) bool {
	for from := range a.Hosts {
		for to := range a.Hosts {
			for flow := range uint64(3) {
				p, _ := a.Path(from, to, flow)
				q, _ := b.Path(from, to, flow)
				if from != to && !slices.Equal(p.Ports, q.Ports) {
					return false
				}
			}
		}
	}
	return true
}
