package catalog_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu/catalog"
	"github.com/railyard/railyard/shaping"
)

// TestEntriesAreWhole: every entry has a name of its own, all its figures, and
// names what exists.
func TestEntriesAreWhole(t *testing.T) {
	seen := map[string]bool{}
	once := func(what, name string) {
		if name == "" || seen[what+name] || strings.ToLower(name) != name {
			t.Errorf("%s %q: names are lower case and there is one of each", what, name)
		}
		seen[what+name] = true
	}
	for _, l := range catalog.Links() {
		once("link", l.Name)
		if l.SHARP < 0 || l.SHARP > l.Wire || (l.SHARP == 0) != (!strings.HasPrefix(l.About, "InfiniBand") || l.Name == "edr") {
			t.Errorf("link %s: switches reduce %v of %v", l.Name, l.SHARP, l.Wire)
		}
		if l.About == "" || l.Wire <= 0 || l.Usable <= 0 || l.Usable > 1000 || l.NIC <= 0 || l.Switch <= 0 || l.Radix < 2 {
			t.Errorf("link %s: %+v", l.Name, l)
		}
	}
	for _, s := range catalog.Shapes() {
		once("fabric", s.Name)
		if s.Short != "" {
			once("fabric", s.Short)
		}
		if s.About == "" || s.Tiers < 0 {
			t.Errorf("fabric %s: %+v", s.Name, s)
		}
	}
	for _, s := range catalog.Systems() {
		once("system", s.Name)
		system(t, s)
	}
}

func system(t *testing.T, s catalog.System) {
	t.Helper()
	figures := map[string]int64{"gpus": int64(s.GPUs), "nics": int64(s.NICs), "channels": int64(s.SM.Channels),
		"sm": int64(s.SM.Rate), "host": int64(s.SM.Host), "kernel": int64(s.SM.Kernel), "post": int64(s.Proxy.Post), "compute": int64(s.Compute),
		"pcie": int64(s.PCIe.Wire), "pcie gen": int64(s.PCIe.Gen), "pcie credit": int64(s.PCIe.Credit),
		"sockets": int64(s.Board.Sockets), "memory": int64(s.Board.Memory), "between": int64(s.Board.Between)}
	latencies := map[string]catalog.PerProtocol{"pcie": s.PCIe.Steps, "receive": s.Proxy.Receive}
	if s.NVLink != (catalog.NVLink{}) {
		figures["nvlink"], figures["links"], figures["credit"] = int64(s.NVLink.Wire), int64(s.NVLink.Links), int64(s.NVLink.Credit)
		latencies["nvlink"] = s.NVLink.Steps
	}
	for what, l := range latencies {
		figures[what+" simple"], figures[what+" ll"], figures[what+" ll128"] = int64(l.Simple), int64(l.LL), int64(l.LL128)
	}
	for what, n := range figures {
		if n <= 0 {
			t.Errorf("system %s: %s is %d", s.Name, what, n)
		}
	}
	if has := s.Board.Planes > 0 || s.Board.Mesh != ""; has != (s.NVLink.Links > 0) {
		t.Errorf("system %s: %d NVLinks, planes %d, mesh %q", s.Name, s.NVLink.Links, s.Board.Planes, s.Board.Mesh)
	}
	if n := s.NVLink.NVLS; (n == catalog.NVLS{}) != (n.Rate == 0) || n.Rate > 0 && (n.Usable <= 0 || n.Usable > 1000 || n.Step <= 0) {
		t.Errorf("system %s: an NVSwitch that computes has all its figures, another none: %+v", s.Name, n)
	}
	for what, n := range map[string]int64{"nvlink": s.NVLink.Usable, "pcie": s.PCIe.Usable} {
		if n < 0 || n > 1000 || (n == 0) != (what == "nvlink" && s.NVLink.Links == 0) {
			t.Errorf("system %s: %d ‰ of %s are usable", s.Name, n, what)
		}
	}
	// Bounds of windows take the least that an SM moves, which is twice the data in LL.
	if s.SM.LL < 0 || s.SM.LL > s.SM.Rate/2 {
		t.Errorf("system %s: %v of LL, %v at all", s.Name, s.SM.LL, s.SM.Rate)
	}
	// A port carries no more data than its rate.
	if n := s.NVLink.SMUsable; n < 0 || n*catalog.Efficiency(collective.Simple) > 1000*1000 {
		t.Errorf("system %s: SMs get %d ‰ of NVLink", s.Name, n)
	}
	if s.NVLink.Fence < 0 || s.NVLink.NVLS.Fence < 0 {
		t.Errorf("system %s: fences of %v and %v", s.Name, s.NVLink.Fence, s.NVLink.NVLS.Fence)
	}
	if _, err := catalog.LookupLink(s.Link); err != nil {
		t.Errorf("system %s ships with: %v", s.Name, err)
	}
	if _, err := catalog.LookupShape(s.Fabric); err != nil {
		t.Errorf("system %s ships with: %v", s.Name, err)
	}
	if s.About == "" || s.Model == "" {
		t.Errorf("system %s: says nothing about itself", s.Name)
	}
}

func names() string {
	var all []string
	for _, s := range catalog.Systems() {
		all = append(all, s.Name)
	}
	return strings.Join(all, ", ")
}

// TestListsAreCopies: a caller who changes what it got changes nothing.
func TestListsAreCopies(t *testing.T) {
	catalog.Systems()[0].GPUs = 0
	catalog.Links()[0].Wire = 0
	catalog.Shapes()[0].Tiers = 0
	TestEntriesAreWhole(t)
}

func TestLookups(t *testing.T) {
	for _, tc := range []struct {
		name string
		got  func() error
		want string
	}{
		{"system", func() error { _, err := catalog.LookupSystem("h100"); return err }, `system "h100": unknown; allowed are ` + names()},
		{"link", func() error { _, err := catalog.LookupLink("NDR"); return err }, `link "NDR": unknown; allowed are edr, hdr, ndr, xdr, gdr, roce-100, roce-200, roce-400, roce-800, tcp-100, uec-800, slingshot-11, efa, efa-400, efa-800, tcpx, tcpxo`},
		{"empty link", func() error { _, err := catalog.LookupLink(""); return err }, `link "": unknown; allowed are edr, hdr, ndr, xdr, gdr, roce-100, roce-200, roce-400, roce-800, tcp-100, uec-800, slingshot-11, efa, efa-400, efa-800, tcpx, tcpxo`},
		{"fabric", func() error { _, err := catalog.LookupShape("mesh"); return err }, `fabric "mesh": unknown; allowed are rail-optimized, rail-only, single, fat-tree, dragonfly, dragonfly+, torus`},
	} {
		err := tc.got()
		var unknown *catalog.UnknownError
		if !errors.As(err, &unknown) || err.Error() != tc.want || len(unknown.Known) == 0 {
			t.Errorf("%s: %v, want %s", tc.name, err, tc.want)
		}
	}
	long, err := catalog.LookupShape("rail-optimized")
	short, err2 := catalog.LookupShape("rail")
	if err != nil || err2 != nil || long != short {
		t.Errorf("%v, %v; %v, %v", long, err, short, err2)
	}
}

func TestParseFabric(t *testing.T) {
	for _, tc := range []struct{ in, shape, link, err string }{
		{in: "rail-ndr", shape: "rail-optimized", link: "ndr"},
		{in: "rail-optimized-xdr", shape: "rail-optimized", link: "xdr"},
		{in: "rail-only-roce-400", shape: "rail-only", link: "roce-400"},
		{in: "fat-tree-slingshot-11", shape: "fat-tree", link: "slingshot-11"},
		{in: "dragonfly+-ndr", shape: "dragonfly+", link: "ndr"},
		{in: "rail", err: `fabric "rail": must be SHAPE-LINK, and this is a shape alone, for example rail-ndr`},
		{in: "fat-tree", err: `fabric "fat-tree": must be SHAPE-LINK, and this is a shape alone, for example fat-tree-ndr`},
		{in: "rail-only", err: `fabric "rail-only": must be SHAPE-LINK, and this is a shape alone, for example rail-only-ndr`},
		{in: "roce-400", err: `fabric "roce-400": must be SHAPE-LINK, and this is a link alone, for example rail-roce-400`},
		{in: "infiniband", err: `fabric "infiniband": must be SHAPE-LINK, for example rail-ndr`},
		{in: "", err: `fabric "": must be SHAPE-LINK, for example rail-ndr`},
		{in: "-", err: `fabric "": unknown; allowed are rail-optimized, rail-only, single, fat-tree, dragonfly, dragonfly+, torus`},
		{in: "ring-ndr", err: `fabric "ring": unknown; allowed are rail-optimized, rail-only, single, fat-tree, dragonfly, dragonfly+, torus`},
		{in: "rail-", err: `link "": unknown; allowed are edr, hdr, ndr, xdr, gdr, roce-100, roce-200, roce-400, roce-800, tcp-100, uec-800, slingshot-11, efa, efa-400, efa-800, tcpx, tcpxo`},
		{in: "rail-ndr200", err: `link "ndr200": unknown; allowed are edr, hdr, ndr, xdr, gdr, roce-100, roce-200, roce-400, roce-800, tcp-100, uec-800, slingshot-11, efa, efa-400, efa-800, tcpx, tcpxo`},
	} {
		shape, link, err := catalog.ParseFabric(tc.in)
		if tc.err == "" && err != nil || tc.err != "" && (err == nil || err.Error() != tc.err) || shape != tc.shape || link != tc.link {
			t.Errorf("%q: %q, %q, %v; want %q, %q, %s", tc.in, shape, link, err, tc.shape, tc.link, tc.err)
		}
	}
}

// TestMaxNICs: the sizes of fat trees without oversubscription.
func TestMaxNICs(t *testing.T) {
	for _, tc := range []struct{ tiers, radix, want int }{
		{1, 64, 64},       // one switch
		{2, 64, 2048},     // 64 leaves of 32 NICs
		{3, 64, 65_536},   // 64³ ÷ 4
		{3, 40, 16_000},   // 40³ ÷ 4
		{3, 144, 746_496}, // 144³ ÷ 4
		{2, 36, 648},      // a director of old
	} {
		if got := (catalog.Shape{Tiers: tc.tiers}).MaxNICs(tc.radix); got != tc.want {
			t.Errorf("%d tiers of %d ports join %d NICs, want %d", tc.tiers, tc.radix, got, tc.want)
		}
	}
}

// TestBytesOnTheWire: headers and flags are rounded up, and the data can be told
// from them.
func TestBytesOnTheWire(t *testing.T) {
	for _, tc := range []struct {
		p                  collective.Protocol
		data, wire, engine shaping.Bytes
	}{
		{collective.Simple, 0, 0, 0},
		{collective.Simple, 1, 2, 1},
		{collective.Simple, 950, 1000, 950},
		{collective.Simple, 951, 1002, 951}, // 1001.05
		{collective.Simple, 512 * shaping.KiB, 551_883, 512 * shaping.KiB},
		{collective.LL, 0, 0, 0},
		{collective.LL, 8, 16, 16},
		{collective.LL, 32 * shaping.KiB, 64 * shaping.KiB, 64 * shaping.KiB},
		{collective.LL128, 0, 0, 0},
		{collective.LL128, 120, 129, 128}, // 120 / 0.937 = 128.07
		{collective.LL128, 600 * shaping.KiB, 655_710, 640 * shaping.KiB},
	} {
		wire, engine := catalog.WireBytes(tc.p, tc.data), catalog.EngineBytes(tc.p, tc.data)
		if wire != tc.wire || engine != tc.engine {
			t.Errorf("%s: %d B of data are %d on the wire and %d at the SM, want %d and %d", tc.p, tc.data, wire, engine, tc.wire, tc.engine)
		}
		if back := wire * shaping.Bytes(catalog.Efficiency(tc.p)) / 1000; back != tc.data {
			t.Errorf("%s: %d B on the wire are %d of data, sent were %d", tc.p, wire, back, tc.data)
		}
	}
}

func TestPerProtocol(t *testing.T) {
	l := catalog.PerProtocol{Simple: 2, LL: 1, LL128: 3}
	if l.Of(collective.Simple) != 2 || l.Of(collective.LL) != 1 || l.Of(collective.LL128) != 3 {
		t.Errorf("%d, %d and %d", l.Of(collective.Simple), l.Of(collective.LL), l.Of(collective.LL128))
	}
}

// TestDevices: every link that is built has its switch, which has at least as many
// of its ports; and switches carry what is said of them.
func TestDevices(t *testing.T) {
	devices := map[string]catalog.Device{}
	for _, d := range catalog.Devices() {
		if devices[d.Name].Name != "" || d.About == "" || len(catalog.SourcesOf(d.Name)) == 0 {
			t.Errorf("%+v", d)
		}
		devices[d.Name] = d
	}
	for _, l := range catalog.Links() {
		d, ok := devices[l.Device]
		if !ok && l.Device != "(roadmap)" || ok && l.Wire*shaping.Rate(l.Radix) > d.Wire*shaping.Rate(d.Ports) {
			t.Errorf("link %s: %d ports of %v from a %+v", l.Name, l.Radix, l.Wire, d)
		}
		if l.Milliwatts <= 0 || len(catalog.SourcesOf(l.Name)) == 0 {
			t.Errorf("link %s: %d mW, sources %v", l.Name, l.Milliwatts, catalog.SourcesOf(l.Name))
		}
	}
	for name, want := range map[string]shaping.Rate{"QM9700": 51_200 * shaping.Gbps, "QM8700": 16_000 * shaping.Gbps, "SN5600": 2 * 51_200 * shaping.Gbps,
		"Q3400": 2 * 115_200 * shaping.Gbps, "rosetta": 2 * 12_800 * shaping.Gbps, "tomahawk-5": 2 * 51_200 * shaping.Gbps} {
		if got := devices[name].Capacity(); got != want {
			t.Errorf("%s carries %v, want %v", name, got, want)
		}
	}
}

// TestSources: entries know their own sources, and what these are.
func TestSources(t *testing.T) {
	if got := strings.Join(catalog.SourcesOf("ndr"), " "); got != "assumed hw ib" {
		t.Errorf("ndr cites %q", got)
	}
	known := map[string]bool{}
	for _, s := range catalog.Sources() {
		known[s.Tag] = s.Is != ""
	}
	for _, l := range catalog.Links() {
		for _, s := range catalog.SourcesOf(l.Name) {
			if !known[s] {
				t.Errorf("link %s cites %s, which is nothing", l.Name, s)
			}
		}
	}
}
