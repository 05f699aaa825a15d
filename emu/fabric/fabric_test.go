package fabric_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/catalog"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/shaping"
)

func groups(g ...emu.Group) emu.Cluster {
	for i := range g {
		if g[i].System == "" {
			g[i].System = "dgx-h100"
		}
	}
	return emu.Cluster{Groups: g}
}

func systems() string {
	var all []string
	for _, s := range catalog.Systems() {
		all = append(all, s.Name)
	}
	return strings.Join(all, ", ")
}

func build(t *testing.T, c emu.Cluster) *fabric.Fabric {
	t.Helper()
	f, err := fabric.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestLatencyAsMeasured holds the catalog's parts against what ib_write_lat says
// of 256 pairs of NICs: 1.79 µs on the same rail of a leaf, 2.40 µs across rails
// or leaves, within 1 %.
func TestLatencyAsMeasured(t *testing.T) {
	const sameRail, otherRail = 1790 * shaping.Nanosecond, 2400 * shaping.Nanosecond
	big := build(t, groups(emu.Group{Count: 33}))
	few := build(t, groups(emu.Group{Count: 1}, emu.Group{Count: 1, NICs: 4}))
	uplink := groups(emu.Group{Count: 2}, emu.Group{Count: 2})
	uplink.Fabric.Oversubscription = 2
	contended := build(t, uplink)
	for _, tc := range []struct {
		name              string
		f                 *fabric.Fabric
		from, to, channel int
		want              shaping.Duration
	}{
		{"same rail, same leaf", big, 0, 8, 0, sameRail},
		{"same rail whichever GPU receives", big, 0, 13, 0, sameRail},
		{"last node of a leaf of 32", big, 0, 31 * 8, 5, sameRail},
		{"first node of the next leaf", big, 0, 32 * 8, 5, otherRail},
		{"another rail", few, 4, 12, 4, otherRail},
		{"another unit", few, 0, 8, 0, otherRail},
		{"another unit over contended uplinks", contended, 0, 16, 0, otherRail},
		{"the same unit of a contended fabric", contended, 0, 8, 0, sameRail},
	} {
		got := shaping.Duration(0)
		r := tc.f.Route(tc.from, tc.to, tc.channel, collective.Simple)
		for _, l := range r.Wire.Latency {
			got += l
		}
		if off := got - tc.want; off > tc.want/100 || off < -tc.want/100 {
			t.Errorf("%s: %v, want %v within 1 %%", tc.name, got, tc.want)
		}
	}
}

// TestSuperPODCounts builds the 127 servers of a SuperPOD of four scalable units:
// whole, over uplinks, and with parts of each server left out.
func TestSuperPODCounts(t *testing.T) {
	su := emu.Group{Count: 32}
	last := emu.Group{Count: 31}
	over := groups(su, su, su, last)
	over.Fabric.Oversubscription = 2
	for _, tc := range []struct {
		name               string
		c                  emu.Cluster
		nodes, gpus, ports int
		contended          bool
	}{
		// A server has 4 ports for each of 8 GPUs and 4 for each of 8 NICs.
		{"whole", groups(su, su, su, last), 127, 1016, 127 * 64, false},
		{"over uplinks", over, 127, 1016, 127*64 + 4*8*2, true},
		{"half the NICs", groups(emu.Group{Count: 127, NICs: 4}), 127, 1016, 127 * 48, false},
		{"as many NICs as GPUs", groups(emu.Group{Count: 127, GPUs: 4}), 127, 508, 127 * 32, false},
	} {
		f := build(t, tc.c)
		if f.Nodes() != tc.nodes || f.GPUs() != tc.gpus || f.Ports() != tc.ports || f.Contended() != tc.contended {
			t.Errorf("%s: %d nodes, %d GPUs, %d ports, contended %v; want %d, %d, %d, %v",
				tc.name, f.Nodes(), f.GPUs(), f.Ports(), f.Contended(), tc.nodes, tc.gpus, tc.ports, tc.contended)
		}
		names := map[string]bool{}
		for id := range int32(f.Ports()) {
			if names[f.PortName(id)] {
				t.Fatalf("%s: two ports have the name %s", tc.name, f.PortName(id))
			}
			names[f.PortName(id)] = true
		}
		if sm := f.PortName(f.SM(tc.gpus-1, 63)); names[sm] || !strings.HasSuffix(sm, "/sm63") {
			t.Errorf("%s: the last SM has the name %s", tc.name, sm)
		}
	}
}

func TestGPUsAndNodes(t *testing.T) {
	f := build(t, groups(emu.Group{Count: 2, GPUs: 3}, emu.Group{Count: 1, GPUs: 8, NICs: 2}))
	for gpu, want := range [][2]int{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}, {2, 0}} {
		if f.NodeOf(gpu) != want[0] || f.Local(gpu) != want[1] {
			t.Errorf("GPU %d is number %d of node %d, want %v", gpu, f.Local(gpu), f.NodeOf(gpu), want)
		}
	}
	if first, n := f.GPURange(2); first != 6 || n != 8 || f.NICs(2) != 2 || f.NICs(0) != 3 {
		t.Errorf("node 2 has GPUs %d+%d and %d NICs, node 0 %d NICs", first, n, f.NICs(2), f.NICs(0))
	}
	if name := f.PortName(f.NICEgress(2, 1)); name != "node2/nic1/out" {
		t.Errorf("NIC 1 of node 2 sends by %s", name)
	}
	if all := f.All(); len(all) != 14 || all[13] != 13 {
		t.Errorf("all GPUs: %v", all)
	}
}

func TestNewReportsEverything(t *testing.T) {
	withFabric := func(c emu.Cluster, f emu.Fabric) emu.Cluster {
		c.Fabric = f
		return c
	}
	for _, tc := range []struct {
		name string
		c    emu.Cluster
		want []string // every line of the error
	}{
		{"no groups", emu.Cluster{}, []string{"cluster: no nodes; declare at least one group with count 1 or more"}},
		{"no nodes", groups(emu.Group{Count: 0}), []string{"cluster: no nodes; declare at least one group with count 1 or more"}},
		{"a group of none", groups(emu.Group{Count: 1}, emu.Group{Count: 0}), []string{"nodes[1].count 0: must be at least 1"}},
		{"less than none", groups(emu.Group{Count: 4}, emu.Group{Count: -2}), []string{"nodes[1].count -2: must be at least 1"}},
		{"system", groups(emu.Group{Count: 1, System: "dgx-h1000"}), []string{`nodes[0].system "dgx-h1000": unknown; allowed are ` + systems()}},
		{"GPUs", groups(emu.Group{Count: 1, GPUs: 9}), []string{"nodes[0].gpus 9: dgx-h100 has 1 to 8"}},
		{"NICs", groups(emu.Group{Count: 1, NICs: -1}), []string{"nodes[0].nics -1: dgx-h100 has 1 to 8"}},
		{"fabric", withFabric(groups(emu.Group{Count: 1}), emu.Fabric{Kind: "ring"}), []string{`fabric "ring": unknown; allowed are rail-optimized, rail-only, single, fat-tree, dragonfly, dragonfly+, torus`}},
		{"link", withFabric(groups(emu.Group{Count: 1}), emu.Fabric{Link: "ndr200"}), []string{`link "ndr200": unknown; allowed are edr, hdr, ndr, xdr, gdr, roce-100, roce-200, roce-400, roce-800, tcp-100, uec-800, slingshot-11, efa, efa-400, efa-800, tcpx, tcpxo`}},
		{"oversubscription", withFabric(groups(emu.Group{Count: 1}), emu.Fabric{Oversubscription: -1}), []string{"fabric.oversubscription -1: must be 1 or more"}},
		{"planes", withFabric(groups(emu.Group{Count: 2}), emu.Fabric{Planes: 3}), []string{"fabric.planes 3: must be 1, 2, 4 or 8, as a port has so many lanes to split into"}},
		{"all at once", withFabric(groups(emu.Group{Count: 1, System: "hgx"}, emu.Group{Count: 1, GPUs: -1, NICs: 9}, emu.Group{Count: -1}),
			emu.Fabric{Kind: "ring", Link: "sdr", Oversubscription: -3}), []string{
			`nodes[0].system "hgx": unknown; allowed are ` + systems(),
			"nodes[1].gpus -1: dgx-h100 has 1 to 8",
			"nodes[1].nics 9: dgx-h100 has 1 to 8",
			"nodes[2].count -1: must be at least 1",
			"fabric.oversubscription -3: must be 1 or more",
			`fabric "ring": unknown; allowed are rail-optimized, rail-only, single, fat-tree, dragonfly, dragonfly+, torus`,
			`link "sdr": unknown; allowed are edr, hdr, ndr, xdr, gdr, roce-100, roce-200, roce-400, roce-800, tcp-100, uec-800, slingshot-11, efa, efa-400, efa-800, tcpx, tcpxo`,
		}},
		// A fat tree of 36-port switches joins 36 × 18 × 18 = 11664 NICs.
		{"too many nodes", withFabric(groups(emu.Group{Count: 1459}), emu.Fabric{Link: "edr"}), []string{
			"fabric rail-optimized of edr, 1459 servers: 11672 NICs: 656 leaves of 36-port switches make 37 pods, and a core joins 36; take fewer NICs, larger switches or oversubscription"}},
	} {
		f, err := fabric.New(tc.c)
		if err == nil || f != nil {
			t.Errorf("%s: %v and no error", tc.name, f)
			continue
		}
		if got := err.Error(); got != strings.Join(tc.want, "\n") {
			t.Errorf("%s:\n%s\nwant\n%s", tc.name, got, strings.Join(tc.want, "\n"))
		}
	}
}

func TestAsManyNodesAsSwitchesJoin(t *testing.T) {
	c := groups(emu.Group{Count: 1458})
	c.Fabric.Link = "edr"
	if f := build(t, c); f.Nodes() != 1458 {
		t.Errorf("%d nodes", f.Nodes())
	}
}

// TestRoutesKeepTheRules draws clusters and pairs of GPUs. What is checked is
// what time rests on: who owns the ports, what is booked at injection, and that
// no bound on what a node may cause is above a way that a message can take.
func TestRoutesKeepTheRules(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var g []emu.Group
		for range 1 + rng.IntN(3) {
			g = append(g, emu.Group{Count: 1 + rng.IntN(40), GPUs: 1 + rng.IntN(8), NICs: 1 + rng.IntN(8)})
		}
		c := groups(g...)
		c.Fabric.Oversubscription = 1 + rng.IntN(3)
		if seed%2 == 1 {
			c.Fabric.Kind = []string{"fat-tree", "dragonfly", "dragonfly+", "torus"}[rng.IntN(4)]
			if c.Fabric.Kind != "fat-tree" {
				c.Fabric.Oversubscription = 1
			}
			c.Fabric.Routing = []string{"", "static", "hash", "spray"}[rng.IntN(4)]
			c.Fabric.Planes = rng.IntN(3)
		}
		f := build(t, c)
		for range 50 {
			from, to := rng.IntN(f.GPUs()), rng.IntN(f.GPUs())
			p := collective.Protocol(rng.IntN(3))
			r := f.Route(from, to, rng.IntN(16), p)
			a, b := f.NodeOf(from), f.NodeOf(to)
			if r.Remote != (a != b) || f.NodeOf(r.SendProxy) != a || r.RecvProxy != to {
				t.Fatalf("seed %d, GPU %d to %d: %+v", seed, from, to, r)
			}
			checkPath(t, f, &r.Local, a, a, 1)
			if !r.Remote {
				if len(r.Local.Ports) != 2 {
					t.Fatalf("seed %d, GPU %d to %d on one node: %+v", seed, from, to, r.Local)
				}
				continue
			}
			checkPath(t, f, &r.Wire, a, b, 3)
			if handOn := r.Post + r.Wire.Latency[2]; r.Answer > handOn || r.Answer > r.Credit {
				t.Fatalf("seed %d: an answer takes at least %v, but data may be handed on after %v and credits after %v",
					seed, r.Answer, handOn, r.Credit)
			}
		}
	}
}

func checkPath(t *testing.T, f *fabric.Fabric, p *fabric.Path, from, to, inject int) {
	t.Helper()
	if len(p.Ports) == 0 {
		return
	}
	if len(p.Latency) != len(p.Ports) || p.Inject != inject {
		t.Fatalf("%d ports, %d latencies, %d booked at injection; want %d", len(p.Ports), len(p.Latency), p.Inject, inject)
	}
	at := from
	for i, id := range p.Ports {
		owner := f.Port(id).Node
		if owner != at && (i == 0 || p.Latency[i-1] == 0) {
			t.Fatalf("from a port of node %d to %s without latency", at, f.PortName(id))
		}
		if i < inject && owner != from {
			t.Fatalf("%s is booked by node %d, which does not own it", f.PortName(id), from)
		}
		if owner == fabric.Shared && f.Port(p.Ports[i+1]).Node != fabric.Shared && p.Latency[i] < f.LeastHop() {
			t.Fatalf("%v behind %s; %v is said to be the least", p.Latency[i], f.PortName(id), f.LeastHop())
		}
		at = owner
	}
	if at != to || p.Latency[len(p.Latency)-1] != 0 {
		t.Fatalf("ends at a port of node %d, %v before it is at node %d", at, p.Latency[len(p.Latency)-1], to)
	}
}

// TestReactionIsReckonedFromData: the wire's bytes are those of the data and of
// the protocol; what the receiver's SM has to move is the data, and the flags of
// LL.
func TestReactionIsReckonedFromData(t *testing.T) {
	f := build(t, groups(emu.Group{Count: 2}))
	for _, tc := range []struct {
		p    collective.Protocol
		wire shaping.Bytes
		want shaping.Duration // after arrival
	}{
		// post 1 µs, flush 5 µs, 950 B at 40 GB/s, then a post and the wire
		{collective.Simple, 1000, 1_000_000 + 5_000_000 + 23_750 + 1_000_000 + 1_795_000},
		{collective.Simple, 0, 1_000_000 + 5_000_000 + 1_000_000 + 1_795_000},
		// no post, polling 0.3 µs, 500 B of data and as many of flags
		{collective.LL, 1000, 300_000 + 25_000 + 1_000_000 + 1_795_000},
	} {
		r := f.Route(0, 8, 0, tc.p)
		if got := r.Reaction(7, tc.wire, tc.p).Sub(7); got != tc.want {
			t.Errorf("%s, %d B on the wire: reaction after %d ps, want %d", tc.p, tc.wire, got, tc.want)
		}
		if got := r.CreditReaction(7).Sub(7); got != 1_000_000+1_795_000 {
			t.Errorf("%s: reaction to a credit after %d ps", tc.p, got)
		}
	}
}

// Where nothing can be contended there is no port: rails that agree, in one unit
// or without oversubscription, whatever the size. Where links are kept to, there
// are ports even so.
func TestPortsOnlyWhereTheyMatter(t *testing.T) {
	for _, tc := range []struct {
		c    emu.Cluster
		f    emu.Fabric
		want bool
	}{
		{groups(emu.Group{Count: 300}), emu.Fabric{}, false},
		{groups(emu.Group{Count: 2}, emu.Group{Count: 3}), emu.Fabric{}, false},
		{groups(emu.Group{Count: 8}), emu.Fabric{Oversubscription: 2}, false},
		{groups(emu.Group{Count: 8}), emu.Fabric{Oversubscription: 2, Unit: 4}, true},
		{groups(emu.Group{Count: 8}), emu.Fabric{Routing: "static"}, false},
		{groups(emu.Group{Count: 40}), emu.Fabric{Routing: "static"}, true},
		{groups(emu.Group{Count: 8}), emu.Fabric{Link: "roce-400"}, false},
		{groups(emu.Group{Count: 8}), emu.Fabric{Link: "roce-400", Unit: 4}, true},
		{groups(emu.Group{Count: 8}), emu.Fabric{Kind: "single"}, false},
		{groups(emu.Group{Count: 8}), emu.Fabric{Kind: "rail-only", Planes: 2}, false},
		{groups(emu.Group{Count: 8}), emu.Fabric{Kind: "single", Planes: 2, Routing: "hash"}, true},
		{groups(emu.Group{Count: 1}), emu.Fabric{Kind: "torus"}, false},
		{groups(emu.Group{Count: 2}), emu.Fabric{Kind: "torus"}, true},
	} {
		tc.c.Fabric = tc.f
		if got := build(t, tc.c).Contended(); got != tc.want {
			t.Errorf("%d nodes, %+v: contended %v", tc.c.Nodes(), tc.f, got)
		}
	}
}

// Nodes whose NICs are in other places than their peers' meet on unlike rails. On
// a rail-optimised fabric that takes a spine, and is slower where spines are
// short; a rail-only fabric can't.
func TestRailsMisaligned(t *testing.T) {
	c := groups(emu.Group{Count: 1}, emu.Group{Count: 1, NICs: 4})
	c.Fabric.Oversubscription = 2
	f := build(t, c)
	r := f.Route(4, 12, 4, collective.Simple) // rail 4 of node 0, rail 0 of node 1
	var via []string
	for _, id := range r.Wire.Ports {
		if f.Port(id).Node == fabric.Shared {
			via = append(via, f.PortName(id))
		}
	}
	if got := strings.Join(via, " "); got != "unit0/rail4/up unit1/rail0/down" {
		t.Errorf("from rail to rail by %q", got)
	}
	c.Fabric = emu.Fabric{Kind: "rail-only"}
	if _, err := fabric.New(c); err == nil || !strings.Contains(err.Error(), "on channel 4 GPU 0 leaves by NIC 4 of its node and GPU 8 receives by NIC 0 of its own; rails are not joined") {
		t.Errorf("rails that don't meet: %v", err)
	}
}

// On a rail-only fabric every GPU reaches every other: over NVLink to the rail's
// owner, and on its rail from node to node.
func TestRailOnlyForwardsInside(t *testing.T) {
	c := groups(emu.Group{Count: 3})
	c.Fabric.Kind = "rail-only"
	f := build(t, c)
	for from := range f.GPUs() {
		for to := range f.GPUs() {
			for channel := range 8 {
				r := f.Route(from, to, channel, collective.Simple)
				if !r.Remote {
					continue
				}
				if owner, _ := f.GPURange(f.NodeOf(from)); r.SendProxy != owner+channel || (r.SendProxy != from) != (len(r.Local.Ports) > 0) {
					t.Fatalf("GPU %d to %d on channel %d leaves by GPU %d", from, to, channel, r.SendProxy)
				}
			}
		}
	}
}

func TestSetRate(t *testing.T) {
	f := build(t, groups(emu.Group{Count: 1}))
	id := f.NICEgress(0, 3)
	f.SetRate(id, shaping.GBps)
	if f.Port(id).Rate != shaping.GBps || f.Port(f.NICEgress(0, 2)).Rate != 49*shaping.GBps {
		t.Errorf("rates %v and %v", f.Port(id).Rate, f.Port(f.NICEgress(0, 2)).Rate)
	}
}
