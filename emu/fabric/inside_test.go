package fabric_test

import (
	"strings"
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/catalog"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/machine"
	"github.com/railyard/railyard/shaping"
)

// full returns a cluster of one node of each machine.
func full(ms ...machine.Machine) emu.Cluster {
	c := emu.Cluster{Machines: ms}
	for i := range ms {
		c.Groups = append(c.Groups, emu.Group{Count: 1, Machine: ms[i].Name})
	}
	return c
}

func preset(t *testing.T, system, name string) machine.Machine {
	t.Helper()
	s, err := catalog.LookupSystem(system)
	if err != nil {
		t.Fatal(err)
	}
	m := s.Machine()
	m.Name = name
	return m
}

// TestMachinesAreValid: what the catalog makes may be written to a file and read.
func TestMachinesAreValid(t *testing.T) {
	for _, s := range catalog.Systems() {
		m := s.Machine()
		if err := m.Validate(); err != nil {
			t.Errorf("%s: %v", s.Name, err)
		}
	}
}

// TestNotes: NICs in another order, and a GPU without the links that others
// have, are named.
func TestNotes(t *testing.T) {
	a, b := preset(t, "dgx-h100", "a"), preset(t, "dgx-h100", "b")
	b.NICs[0].At, b.NICs[1].At = b.NICs[1].At, b.NICs[0].At
	for i := 0; i < len(b.NVLinks); {
		if b.NVLinks[i].GPU == 5 {
			b.NVLinks = append(b.NVLinks[:i], b.NVLinks[i+1:]...)
			continue
		}
		i++
	}
	notes := strings.Join(build(t, full(a, b)).Notes(), "\n")
	for _, want := range []string{"machine a: SMs", "taken from dgx-h100", "machine b: gpu5 has no NVLink", "nic0 is next to gpu0 of one and gpu1 of the other"} {
		if !strings.Contains(notes, want) {
			t.Errorf("%q is not in\n%s", want, notes)
		}
	}
	if same := build(t, full(a, preset(t, "dgx-h100", "c"))).Notes(); len(same) != 2 {
		t.Errorf("two alike: %q", same)
	}
	if none := build(t, groups(emu.Group{Count: 2})).Notes(); none != nil {
		t.Errorf("a preset: %q", none)
	}
}

// TestGivenLikePreset: dgx-h100 written out in full has the ways of the preset.
func TestGivenLikePreset(t *testing.T) {
	f := build(t, full(preset(t, "dgx-h100", "a"), preset(t, "dgx-h100", "b")))
	want := build(t, groups(emu.Group{Count: 1}, emu.Group{Count: 1}))
	for to := 1; to < 16; to++ {
		for c := range 8 {
			a, b := f.Route(0, to, c, collective.Simple), want.Route(0, to, c, collective.Simple)
			if len(a.Wire.Ports) != len(b.Wire.Ports) || a.SendProxy != b.SendProxy || len(a.Local.Ports) != len(b.Local.Ports) {
				t.Fatalf("to GPU %d on channel %d: %+v, want %+v", to, c, a, b)
			}
		}
	}
}

// TestNICsOfUnlikeSpeed: each has its own rate, no more than the fabric's and less
// the same share for headers; ports of one card share its slot.
func TestNICsOfUnlikeSpeed(t *testing.T) {
	m := preset(t, "pcie-gen4-4090", "m")
	m.NICs[0].Speed = 3 * shaping.GBps
	m.NICs[1].PCI = m.NICs[0].PCI
	c := full(m, preset(t, "pcie-gen4-4090", "n"))
	f := build(t, c)
	if slow, other := f.Port(f.NICEgress(0, 0)).Rate, f.Port(f.NICEgress(0, 1)).Rate; slow != 2_880*shaping.MBps || other != 12*shaping.GBps {
		t.Errorf("rates %v and %v, want 96 %% of 3 and of 12.5 GB/s", slow, other)
	}
	one, two := f.Route(0, 8, 0, collective.Simple).Wire, f.Route(0, 8, 1, collective.Simple).Wire
	if a, b := one.Ports[one.Inject-2], two.Ports[two.Inject-2]; a != b || one.Ports[one.Inject-1] == two.Ports[two.Inject-1] {
		t.Errorf("slots %s and %s", f.PortName(a), f.PortName(b))
	}
}

// TestNodesWithoutNIC are refused where there are others to reach.
func TestNodesWithoutNIC(t *testing.T) {
	m := preset(t, "dgx-h100", "m")
	m.NICs = nil
	build(t, full(m))
	c := full(m)
	c.Groups[0].Count = 2
	if _, err := fabric.New(c); err == nil || !strings.Contains(err.Error(), "has no NIC that joins it") {
		t.Errorf("%v", err)
	}
}
