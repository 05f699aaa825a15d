package machine_test

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/railyard/railyard/emu/machine"
	"github.com/railyard/railyard/emu/machine/machinetest"
	"github.com/railyard/railyard/shaping"
)

// A server with one of everything that lies between two devices, as drawn in
// the package comment and beyond.
func sample() machine.Machine {
	pci := func(id string, at machine.Place) machine.PCI { return machine.PCI{BusID: id, At: at} }
	return machine.Machine{
		Name: "sample", Sockets: make([]machine.Socket, 2), NUMA: []machine.NUMA{{Nodes: "0"}, {Socket: 1, Nodes: "1"}},
		Bridges: []machine.Bridge{
			{PCI: pci("0000:00:00.0", machine.OnNUMA(0)), Host: true},
			{PCI: pci("0000:10:00.0", machine.OnNUMA(0)), Host: true},
			{PCI: pci("0000:11:00.0", machine.OnBridge(1))}, // a switch, and one below it
			{PCI: pci("0000:12:00.0", machine.OnBridge(2))},
		},
		GPUs: []machine.GPU{
			{PCI: pci("0000:01:00.0", machine.OnBridge(0))}, {PCI: pci("0000:02:00.0", machine.OnBridge(0))},
			{PCI: pci("0000:13:00.0", machine.OnBridge(2))}, {PCI: pci("0000:14:00.0", machine.OnBridge(3))},
			{PCI: pci("0000:80:00.0", machine.OnNUMA(1))}, {PCI: pci("0000:90:00.0", machine.OnNUMA(1))},
		},
		NICs: []machine.NIC{
			{PCI: pci("0000:15:00.0", machine.OnBridge(2))}, {PCI: pci("0000:81:00.0", machine.OnNUMA(1))},
			{PCI: pci("0000:81:00.1", machine.OnNUMA(1))}, {PCI: machine.PCI{At: machine.OnNUMA(0)}},
		},
		Planes: []machine.Plane{{BusID: "0000:c0:00.0"}, {BusID: "0000:c1:00.0"}},
		NVLinks: []machine.NVLink{
			{GPU: 0, Plane: true, To: 0, Count: 9}, {GPU: 0, Plane: true, To: 1, Count: 9},
			{GPU: 2, Plane: true, To: 0, Count: 8}, {GPU: 2, Plane: true, To: 1, Count: 9},
			{GPU: 4, To: 5, Count: 2},
		},
		Told: []machine.Told{{A: machine.Device{Index: 4}, B: machine.Device{NIC: true, Index: 1}, Is: machine.SYS}},
	}
}

func TestDistance(t *testing.T) {
	m := sample()
	if err := m.Validate(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ a, b, want string }{
		{"gpu0", "gpu0", "X"},
		{"gpu0", "gpu2", "NV17"}, // what the one with fewer links has
		{"gpu4", "gpu5", "NV2"},
		{"gpu0", "gpu1", "PHB"},  // one host bridge
		{"gpu1", "gpu2", "NODE"}, // two of them
		{"gpu2", "nic0", "PIX"},  // one switch
		{"gpu2", "gpu3", "PXB"},  // a switch below it
		{"gpu3", "nic0", "PXB"},  //
		{"gpu3", "gpu4", "SYS"},  // two NUMA nodes
		{"nic1", "nic2", "PIX"},  // two functions of a card
		{"gpu5", "nic1", "PHB"},  // no host bridge has a name there
		{"gpu4", "nic1", "SYS"},  // told otherwise
		{"gpu1", "nic3", "NODE"}, // a virtual device at the node
	} {
		a, errA := machine.ParseDevice(c.a)
		b, errB := machine.ParseDevice(c.b)
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		if got := m.Distance(a, b).String(); got != c.want {
			t.Errorf("%s to %s: %s, want %s", c.a, c.b, got, c.want)
		}
		if got := m.Distance(b, a).String(); got != c.want {
			t.Errorf("%s to %s: %s, want %s", c.b, c.a, got, c.want)
		}
	}
}

// Rates by arithmetic: transfers × lanes × code / 8.
func TestSlotRate(t *testing.T) {
	for _, c := range []struct {
		slot string
		want shaping.Rate
	}{
		{"gen1x16", 4_000_000_000},       // 2.5 × 16 × 8/10 / 8
		{"gen2x16", 8_000_000_000},       // 5 × 16 × 8/10 / 8
		{"gen3x16", 15_753_846_153},      // 8 × 16 × 128/130 / 8
		{"gen4x16", 31_507_692_307},      // 16 × 16 × 128/130 / 8
		{"gen5x16", 63_015_384_615},      // 32 × 16 × 128/130 / 8
		{"gen6x16", 121_000_000_000},     // 64 × 16 × 242/256 / 8
		{"gen6x2", 15_125_000_000},       //
		{"gen5", 0}, {"x16", 0}, {"", 0}, // unknown
	} {
		s, err := machine.ParseSlot(c.slot)
		if err != nil || s.Rate() != c.want || s.String() != c.slot {
			t.Errorf("%q: %v, %v B/s, %v; want %v B/s", c.slot, s, int64(s.Rate()), err, int64(c.want))
		}
	}
	for _, bad := range []string{"gen7x16", "gen5x3", "16", "gen", "x", "gen-1", "gen5x", "gen05", "Gen5", "gen5x16 "} {
		if s, err := machine.ParseSlot(bad); err == nil {
			t.Errorf("%q is read as %v", bad, s)
		}
	}
	for speed, want := range map[string]int{"2.5 GT/s": 1, "5 GT/s": 2, "8 GT/s": 3, "8.0 GT/s PCIe": 3, "16.0 GT/s PCIe": 4,
		"32 GT/s PCIe/s": 5, "32GT/s": 5, "16.0GT/s PCIe": 4, "GT/s": 0, "64.0 GT/s PCIe": 6, "": 0, "Unknown speed": 0, "24 GT/s": 0, "8": 0} {
		if got := machine.GenOf(speed); got != want {
			t.Errorf("%q is generation %d, want %d", speed, got, want)
		}
	}
}

func TestLists(t *testing.T) {
	for _, c := range []struct{ list, short, mask string }{
		{"", "", "00000000"},
		{"0", "0", "00000001"},
		{"3,1,2", "1-3", "0000000e"},
		{"0-47,96-143", "0-47,96-143", "0000ffff,ffffffff,00000000,0000ffff,ffffffff"},
	} {
		short, err := machine.ParseList(c.list)
		if err != nil || short != c.short || machine.Mask(short) != c.mask {
			t.Errorf("%q is %q, mask %q, %v", c.list, short, machine.Mask(short), err)
		}
		for _, mask := range []string{c.mask, strings.ReplaceAll(c.mask, ",", ""), "0X" + strings.ToUpper(strings.ReplaceAll(c.mask, ",", ""))} {
			if back, err := machine.ParseMask(mask); err != nil || back != c.short {
				t.Errorf("mask %q is %q, %v", mask, back, err)
			}
		}
	}
	if back, err := machine.ParseMask("0003ff,f0003fff"); err != nil || back != "0-13,28-41" {
		t.Errorf("a mask with short words is %q, %v", back, err)
	}
	for _, bad := range []string{"a", "1-", "-1", "3-1", "0-1000000000", "8192", "1,,2", strings.Repeat("1,", 50_000)} {
		if _, err := machine.ParseList(bad); err == nil {
			t.Errorf("list %.20q is read", bad)
		}
	}
	if _, err := machine.ParseMask(strings.Repeat("ffffffff,", 300) + "0"); err == nil {
		t.Error("a mask of 9600 CPUs is read")
	}
}

// What is wrong is said by field, all at once.
func TestValidate(t *testing.T) {
	for _, c := range []struct {
		field string
		spoil func(*machine.Machine)
	}{
		{"name", func(m *machine.Machine) { m.Name = "a b" }},
		{"domain", func(m *machine.Machine) { m.Domain = "-" }},
		{"gpus", func(m *machine.Machine) { m.GPUs, m.NVLinks, m.Told = nil, nil, nil }},
		{"numa[1].socket", func(m *machine.Machine) { m.NUMA[1].Socket = 2 }},
		{"numa[0].cpus", func(m *machine.Machine) { m.NUMA[0].CPUs = "3,1" }},
		{"socketLinks[0]", func(m *machine.Machine) { m.SocketLinks = []machine.SocketLink{{A: 1, B: 1}} }},
		{"bridges[0].at", func(m *machine.Machine) { m.Bridges[0].At = machine.OnBridge(0) }},
		{"bridges[2].at", func(m *machine.Machine) { m.Bridges[2].At = machine.OnBridge(3) }},
		{"bridges[3].busid", func(m *machine.Machine) { m.Bridges[3].BusID = "0000:1B:00.0" }},
		{"gpus[1].busid", func(m *machine.Machine) { m.GPUs[1].BusID = m.GPUs[0].BusID }},
		{"gpus[1].slot", func(m *machine.Machine) { m.GPUs[1].Slot.Lanes = 3 }},
		{"gpus[1].id", func(m *machine.Machine) { m.GPUs[1].ID = "h100" }},
		{"gpus[1].at", func(m *machine.Machine) { m.GPUs[1].At = machine.OnNUMA(9) }},
		{"gpus[2].c2c.count", func(m *machine.Machine) { m.GPUs[2].C2C.Rate = 1 }},
		{"nics[0].busid", func(m *machine.Machine) { m.NICs[0].BusID = "" }},
		{"nics[2]", func(m *machine.Machine) { m.NICs[2].PCI = m.NICs[1].PCI; m.NICs[2].Slot.Gen = 1 }},
		{"nics[0].speed", func(m *machine.Machine) { m.NICs[0].Speed = -1 }},
		{"planes[1]", func(m *machine.Machine) { m.Planes[1].BusID = "?" }},
		{"nvlinks[0].to", func(m *machine.Machine) { m.NVLinks[0].To = 2 }},
		{"nvlinks[4].to", func(m *machine.Machine) { m.NVLinks[4].To = 4 }},
		{"nvlinks[4].count", func(m *machine.Machine) { m.NVLinks[4].Count = 1_000_000_000 }},
		{"nvlinks[1]", func(m *machine.Machine) { m.NVLinks[1].To = 0 }},
		{"told[0]", func(m *machine.Machine) { m.Told[0].B = m.Told[0].A }},
	} {
		m := sample()
		c.spoil(&m)
		found := false
		for _, p := range m.Problems() {
			found = found || p.Field == c.field
		}
		if !found {
			t.Errorf("no problem with %s: %v", c.field, m.Validate())
		}
	}
}

// Canonical order changes names, not the machine: distances stay, and a second
// time nothing moves.
func TestCanonical(t *testing.T) {
	m := sample()
	m.Bridges[0], m.Bridges[1] = m.Bridges[1], m.Bridges[0] // now 1 hangs before the switches of 0
	m.Bridges[2].At, m.GPUs[0].At, m.GPUs[1].At = machine.OnBridge(0), machine.OnBridge(1), machine.OnBridge(1)
	m.Bridges = append(m.Bridges, machine.Bridge{PCI: machine.PCI{BusID: "0000:ff:00.0"}})
	c := m.Canonical()
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	if len(c.Bridges) != 4 || c.Bridges[0].BusID != "0000:10:00.0" || c.Bridges[3].BusID != "0000:00:00.0" {
		t.Errorf("bridges are %+v", c.Bridges)
	}
	for _, a := range m.Devices() {
		for _, b := range m.Devices() {
			if m.Distance(a, b) != c.Distance(a, b) {
				t.Errorf("%v to %v was %v, is %v", a, b, m.Distance(a, b), c.Distance(a, b))
			}
		}
	}
}

func TestDrawn(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		m := machinetest.Draw(rng)
		if err := m.Validate(); err != nil {
			t.Fatalf("%v\n%+v", err, m)
		}
		if c := m.Canonical(); !reflect.DeepEqual(c, m) {
			t.Fatalf("canonical order is not stable:\n%+v\n%+v", m, c)
		}
		links := m.LinkMatrix()
		for a := range m.GPUs {
			for b := range m.GPUs {
				if a != b && links[a][b] != m.Links(a, b) {
					t.Fatalf("GPU%d to GPU%d: %d links, or %d", a, b, links[a][b], m.Links(a, b))
				}
			}
		}
	}
}
