package fabric_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/catalog"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/shaping"
)

// pod returns a slice of so many hosts.
func pod(system string, hosts int, s emu.Slice) emu.Cluster {
	return emu.Cluster{Groups: []emu.Group{{Count: hosts, System: system, Slice: s}}}
}

// TestICIOfAChip: six links a chip, which together are what its maker says: TPU v5p
// and Ironwood 1200 GB/s in both directions.
func TestICIOfAChip(t *testing.T) {
	for system, both := range map[string]shaping.Rate{"tpu-v4": 600, "tpu-v5p": 1200, "tpu-ironwood": 1200} {
		s, err := catalog.LookupSystem(system)
		if err != nil {
			t.Fatal(err)
		}
		f := build(t, pod(system, 16, emu.Slice{}))
		var out, in shaping.Rate
		links := 0
		for id := range fabric.PortID(f.Ports()) {
			p := f.Port(id)
			switch from, to, _ := strings.Cut(p.Name, "/to-"); {
			case from == "slice0/chip-1-2-3":
				out += p.Rate
				links++
			case to == "chip-1-2-3":
				in += p.Rate
			}
		}
		want := (both * shaping.GBps).Permille(s.NVLink.Usable)
		if links != 6 || out+in != want || s.NVLink.Wire*2 != both*shaping.GBps {
			t.Errorf("%s: %d links carry %v out and %v in; want 6, together %v", system, links, out, in, want)
		}
	}
}

// TestWaysOverICI: a way takes a router's latency for each link, goes the shorter
// way round where circuits close a dimension, and about circuits that are dark.
func TestWaysOverICI(t *testing.T) {
	s, err := catalog.LookupSystem("tpu-v4")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name     string
		hosts    int
		s        emu.Slice
		from, to int // GPUs
		links    int
	}{
		{"neighbours of a host", 16, emu.Slice{}, 0, 1, 1},
		{"across a host", 16, emu.Slice{}, 0, 3, 2},
		{"the next host in x", 16, emu.Slice{}, 1, 4, 1},
		{"round the x ring", 16, emu.Slice{}, 0, 5, 1},
		{"along the x row", 16, emu.Slice{Wrap: "yz"}, 0, 5, 3},
		{"round all rings", 16, emu.Slice{}, 0, 63, 3},
		{"along all rows", 16, emu.Slice{Wrap: "none"}, 0, 63, 9},
		{"half round", 32, emu.Slice{}, 0, 4 * 4 * 4, 4},                       // host 16 is at z = 4
		{"about a dark circuit", 16, emu.Slice{Dark: []string{"x0"}}, 0, 5, 3}, // by x = 1 and 2
		{"no circuit of the cube", 16, emu.Slice{Cubes: []int{3}, Dark: []string{"x0@2"}}, 0, 5, 1},
	} {
		f := build(t, pod(s.Name, tc.hosts, tc.s))
		r := f.Route(tc.from, tc.to, 0, collective.Simple)
		if got := len(r.Wire.Ports) - 2; got != tc.links {
			t.Errorf("%s: %d links, want %d", tc.name, got, tc.links)
		}
		latency := shaping.Duration(0)
		for _, l := range r.Wire.Latency {
			latency += l
		}
		hops := shaping.Duration(tc.links) * s.Board.ICI.Hop
		if latency != hops+s.NVLink.Steps.Simple || r.Credit != hops+s.NVLink.Credit {
			t.Errorf("%s: %v there and %v back over %d links", tc.name, latency, r.Credit, tc.links)
		}
		checkWay(t, f, r)
	}
}

// checkWay: each link of a way begins at the chip where the one before ends.
func checkWay(t *testing.T, f *fabric.Fabric, r fabric.Route) {
	t.Helper()
	at := ""
	for _, id := range r.Wire.Ports[1 : len(r.Wire.Ports)-1] {
		_, name, _ := strings.Cut(f.PortName(id), "/")
		from, to, ok := strings.Cut(name, "/to-")
		if !ok || at != "" && from != at {
			t.Errorf("%s after %s", f.PortName(id), at)
		}
		at = to
	}
}

// TestSlicesAreDomains: all chips of a slice count as one node to algorithms, with
// rings of its own; slices are joined by NICs.
func TestSlicesAreDomains(t *testing.T) {
	c := pod("tpu-v4", 16, emu.Slice{})
	c.Groups = append(c.Groups, emu.Group{Count: 2, System: "tpu-v4"}, emu.Group{Count: 1, System: "tpu-v4"}, emu.Group{Count: 1, System: "tpu-v4"})
	f := build(t, c)
	s := f.Shape(f.All())
	if len(s.Nodes) != 4 || len(s.Nodes[0].Ranks) != 64 || len(s.Nodes[1].Ranks) != 8 || len(s.Nodes[3].Ranks) != 4 {
		t.Fatalf("%+v", s.Nodes)
	}
	if a, b, c := len(s.Nodes[0].Rings), len(s.Nodes[1].Rings), len(s.Nodes[2].Rings); a != 6 || b != 2 || c != 2 {
		t.Errorf("%d, %d and %d rings, want 6, 2 and 2", a, b, c)
	}
	for _, to := range []int{64, 72, 76} {
		if r := f.Route(0, to, 0, collective.Simple); !slices.ContainsFunc(r.Wire.Ports, func(id fabric.PortID) bool { return strings.HasSuffix(f.PortName(id), "nic0/out") }) {
			t.Errorf("from chip 0 to chip %d of another slice by no NIC", to)
		}
	}
	half := f.All()[:32]
	if got := f.Shape(half).Nodes[0].Rings; got != nil {
		t.Errorf("half a slice has rings %v", got)
	}
	if got := f.Shape(half[:4]).Nodes[0].Rings; len(got) != 2 { // 2×2 chips of one host
		t.Errorf("a host has rings %v", got)
	}
}

// TestSlicesThatCannotBe: New does not rely on anyone having validated.
func TestSlicesThatCannotBe(t *testing.T) {

	for _, tc := range []struct {
		c    emu.Cluster
		says string
	}{
		{pod("tpu-v4", 3, emu.Slice{}), "make no torus"},
		{pod("tpu-v4", 16, emu.Slice{Torus: []int{4}}), "dimensions"},
		{pod("tpu-v4", 16, emu.Slice{Wrap: "?"}), "in order"},
		{pod("tpu-v4", 32, emu.Slice{Cubes: []int{0, 0}}), "named once"},
		{pod("tpu-v4", 2000, emu.Slice{}), "the largest slice 4096"},
		{pod("dgx-h100", 2, emu.Slice{Wrap: "x"}), "TPUs alone"},
		{pod("tpu-v4", 32, emu.Slice{Wrap: "none", Dark: []string{"z0", "z1", "z2", "z3", "z4", "z5", "z6", "z7", "z8", "z9", "z10", "z11", "z12", "z13", "z14", "z15"}}), "no way"},
	} {
		if _, err := fabric.New(tc.c); err == nil || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%+v: %v, want %q", tc.c.Groups, err, tc.says)
		}
	}
}
