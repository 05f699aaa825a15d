package fabric_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
)

// TestWithoutForwarding: GPU 0 sends to GPU 13, on rail 5. With PXN it does so by
// GPU 5 and NIC 5; without, by its own NIC and across rails; and where nothing may
// leave its rail, by NIC 5 over PCIe, which is too far to read GPU 0's memory.
func TestWithoutForwarding(t *testing.T) {
	for _, tc := range []struct {
		pxn       emu.PXN
		cross     emu.CrossNIC
		proxy     int
		local     string // a port on the way to what the NIC reads
		from, to  string
		sendRails [2]int
	}{
		{pxn: emu.PXNOn, proxy: 5, local: "node0/gpu5/nvlink-in", from: "node0/nic5/out", to: "node1/nic5/in", sendRails: [2]int{5, 5}},
		{pxn: emu.PXNOff, proxy: 0, from: "node0/nic0/out", to: "node1/nic5/in", sendRails: [2]int{0, 5}},
		{pxn: emu.PXNOff, cross: emu.CrossNever, proxy: 0, local: "node0/numa0/dram-in", from: "node0/nic5/out", to: "node1/nic5/in", sendRails: [2]int{5, 5}},
	} {
		c := groups(emu.Group{Count: 2})
		c.Fabric.PXN, c.Fabric.CrossNIC = tc.pxn, tc.cross
		f := build(t, c)
		r := f.Route(0, 13, 5, collective.Simple)
		var names []string
		for _, p := range slices.Concat(r.Local.Ports, r.Wire.Ports) {
			names = append(names, f.PortName(p))
		}
		from, to := f.Rails(0, 13, 5)
		if r.SendProxy != tc.proxy || tc.local != "" && !slices.Contains(names, tc.local) || !slices.Contains(names, tc.from) || !slices.Contains(names, tc.to) || [2]int{from, to} != tc.sendRails {
			t.Errorf("pxn %d, cross %q: proxy %d, rails %d to %d, %v", tc.pxn, tc.cross, r.SendProxy, from, to, names)
		}
	}
}

// TestIsolatedRails: what needs rails to be joined is refused where they are not,
// with what to do about it.
func TestIsolatedRails(t *testing.T) {
	for _, tc := range []struct {
		pxn   emu.PXN
		cross emu.CrossNIC
		says  string
	}{
		{emu.PXNDefault, emu.CrossDefault, ""}, {emu.PXNOn, emu.CrossIfFaster, ""}, {emu.PXNOff, emu.CrossNever, ""},
		{emu.PXNOff, emu.CrossDefault, "leave pxn on, or set crossNic: 0"}, {emu.PXNOn, emu.CrossAlways, "crossNic 1 (NCCL_CROSS_NIC=1)"},
	} {
		railOnly := groups(emu.Group{Count: 2})
		railOnly.Fabric.Kind = "rail-only"
		for _, c := range []emu.Cluster{railOnly, listedRails(emu.Group{Count: 2})} {
			c.Fabric.PXN, c.Fabric.CrossNIC = tc.pxn, tc.cross
			switch _, err := fabric.New(c); {
			case tc.says == "" && err != nil:
				t.Errorf("%s, pxn %d, cross %q: %v", c.Fabric.Kind, tc.pxn, tc.cross, err)
			case tc.says != "" && (err == nil || !strings.Contains(err.Error(), tc.says)):
				t.Errorf("%s, pxn %d, cross %q: %v, want %q", c.Fabric.Kind, tc.pxn, tc.cross, err, tc.says)
			}
		}
	}
}

// listedRails is a cluster whose fabric lists a switch for each NIC of a node, and no
// links between them.
func listedRails(g emu.Group) emu.Cluster {
	c := groups(g)
	c.Fabric.Kind = emu.KindCustom
	for range 8 {
		c.Fabric.Switches = append(c.Fabric.Switches, "r"+string(rune('0'+len(c.Fabric.Switches))))
	}
	c.Groups[0].NICs, c.Groups[0].Switches = 8, c.Fabric.Switches
	return c
}

// TestListedRailsEndWhereTheyBegin: switches that no link joins are rails, whatever
// the fabric's kind, and every way is on one of them. Rails that nodes do not agree
// on are refused.
func TestListedRailsEndWhereTheyBegin(t *testing.T) {
	f := build(t, listedRails(emu.Group{Count: 3, NoGDR: true}))
	for src := range 8 {
		for dst := 8; dst < f.GPUs(); dst++ {
			for channel := range 16 {
				if from, to := f.Rails(src, dst, channel); from != to {
					t.Fatalf("GPU %d to %d on channel %d: from rail %d to %d", src, dst, channel, from, to)
				}
				f.Route(src, dst, channel, collective.Simple)
			}
		}
	}
	c := listedRails(emu.Group{Count: 2})
	c.Fabric.Links = []emu.FabricLink{{From: "r0", To: []string{"r1"}}}
	if !c.RailsApart() {
		t.Error("two rails of eight are joined, and all count as joined")
	}
	c.Fabric.Links[0].To = c.Fabric.Switches[1:]
	if c.RailsApart() {
		t.Error("all rails are joined, and count as apart")
	}
}

// TestIsolatedRailsEndWhereTheyBegin: where nothing joins the rails a message comes
// in by the rail that it left by, also where another NIC is nearer to the GPU: to
// servers whose NICs do not write GPU memory, and to those without NVLink.
func TestIsolatedRailsEndWhereTheyBegin(t *testing.T) {
	for _, g := range []emu.Group{{Count: 2, NoGDR: true}, {Count: 2, System: "pcie-gen5-l40s"}, {Count: 2, System: "pcie-gen4-4090"}, {Count: 2, System: "dgx-1-v100", NoGDR: true}} {
		c, changed := groups(g), 0
		c.Fabric.Kind = "rail-only"
		f := build(t, c)
		c.Fabric.Kind = "rail-optimized"
		joined := build(t, c)
		_, gpus := f.GPURange(0)
		for src := range gpus {
			for dst := gpus; dst < 2*gpus; dst++ {
				for channel := range 16 {
					from, to := f.Rails(src, dst, channel)
					if from != to {
						t.Fatalf("%s: GPU %d to %d on channel %d leaves by rail %d and comes in by %d", g.System, src, dst, channel, from, to)
					}
					wire := f.Route(src, dst, channel, collective.Simple).Wire.Ports
					if in := f.NICEgress(1, to) + 1; !slices.Contains(wire, in) {
						t.Fatalf("%s: GPU %d to %d on channel %d does not pass %s", g.System, src, dst, channel, f.PortName(in))
					}
					if a, b := joined.Rails(src, dst, channel); a != b {
						changed++
					}
				}
			}
		}
		if changed == 0 {
			t.Errorf("%s: no message would change rails, so nothing was shown", g.System)
		}
	}
}

// TestWhichRingsCross: by default those for which it is faster, since NVLink is
// slower than the NICs, or PXN is off.
func TestWhichRingsCross(t *testing.T) {
	for _, tc := range []struct {
		system string
		fabric emu.Fabric
		want   collective.Cross
	}{
		{"dgx-h100", emu.Fabric{}, collective.KeepRail}, {"h800", emu.Fabric{}, collective.Alternate},
		{"dgx-h100", emu.Fabric{Link: "xdr"}, collective.Alternate},
		{"dgx-h100", emu.Fabric{PXN: emu.PXNOff}, collective.Alternate},
		{"dgx-h100", emu.Fabric{PXN: emu.PXNOff, CrossNIC: emu.CrossNever}, collective.KeepRail},
		{"dgx-h100", emu.Fabric{CrossNIC: emu.CrossAlways}, collective.CrossRail},
		{"h800", emu.Fabric{CrossNIC: emu.CrossNever}, collective.KeepRail}, {"h800", emu.Fabric{Kind: "rail-only"}, collective.KeepRail},
		{"dgx-1-v100", emu.Fabric{}, collective.KeepRail}, {"pcie-gen5-l40s", emu.Fabric{}, collective.Alternate},
	} {
		f := build(t, emu.Cluster{Groups: []emu.Group{{Count: 3, System: tc.system}}, Fabric: tc.fabric})
		if got := f.Shape(f.All()).Cross; got != tc.want {
			t.Errorf("%s, %+v: %d, want %d", tc.system, tc.fabric, got, tc.want)
		}
	}
}

// TestCrossingMeetsTheSpine: the links up of a rail fabric are there as soon as rings
// may take them, and have no port while none do.
func TestCrossingMeetsTheSpine(t *testing.T) {
	for _, tc := range []struct {
		system    string
		cross     emu.CrossNIC
		contended bool
	}{{"dgx-h100", emu.CrossDefault, false}, {"dgx-h100", emu.CrossAlways, true}, {"h800", emu.CrossDefault, true}, {"h800", emu.CrossNever, false}} {
		f := build(t, emu.Cluster{Groups: []emu.Group{{Count: 4, System: tc.system}}, Fabric: emu.Fabric{Oversubscription: 4, CrossNIC: tc.cross}})
		if f.Contended() != tc.contended {
			t.Errorf("%s, cross %q: contended %v", tc.system, tc.cross, f.Contended())
		}
	}
}

// TestCrossingUsesEachNICOnce: where rings cross, each NIC still sends on as many
// channels as another, and where they alternate each message keeps to a rail, but
// for the way back from the last of an odd number of servers.
func TestCrossingUsesEachNICOnce(t *testing.T) {
	for _, cross := range []emu.CrossNIC{emu.CrossAlways, emu.CrossIfFaster} {
		f := build(t, emu.Cluster{Groups: []emu.Group{{Count: 4, System: "h800"}}, Fabric: emu.Fabric{CrossNIC: cross}})
		plan, err := collective.Build("ring", collective.AllReduce, f.Shape(f.All()), collective.Options{Channels: 16})
		if err != nil {
			t.Fatal(err)
		}
		sent, left := map[[2]int]int{}, 0
		for r := range plan.Ranks {
			for _, b := range plan.Rank(r) {
				if to := b.SendTo[0]; f.NodeOf(to) != f.NodeOf(r) {
					from, at := f.Rails(r, to, b.Channel|fabric.OwnNICs)
					sent[[2]int{f.NodeOf(r), from}]++
					if from != at {
						left++
					}
					if route := f.Route(r, to, b.Channel|fabric.OwnNICs, collective.Simple); route.SendProxy != r {
						t.Errorf("rank %d sends by rank %d", r, route.SendProxy)
					}
				}
			}
		}
		for node := range 4 {
			for nic := range 8 {
				if n := sent[[2]int{node, nic}]; n != 2 {
					t.Errorf("cross %q: NIC %d of node %d sends on %d channels of 16, want 2", cross, nic, node, n)
				}
			}
		}
		if want := map[emu.CrossNIC]int{emu.CrossAlways: 64, emu.CrossIfFaster: 0}[cross]; left != want {
			t.Errorf("cross %q: %d messages change rails, want %d", cross, left, want)
		}
	}
}
