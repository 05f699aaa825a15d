package network

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/railyard/railyard/shaping"
)

func hosts(nodes, nics int) []Host {
	var all []Host
	for n := range nodes {
		for k := range nics {
			all = append(all, Host{Node: n, NIC: k})
		}
	}
	return all
}

func build(t *testing.T, c Config, h []Host) *Network {
	t.Helper()
	if c.Rate == 0 {
		c.Rate = 50 * shaping.GBps
	}
	c.Hop = 300 * shaping.Nanosecond
	n, err := New(c, h)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// The tables of the DGX SuperPOD reference architectures. B300 with Q3400: 288
// and 576 servers have more spines than ports ask for (16 and 32), so that the 72
// links of a leaf go evenly to 18 and 36 of them. The 1,296-server row says 9,216
// GPUs, which contradicts its own 10,368 cables; the cables are right.
func TestSuperPOD(t *testing.T) {
	for _, c := range []struct {
		radix, unit, nodes, leaves, spines, cores int
	}{
		{64, 32, 64, 16, 8, 0}, {64, 32, 128, 32, 16, 0}, {64, 32, 256, 64, 32, 0},
		{64, 32, 512, 128, 128, 64}, {64, 32, 1024, 256, 256, 128}, {64, 32, 2048, 512, 512, 256},
		{144, 72, 72, 8, 4, 0}, {144, 72, 144, 16, 8, 0}, {144, 72, 288, 32, 18, 0}, {144, 72, 576, 64, 36, 0}, {144, 72, 1296, 144, 72, 0},
	} {
		n := build(t, Config{Shape: RailOptimized, Radix: c.radix, Unit: c.unit}, hosts(c.nodes, 8))
		b := n.Bill()
		if b.Leaves != c.leaves || b.Spines != c.spines || b.Cores != c.cores || b.HostCables != 8*c.nodes {
			t.Errorf("%d servers: %+v; want %d leaves, %d spines, %d cores, %d cables", c.nodes, b, c.leaves, c.spines, c.cores, 8*c.nodes)
		}
		for _, s := range n.Switches {
			if s.Used > c.radix {
				t.Fatalf("%d servers: %s uses %d of %d ports", c.nodes, s.Name, s.Used, c.radix)
			}
		}
	}
}

// networks of every shape, with every routing that it has.
func networks(t *testing.T) map[string]*Network {
	all := map[string]*Network{}
	for r := range numRoutings {
		for _, c := range []struct {
			Config
			nodes, nics int
		}{
			{Config{Shape: Single, Radix: 64}, 7, 8},
			{Config{Shape: FatTree, Radix: 4}, 3, 1},
			{Config{Shape: FatTree, Radix: 4}, 4, 2},
			{Config{Shape: FatTree, Radix: 4}, 8, 2},
			{Config{Shape: FatTree, Radix: 8, Oversubscription: 3}, 24, 4},
			{Config{Shape: RailOptimized, Radix: 8}, 16, 3},
			{Config{Shape: RailOptimized, Radix: 8, Unit: 2, Oversubscription: 2}, 9, 4},
			{Config{Shape: RailOnly, Radix: 8}, 12, 2},
			{Config{Shape: Dragonfly, Radix: 7}, 18, 2},
			{Config{Shape: DragonflyPlus, Radix: 8}, 20, 4},
			{Config{Shape: Torus, Radix: 16}, 27, 2},
			{Config{Shape: Torus, Radix: 16, Dims: []int{5, 2}}, 9, 1},
			{Config{Shape: Custom, Radix: 8, Switches: []string{"a", "b", "c"}, Links: []Cable{{0, 1, 2, 0, 0}, {1, 2, 1, 0, 0}}}, 3, 2},
		} {
			c.Routing = r
			if r == Valiant && c.Shape != Dragonfly && c.Shape != DragonflyPlus {
				continue
			}
			h := hosts(c.nodes, c.nics)
			for i := range h {
				h[i].Switch = h[i].Node
			}
			all[fmt.Sprintf("%v-%v-%d×%d-%d", c.Shape, r, c.nodes, c.nics, c.Radix)] = build(t, c.Config, h)
		}
	}
	return all
}

// Every NIC reaches every other, whatever the flow, with a latency for each leg,
// no port twice, and one hop of latency a switch.
func TestEverybodyReachesEverybody(t *testing.T) {
	for name, n := range networks(t) { // order: each network is looked at alone
		for a := range n.Hosts {
			for b := range n.Hosts {
				if a == b {
					continue
				}
				for flow := range uint64(3) {
					p, ok := n.Path(a, b, flow)
					if apart := n.Shape == RailOnly && n.Hosts[a].NIC != n.Hosts[b].NIC; ok == apart {
						t.Fatalf("%s: %d to %d joined: %v", name, a, b, ok)
					} else if apart {
						continue
					}
					checkPath(t, name, n, p)
				}
			}
		}
	}
}

func checkPath(t *testing.T, name string, n *Network, p Path) {
	t.Helper()
	var sum shaping.Duration
	seen := map[int]bool{}
	for _, l := range p.Latency {
		sum += l
	}
	for _, port := range p.Ports {
		if seen[port] || port < 0 || port >= len(n.Ports) {
			t.Fatalf("%s: %v goes through a port twice, or one that is not there", name, p)
		}
		seen[port] = true
	}
	if len(p.Latency) != len(p.Ports)+1 || sum != n.Hop*shaping.Duration(p.Switches) {
		t.Fatalf("%s: %+v: a latency for each leg, %v a switch", name, p, n.Hop)
	}
}

// What all hosts send together, each to all others, fits what their networks
// carry: no port has more than its share when nothing is oversubscribed, and
// routing spreads.
func TestFullBisection(t *testing.T) {
	for _, c := range []Config{
		{Shape: FatTree, Radix: 8, Routing: Static}, {Shape: FatTree, Radix: 6, Routing: Static}, {Shape: RailOptimized, Radix: 8, Routing: Static},
	} {
		n := build(t, c, hosts(16, 2))
		load := make([]int, len(n.Ports))
		for a := range n.Hosts {
			for b := range n.Hosts {
				if p, ok := n.Path(a, b, 0); ok && a != b {
					for _, port := range p.Ports {
						load[port]++
					}
				}
			}
		}
		for i, l := range load {
			// Each host sends 31 messages in the time that its NIC has for 31.
			if links := int(n.Ports[i].Rate / n.Rate); l > 31*links {
				t.Errorf("%v: %s has %d messages on %d links; at most 31 each", c.Shape, n.Ports[i].Name, l, links)
			}
		}
	}
}

// Permutations that meet at a spine although others are idle: with a hash some
// flows share a link, with static tables towards spread destinations none do, and
// where routing spreads there is nothing to meet at.
func TestCollisions(t *testing.T) {
	most := func(r Routing) int {
		n := build(t, Config{Shape: FatTree, Radix: 16, Routing: r, Seed: 3}, hosts(64, 1))
		load := map[int]int{}
		worst := 0
		for a := range n.Hosts {
			p, _ := n.Path(a, (a+8)%64, uint64(a)) // all leave their leaf
			for _, port := range p.Ports {
				load[port]++
				worst = max(worst, load[port]*int(n.Rate)/int(n.Ports[port].Rate))
			}
		}
		return worst
	}
	if h, s, a := most(Hash), most(Static), most(Adaptive); h < 2 || s != 1 || a != 0 {
		t.Errorf("most flows on a link: hash %d, static %d, adaptive %d; want some, 1, 0", h, s, a)
	}
}

// Valiant pays with a longer way for not meeting.
func TestValiantGoesByAMiddle(t *testing.T) {
	short := build(t, Config{Shape: Dragonfly, Radix: 7, Routing: Hash}, hosts(72, 1))
	long := build(t, Config{Shape: Dragonfly, Radix: 7, Routing: Valiant}, hosts(72, 1))
	sum := func(n *Network) (all int) {
		for a := range n.Hosts {
			p, _ := n.Path(a, (a+8)%72, uint64(a))
			all += p.Switches
			if p.Switches > 7 {
				t.Errorf("%d switches; at most 7 by a middle", p.Switches)
			}
		}
		return all
	}
	if s, l := sum(short), sum(long); l <= s {
		t.Errorf("switches passed: minimal %d, Valiant %d", s, l)
	}
}

// Straight through a dragonfly a message crosses one global link at most, though
// two may be fewer hops.
func TestMinimalKeepsToTwoGroups(t *testing.T) {
	for _, shape := range []Shape{Dragonfly, DragonflyPlus} {
		n := build(t, Config{Shape: shape, Radix: 8, PerSwitch: 2, Routing: Hash, Global: 1}, hosts(20, 1))
		for a := range 20 {
			for b := range 20 {
				p, _ := n.Path(a, b, uint64(a*24+b))
				var sum shaping.Duration
				for _, l := range p.Latency {
					sum += l
				}
				if long := sum - n.Hop*shaping.Duration(p.Switches); a != b && long > 1 {
					t.Fatalf("%v: %d to %d crosses %d global links", shape, a, b, long)
				}
			}
		}
	}
}

func TestTorusGoesTheShorterWay(t *testing.T) {
	n := build(t, Config{Shape: Torus, Radix: 8, Dims: []int{4, 4, 4}}, hosts(64, 1))
	for a := range 64 {
		for b := range 64 {
			if a == b {
				continue
			}
			want := 1
			for _, stride := range []int{16, 4, 1} {
				d := (a/stride%4 - b/stride%4 + 4) % 4
				want += min(d, 4-d)
			}
			if p, _ := n.Path(a, b, 0); p.Switches != want {
				t.Fatalf("%d to %d: %d switches, want %d", a, b, p.Switches, want)
			}
		}
	}
}

// Rows have no way round, and a missing link is gone about by the fewest hops that
// are left, which a search without coordinates counts.
func TestTorusOfRowsWithLinksMissing(t *testing.T) {
	dims := []int{4, 3, 2}
	at := func(i int) [3]int { return [3]int{i / 6, i / 2 % 3, i % 2} }
	for _, cut := range [][][2]int{nil, {{0, 1}}, {{0, 18}, {8, 6}}} {
		open := []bool{false, true, false}
		n := build(t, Config{Shape: Torus, Radix: 7, Dims: dims, Open: open, Cut: cut}, hosts(24, 1))
		joined := func(a, b int) bool {
			if slices.Contains(cut, [2]int{a, b}) || slices.Contains(cut, [2]int{b, a}) {
				return false
			}
			steps, p, q := 0, at(a), at(b)
			for d, size := range dims {
				gap := max(p[d]-q[d], q[d]-p[d])
				if gap == size-1 && !open[d] {
					gap = min(gap, 1)
				}
				steps += gap
			}
			return steps == 1
		}
		for a := range 24 {
			far := map[int]int{a: 0}
			for queue := []int{a}; len(queue) > 0; queue = queue[1:] {
				for b := range 24 {
					if _, seen := far[b]; !seen && joined(queue[0], b) {
						far[b] = far[queue[0]] + 1
						queue = append(queue, b)
					}
				}
			}
			for b := range 24 {
				if p, ok := n.Path(a, b, 0); a != b && (!ok || len(p.Ports) != far[b] || p.Switches != far[b]+1) {
					t.Fatalf("without %v from %d to %d: %d links, want %d", cut, a, b, len(p.Ports), far[b])
				}
			}
		}
	}
	alone := Config{Shape: Torus, Radix: 7, Rate: 1, Dims: []int{2, 2}, Cut: [][2]int{{0, 1}, {0, 2}}}
	if _, err := New(alone, hosts(4, 1)); err == nil || !strings.Contains(err.Error(), "leave no way") {
		t.Errorf("a switch without links: %v", err)
	}
}

func TestWhatCannotBeBuilt(t *testing.T) {
	for want, c := range map[string]Config{
		"65 NICs on a single switch: it has 64 ports": {Shape: Single, Radix: 64},
		"make 9 pods, and a core joins 4":             {Shape: FatTree, Radix: 4, Unit: 0},
		"joins at most 6 in 3":                        {Shape: Dragonfly, Radix: 4},
		"has room for 8 servers":                      {Shape: Torus, Radix: 8, Dims: []int{2, 4}},
		"1 dimensions are said to be open":            {Shape: Torus, Radix: 8, Dims: []int{5, 13}, Open: []bool{true}},
		"needs 7 ports, and its switch has 6":         {Shape: Torus, Radix: 6},
		"units of 3 servers":                          {Shape: RailOptimized, Radix: 4, Unit: 3},
		"routing valiant: goes by a group":            {Shape: FatTree, Radix: 4, Routing: Valiant},
		"links[0]: 1 times from switch 0 to 0":        {Shape: Custom, Radix: 80, Switches: []string{"a"}, Links: []Cable{{Count: 1}}},
		"a switch of 1 ports at":                      {Shape: Single, Radix: 1},
		"a torus network has no such leaves":          {Shape: Torus, Radix: 16, Oversubscription: 2},
		"a dragonfly+ network has no such leaves":     {Shape: DragonflyPlus, Radix: 16, Oversubscription: 2},
		"which a dragonfly network does not have":     {Shape: Dragonfly, Radix: 16, Unit: 2},
		"a rail-only network has no choice":           {Shape: RailOnly, Radix: 16, PerSwitch: 2},
		"and this is a fat-tree network":              {Shape: FatTree, Radix: 16, Dims: []int{2}},
		"must not be negative":                        {Shape: Single, Radix: 8, Planes: -1},
	} {
		c.Rate = 1
		nodes := 65
		if strings.HasPrefix(want, "make 9") {
			nodes = 33
		}
		if _, err := New(c, hosts(nodes, 1)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v; want %q", c.Shape, err, want)
		}
	}
}
