package topo_test

import (
	"strings"
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/catalog"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/topo"
	"github.com/railyard/railyard/shaping"
)

func build(t testing.TB, c emu.Cluster) *fabric.Fabric {
	t.Helper()
	f, err := fabric.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func h100(t testing.TB, nodes int) *fabric.Fabric {
	return build(t, emu.Cluster{Groups: []emu.Group{{Count: nodes, System: "dgx-h100"}}})
}

// TestWireAsMeasured holds the emulated wire, without any collective, within 3 %
// of what the same programs measured: nvbandwidth on H200 [hw], ib_write_bw and
// ib_write_lat over 256 pairs of NDR NICs [ib].
func TestWireAsMeasured(t *testing.T) {
	type want struct {
		test, note string
		value      int64 // bytes a second, or picoseconds
	}
	figures := []want{
		{"peer copy", "one direction", int64(396_400 * shaping.MBps)},
		{"peer copy", "both directions", int64(783_730 * shaping.MBps)},
		{"host to device", "", int64(55_430 * shaping.MBps)},
		{"device to host", "", int64(55_060 * shaping.MBps)},
		{"ib_write_bw", "same rail, one queue pair", int64(44_500 * shaping.MBps)},
		{"ib_write_bw", "other rail, one queue pair", int64(44_500 * shaping.MBps)},
		{"ib_write_bw", "2 queue pairs", int64(49_000 * shaping.MBps)},
		{"ib_write_lat", "same rail", int64(1790 * shaping.Nanosecond)},
		{"ib_write_lat", "other rail", int64(2400 * shaping.Nanosecond)},
	}
	got := topo.Measure(h100(t, 2))
	if len(got) != len(figures) {
		t.Fatalf("%d measurements, want %d", len(got), len(figures))
	}
	for _, w := range figures {
		found := false
		for _, m := range got {
			if m.Test != w.test || !strings.Contains(m.Note, w.note) {
				continue
			}
			found = true
			value := int64(m.Rate) + int64(m.Latency)
			if off := value - w.value; off > w.value*3/100 || off < -w.value*3/100 {
				t.Errorf("%s, %s: %v %v, want %d within 3 %%", m.Test, m.Note, m.Rate, m.Latency, w.value)
			}
		}
		if !found {
			t.Errorf("nothing measures %s, %s", w.test, w.note)
		}
	}
}

// TestWireFollowsPorts: a slower port anywhere on the way is what is measured, and
// what is named.
func TestWireFollowsPorts(t *testing.T) {
	f := h100(t, 2)
	for id := range fabric.PortID(f.Ports()) {
		if f.PortName(id) == "node1/nic0/pcie-out" {
			f.SetRate(id, 10*shaping.GBps)
		}
	}
	for _, m := range topo.Measure(f) {
		if m.Test != "ib_write_bw" || !strings.Contains(m.Note, "same rail") {
			continue
		}
		if m.Limit != "node1/nic0/pcie-out" || m.Rate > 10*shaping.GBps || m.Rate < 9_900*shaping.MBps {
			t.Errorf("%s: %v, limited by %s", m.Note, m.Rate, m.Limit)
		}
	}
}

// Two units that share uplinks at 4:1, of four nodes each: one link of a NIC's rate
// is no limit to one NIC, and named where it is made slower.
func TestWireOverUplinks(t *testing.T) {
	c := emu.Cluster{Groups: []emu.Group{{Count: 1, System: "dgx-h100"}, {Count: 4, System: "dgx-h100"}}}
	c.Fabric.Oversubscription = 4
	f := build(t, c)
	before := topo.Measure(f)
	slowed := 0
	for id := range fabric.PortID(f.Ports()) {
		if f.Port(id).Node == fabric.Shared {
			if r := f.Port(id).Rate; r != 49*shaping.GBps {
				t.Fatalf("%s: %v; want one link", f.PortName(id), r)
			}
			f.SetRate(id, 12_250*shaping.MBps)
			slowed++
		}
	}
	if slowed == 0 {
		t.Fatal("no uplinks")
	}
	for i, m := range topo.Measure(f) {
		if m.Test != "ib_write_bw" {
			continue
		}
		if strings.HasPrefix(before[i].Limit, "unit") || !strings.HasPrefix(m.Limit, "unit") || m.Rate > 12_250*shaping.MBps || m.Rate < 12_100*shaping.MBps {
			t.Errorf("%s: %v, limited by %s; want a little below 49 / 4 GB/s", m.Note, m.Rate, m.Limit)
		}
	}
}

// TestMeasureEveryLink: over every link one queue pair is named as the limit, since
// its pauses cost, and the ports where two fill them; and what is no latency of the
// wire, microseconds of a library, is not called ib_write_lat.
func TestMeasureEveryLink(t *testing.T) {
	for _, l := range catalog.Links() {
		f := build(t, emu.Cluster{Groups: []emu.Group{{Count: 2, System: "dgx-h100"}}, Fabric: emu.Fabric{Kind: "single", Link: l.Name}})
		for _, m := range topo.Measure(f) {
			switch {
			case m.Test == "ib_write_bw" && strings.Contains(m.Note, "one queue pair"):
				if m.Limit != "the queue pair" {
					t.Errorf("%s: %v of %v, limited by %s", l.Name, m.Rate, l.Wire.Permille(l.Usable), m.Limit)
				}
			case m.Test == "ib_write_bw" && m.Limit == "the queue pair":
				t.Errorf("%s: two queue pairs, limited by %s at %v", l.Name, m.Limit, m.Rate)
			case m.Latency > 0:
				library := m.Latency > 3*shaping.Microsecond
				if library != (m.Test != "ib_write_lat") || library != strings.Contains(m.Note, "not of the wire") {
					t.Errorf("%s: %v is called %s, %s", l.Name, m.Latency, m.Test, m.Note)
				}
			}
		}
	}
}

// Small clusters have fewer things to measure.
func TestMeasureWhatThereIs(t *testing.T) {
	one := build(t, emu.Cluster{Groups: []emu.Group{{Count: 1, System: "dgx-h100", GPUs: 1}}})
	if got := topo.Measure(one); len(got) != 2 {
		t.Errorf("one GPU: %d measurements, want 2 of its slot", len(got))
	}
	two := build(t, emu.Cluster{Groups: []emu.Group{{Count: 2, System: "dgx-h100", GPUs: 1}}})
	if got := topo.Measure(two); len(got) != 5 {
		t.Errorf("two GPUs with a NIC each: %d measurements, want 5", len(got))
	}
}

// TestStatements holds what the field says of this hardware against the catalog.
func TestStatements(t *testing.T) {
	ndr, err := catalog.LookupLink("ndr")
	if err != nil {
		t.Fatal(err)
	}
	// "QM9700 carries 51.2 Tb/s", counting both directions.
	if both := 2 * shaping.Rate(ndr.Radix) * ndr.Wire; both != 51_200*shaping.Gbps {
		t.Errorf("%d ports of %v carry %v both ways, want 51.2 Tb/s", ndr.Radix, ndr.Wire, both)
	}
	// "A ring over NVLink and InfiniBand is bound by the NICs": on every channel
	// the NIC is the slowest port between servers, NVLink within.
	f := h100(t, 2)
	within, _ := topo.Between(f, topo.Place{Index: 0}, topo.Place{Index: 1}, 0, collective.Simple)
	for channel := range 8 {
		across, err := topo.Between(f, topo.Place{Index: channel}, topo.Place{Node: 1, Index: channel}, channel, collective.Simple)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(across.Limit, "/out") || !strings.Contains(across.Limit, "/nic") || 8*across.Rate >= within.Rate {
			t.Errorf("channel %d: %s at %v limits; NVLink carries %v", channel, across.Limit, across.Rate, within.Rate)
		}
	}
	// "NVLink 5 is about 14 times PCIe 5 x16": 18 links × 50 GB/s over 63 GB/s.
	// "NVL72 aggregates 130 TB/s", counting both directions.
	rack, err := catalog.LookupSystem("gb200-nvl72")
	if err != nil {
		t.Fatal(err)
	}
	if ten := 10 * rack.NVLink.Wire / rack.PCIe.Wire; rack.PCIe.Gen != 5 || ten < 138 || ten > 146 {
		t.Errorf("%s: NVLink 5 is %d tenths of PCIe %d", rack.Name, ten, rack.PCIe.Gen)
	}
	if gpus := rack.GPUs * rack.Board.Domain; gpus != 72 {
		t.Errorf("%s: a domain has %d GPUs", rack.Name, gpus)
	}
	if sum := 2 * 72 * rack.NVLink.Wire; sum < 129_000*shaping.GBps || sum > 131_000*shaping.GBps {
		t.Errorf("%s: 72 GPUs have %v of NVLink", rack.Name, sum)
	}
}
