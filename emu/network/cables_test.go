package network_test

import (
	"testing"

	"github.com/railyard/railyard/emu/network"
	"github.com/railyard/railyard/shaping"
)

// TestTrunksAddUp: what joins what agrees with the bill, cable by cable, and with
// the ports that every switch uses.
func TestTrunksAddUp(t *testing.T) {
	for _, shape := range []network.Shape{network.Single, network.FatTree, network.RailOptimized, network.RailOnly, network.Dragonfly, network.DragonflyPlus, network.Torus} {
		for _, nodes := range []int{1, 2, 5, 33, 70} {
			for _, radix := range []int{8, 40, 64} {
				trunksAddUp(t, shape, nodes, radix)
			}
		}
	}
}

func trunksAddUp(t *testing.T, shape network.Shape, nodes, radix int) {
	t.Helper()
	var hosts []network.Host
	for n := range nodes {
		for i := range 4 {
			hosts = append(hosts, network.Host{Node: n, NIC: i})
		}
	}
	n, err := network.New(network.Config{Shape: shape, Rate: 49 * shaping.GBps, Radix: radix, Hop: 305 * shaping.Nanosecond}, hosts)
	if err != nil {
		return // too small a switch; the shapes' own tests say which
	}
	used, cables := make([]int, len(n.Switches)), 0
	for i := range hosts {
		used[n.Leaf(i)]++
	}
	for _, k := range n.Trunks() {
		if k.A >= k.B || k.Cables < 1 || n.Switches[k.A].Tier > n.Switches[k.B].Tier {
			t.Fatalf("%v, %d nodes, radix %d: trunk %+v", shape, nodes, radix, k)
		}
		used[k.A] += k.Cables
		used[k.B] += k.Cables
		cables += k.Cables
	}
	if cables != n.TrunkCables {
		t.Errorf("%v, %d nodes, radix %d: %d cables, the bill has %d", shape, nodes, radix, cables, n.TrunkCables)
	}
	for i, s := range n.Switches {
		if used[i] != s.Used {
			t.Errorf("%v, %d nodes, radix %d: %s uses %d ports, the network says %d", shape, nodes, radix, s.Name, used[i], s.Used)
		}
	}
}
