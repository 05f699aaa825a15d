package fabric_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/shaping"
)

// TestEnginesHaveNames: every engine has a number and a name of its own, SMs and
// ports included; a tree is shared by the channels of its rail.
func TestEnginesHaveNames(t *testing.T) {
	f := build(t, groups(emu.Group{Count: 2, GPUs: 4, NICs: 2}, emu.Group{Count: 1}))
	names := map[string]fabric.PortID{}
	for gpu := range f.GPUs() {
		for _, u := range []collective.Unit{collective.SM, collective.NVSwitch, collective.Multicast, collective.SHARP} {
			for channel := range 64 {
				id, rate := f.Engine(fabric.End{GPU: gpu, Unit: u}, channel)
				name := f.PortName(id)
				if was, ok := names[name]; ok && was != id || rate <= 0 {
					t.Fatalf("%s is number %d and %d; %v", name, was, id, rate)
				}
				names[name] = id
			}
		}
	}
	ids := map[fabric.PortID]bool{}
	for name, id := range names {
		if ids[id] {
			t.Fatalf("number %d has two names, one of them %s", id, name)
		}
		ids[id] = true
	}
	if want := 16*64 + 3*2 + 2 + 2 + 8; len(names) != want {
		t.Errorf("%d engines, want %d: SMs, two a node, a tree a rail", len(names), want)
	}
	for _, tc := range []struct {
		e       fabric.End
		channel int
		want    string
	}{
		{fabric.End{GPU: 5}, 3, "node1/gpu1/sm3"},
		{fabric.End{GPU: 5, Unit: collective.NVSwitch}, 3, "node1/nvswitch/reduce"},
		{fabric.End{GPU: 8, Unit: collective.Multicast}, 0, "node2/nvswitch/multicast"},
		{fabric.End{GPU: 5, Unit: collective.SHARP}, 3, "fabric/rail1/sharp1"},
		{fabric.End{GPU: 5, Unit: collective.SHARP}, 5, "fabric/rail1/sharp1"},
	} {
		if id, _ := f.Engine(tc.e, tc.channel); f.PortName(id) != tc.want {
			t.Errorf("%+v, channel %d: %s, want %s", tc.e, tc.channel, f.PortName(id), tc.want)
		}
	}
}

// TestWaysThroughSwitchesKeepTheirBounds draws clusters and ends: the way into a
// tree books what any send does and no more, the way out books nothing and begins
// with a latency; and nothing comes sooner than the route's bounds say.
func TestWaysThroughSwitchesKeepTheirBounds(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 2))
		c := groups(emu.Group{Count: 1 + rng.IntN(40), GPUs: 1 + rng.IntN(8), NICs: 1}, emu.Group{Count: 1 + rng.IntN(3)})
		c.Fabric.Oversubscription = 1 + rng.IntN(2)
		f := build(t, c)
		for range 50 {
			gpu, root, channel := rng.IntN(f.GPUs()), rng.IntN(f.GPUs()), rng.IntN(20)
			p := collective.Protocol(rng.IntN(2))
			depth := f.Depth([]int{gpu, root})
			sm, tree := fabric.End{GPU: gpu}, fabric.End{GPU: root, Unit: collective.SHARP}
			up, down := f.Between(sm, tree, channel, depth, p), f.Between(tree, sm, channel, depth, p)
			f.Hasten(&up)
			f.Hasten(&down)
			climb := up.Wire.Latency[2]
			if want := shaping.Duration(745+305*depth) * shaping.Nanosecond; climb != want || down.Wire.Lead != want {
				t.Fatalf("seed %d: %v up and %v down through %d switches, want %v", seed, climb, down.Wire.Lead, depth, want)
			}
			if !up.Remote || up.FromSwitch || !up.Wire.InSwitch || up.Wire.Node != f.NodeOf(root) || up.Wire.Inject != 3 ||
				len(up.Wire.Ports) != 3 || up.RecvPost != 0 || up.Receive != 0 {
				t.Fatalf("seed %d: up %+v", seed, up)
			}
			if !down.Remote || !down.FromSwitch || down.Wire.InSwitch || down.Wire.Inject != 0 || len(down.Wire.Ports) != 3 || down.Receive == 0 {
				t.Fatalf("seed %d: down %+v", seed, down)
			}
			// A tree answers with data or a credit, after a climb; a GPU after a post
			// as well.
			if up.Answer > min(up.Credit, down.Wire.Lead) || up.Refill > up.Post+climb || down.Answer > min(up.Post+climb, down.Credit) ||
				down.Refill > down.Wire.Lead {
				t.Fatalf("seed %d: bounds of %+v and %+v", seed, up, down)
			}
		}
	}
}

// TestDepth: one switch between NICs of one leaf, two where a spine joins them.
func TestDepth(t *testing.T) {
	f := build(t, groups(emu.Group{Count: 40}, emu.Group{Count: 1, NICs: 4}))
	for _, tc := range []struct {
		comm []int
		want int
	}{{[]int{0}, 1}, {[]int{0, 9, 8 * 31}, 1}, {[]int{0, 8 * 32}, 2}, {[]int{8 * 39, 8 * 40}, 2}} {
		if got := f.Depth(tc.comm); got != tc.want {
			t.Errorf("GPUs %v: %d switches, want %d", tc.comm, got, tc.want)
		}
	}
}

// TestShapeSaysWhatSwitchesDo: the link decides about SHARP, the systems about
// NVLS.
func TestShapeSaysWhatSwitchesDo(t *testing.T) {
	for link, want := range map[string]bool{"edr": false, "hdr": true, "ndr": true, "xdr": true} {
		c := groups(emu.Group{Count: 2})
		c.Fabric.Link = link
		f := build(t, c)
		if s := f.Shape(f.All()); s.SHARP != want || !s.NVLS || (f.SwitchRate() > 0) != want {
			t.Errorf("%s: SHARP %v, NVLS %v, trees at %v", link, s.SHARP, s.NVLS, f.SwitchRate())
		}
	}
}

// TestJoined: an NVSwitch is reached by the GPUs of its node, a tree by all.
func TestJoined(t *testing.T) {
	f := build(t, groups(emu.Group{Count: 2}))
	for _, u := range []collective.Unit{collective.NVSwitch, collective.Multicast} {
		here, there := fabric.End{GPU: 1, Unit: u}, fabric.End{GPU: 9, Unit: u}
		if err := f.Joined(fabric.End{}, here); err != nil {
			t.Error(err)
		}
		for _, err := range []error{f.Joined(fabric.End{}, there), f.Joined(there, fabric.End{})} {
			if err == nil || !strings.Contains(err.Error(), "GPU 0 of node 0 is not behind the NVSwitch of node 1") {
				t.Errorf("%s of another node: %v", u, err)
			}
		}
	}
	if err := f.Joined(fabric.End{GPU: 9, Unit: collective.SHARP}, fabric.End{}); err != nil {
		t.Error(err)
	}
}

// TestDomainsCompute: the trays of a domain are one node whose NVSwitches compute,
// and reached by all its GPUs; another rack's are not.
func TestDomainsCompute(t *testing.T) {
	for system, trays := range map[string]int{"gb200-nvl72": 18, "gb300-nvl72": 18, "vera-rubin-nvl72": 18, "nvl576": 144} {
		f := build(t, groups(emu.Group{Count: trays + 1, System: system}))
		s := f.Shape(f.All()[:4*trays])
		if len(s.Nodes) != 1 || !s.NVLS {
			t.Errorf("%s: %d nodes, NVLS %v", system, len(s.Nodes), s.NVLS)
		}
		if s := f.Shape(f.All()); len(s.Nodes) != 2 || !s.NVLS {
			t.Errorf("%s, two domains: %d nodes, NVLS %v", system, len(s.Nodes), s.NVLS)
		}
		far, next := fabric.End{GPU: 4*trays - 1, Unit: collective.NVSwitch}, fabric.End{GPU: 4 * trays, Unit: collective.Multicast}
		if err := f.Joined(fabric.End{}, far); err != nil {
			t.Error(err)
		}
		if err := f.Joined(next, fabric.End{}); err == nil || !strings.Contains(err.Error(), "is not behind the NVSwitch of node") {
			t.Errorf("%s: the switch of another domain: %v", system, err)
		}
		if !f.Close(0, far.GPU) || f.Close(0, next.GPU) {
			t.Errorf("%s: GPU 0 is close to GPU %d: %v, to GPU %d: %v", system, far.GPU, f.Close(0, far.GPU), next.GPU, f.Close(0, next.GPU))
		}
	}
}

// TestWaysOfDomainsAreThoseOfANode: to and from a block of the switch that another
// tray hosts a frame takes the same ports and latencies as within a tray, and as
// much of their rate; and nothing comes sooner than the route's bounds say.
func TestWaysOfDomainsAreThoseOfANode(t *testing.T) {
	f := build(t, groups(emu.Group{Count: 3, System: "gb200-nvl72"}))
	link := &f.System(0).NVLink
	for _, u := range []collective.Unit{collective.NVSwitch, collective.Multicast} {
		sm, here, there := fabric.End{GPU: 1}, fabric.End{GPU: 2, Unit: u}, fabric.End{GPU: 9, Unit: u}
		for _, way := range []struct{ near, far fabric.Route }{
			{f.Between(sm, here, 3, 0, collective.Simple), f.Between(sm, there, 3, 0, collective.Simple)},
			{f.Between(here, sm, 3, 0, collective.Simple), f.Between(there, sm, 3, 0, collective.Simple)},
		} {
			a, b := way.near.Local, way.far.Wire
			if way.near.Remote || !way.far.Remote || !way.far.FromSwitch || way.near.SM != way.far.SM || way.near.Credit != way.far.Credit {
				t.Fatalf("%s: near %+v, far %+v", u, way.near, way.far)
			}
			if !slices.Equal(a.Ports, b.Ports) || !slices.Equal(a.Latency, b.Latency) || a.Lead != b.Lead || a.Inject != b.Inject || a.Usable != b.Usable || a.Usable == 0 {
				t.Fatalf("%s: near %+v, far %+v", u, a, b)
			}
			if way.far.Answer > min(link.Credit, link.NVLS.Step/2, link.Steps.LL) || way.far.Refill > way.far.Answer {
				t.Errorf("%s: bounds of %+v", u, way.far)
			}
			// A message of 1000 bytes of data is consumed before anything comes of it.
			r := way.far
			least := shaping.Time(0).Add(r.SM.Time(1000) + r.Answer)
			if at := r.Reaction(0, r.Wire.Bytes(1053), collective.Simple); at != least {
				t.Errorf("%s: an answer to 1000 bytes is not expected before %d ps, want %d", u, at, least)
			}
		}
	}
	if up := f.Between(fabric.End{GPU: 1}, fabric.End{GPU: 9, Unit: collective.NVSwitch}, 0, 0, collective.Simple); !up.Wire.InSwitch || up.Wire.Node != 2 {
		t.Errorf("the way to the switch's block of GPU 9 ends at %+v", up.Wire)
	}
}

// TestTreesMeet: where a switch of Quantum carries one streaming tree at once, two
// communicators meet at a leaf that both hang on; those of Quantum-2 never do.
func TestTreesMeet(t *testing.T) {
	for _, tc := range []struct {
		link, kind string
		a, b       []int
		want       string
	}{
		{"hdr", "", []int{0, 8}, []int{16, 24}, "unit0/rail0"},
		{"hdr", "", []int{0, 8}, []int{32, 40}, ""}, // units of their own
		{"hdr", "", []int{0, 32}, []int{8, 40}, "unit0/rail0"},
		{"hdr", "rail-only", []int{0, 8}, []int{1, 9}, "unit0/rail0"},
		{"ndr", "", []int{0, 8}, []int{16, 24}, ""},
		{"roce-400", "", []int{0, 8}, []int{16, 24}, ""},
	} {
		c := emu.Cluster{Groups: []emu.Group{{Count: 4, System: "dgx-h100"}, {Count: 4, System: "dgx-h100"}}, Fabric: emu.Fabric{Link: tc.link, Kind: tc.kind}}
		f, err := fabric.New(c)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.TreesMeet(tc.a, tc.b); got != tc.want {
			t.Errorf("%s %s: %v and %v meet at %q, want %q", tc.kind, tc.link, tc.a, tc.b, got, tc.want)
		}
	}
}
