// Package machinetest draws random machines, for tests of whatever reads and
// writes them.
//
//	draw.go  Draw: a valid machine with a bit of everything
//
// Test support: no code but tests imports it.
package machinetest

import (
	"fmt"
	"math/rand/v2"

	"github.com/railyard/railyard/emu/machine"
	"github.com/railyard/railyard/shaping"
)

// Draw returns a valid machine in canonical order, the same one for the same
// state of the generator.
func Draw(rng *rand.Rand) machine.Machine {
	d := drawer{rng: rng}
	d.m.Name, d.m.Domain = d.pick("a", "node-7", "true", "0x1f"), d.pick("", "", "rack.1")
	d.cpus()
	for range rng.IntN(6) {
		d.bridge()
	}
	for range 1 + rng.IntN(6) {
		d.gpu()
	}
	for range rng.IntN(5) {
		d.nic()
	}
	d.links()
	return d.m.Canonical()
}

type drawer struct {
	rng *rand.Rand
	m   machine.Machine
	ids int
}

func (d *drawer) pick(of ...string) string { return of[d.rng.IntN(len(of))] }
func (d *drawer) maybe() bool              { return d.rng.IntN(2) == 0 }

func (d *drawer) rate() shaping.Rate {
	return []shaping.Rate{0, 25_000_000_000, 1, 44_712_000_000, 12_345_678_901}[d.rng.IntN(5)]
}

func (d *drawer) support() machine.Support { return machine.Support(d.rng.IntN(3)) }

func (d *drawer) cpus() {
	for range 1 + d.rng.IntN(3) {
		d.m.Sockets = append(d.m.Sockets, machine.Socket{Arch: d.pick("", "x86_64", "arm64"), Vendor: d.pick("", "GenuineIntel", `"<&' ÿ`),
			Family: d.rng.IntN(200), Model: d.rng.IntN(200)})
	}
	n := len(d.m.Sockets)
	for i := range n + d.rng.IntN(3) {
		d.m.NUMA = append(d.m.NUMA, machine.NUMA{Socket: min(i, n-1-i%n), Nodes: d.pick("", "0", "3", "0-3", "0,2-4"),
			CPUs: d.pick("", "0", "0-47,96-143", "31-32,8191"), DRAM: d.rate()})
	}
	for a := range n {
		for b := range a {
			if d.maybe() {
				d.m.SocketLinks = append(d.m.SocketLinks, machine.SocketLink{A: b, B: a, Rate: d.rate()})
			}
		}
	}
}

func (d *drawer) place() machine.Place {
	if n := len(d.m.Bridges); n > 0 && d.maybe() {
		return machine.OnBridge(d.rng.IntN(n))
	}
	return machine.OnNUMA(d.rng.IntN(len(d.m.NUMA)))
}

func (d *drawer) busID() string {
	d.ids++
	return fmt.Sprintf("%04x:%02x:%02x.%x", []int{0, 0xffff, 0x10000, 0xfffffff}[d.rng.IntN(4)], d.rng.IntN(256), d.ids, d.rng.IntN(8))
}

func (d *drawer) pci() machine.PCI {
	return machine.PCI{BusID: d.busID(), At: d.place(),
		Slot:  machine.Slot{Gen: d.rng.IntN(machine.MaxGen + 1), Lanes: []int{0, 1, 2, 4, 8, 12, 16, 32}[d.rng.IntN(8)]},
		Class: []uint32{0, 0x030200, 0x120000, 0x020700, 0x060400}[d.rng.IntN(5)],
		ID:    d.pick("", "10de:2330", "1002:74a1:1002:74a1", "0000:0000:0000:0000")}
}

func (d *drawer) bridge() {
	b := machine.Bridge{PCI: d.pci(), Host: d.rng.IntN(3) == 0}
	if b.Host {
		b.PCI = machine.PCI{BusID: b.BusID, At: machine.OnNUMA(d.rng.IntN(len(d.m.NUMA)))}
	}
	d.m.Bridges = append(d.m.Bridges, b)
}

func (d *drawer) gpu() {
	g := machine.GPU{PCI: d.pci(), Model: d.pick("", "0", "H100 SXM5 80GB", "x\"y"), Arch: d.pick("", "sm_90", "gfx942", "gfx910", "0"),
		Units: d.rng.IntN(3) * 66, GDR: d.support(), NUMA: d.pick("", "0", "4-11")}
	if d.maybe() {
		g.C2C = machine.C2C{Count: 1 + d.rng.IntN(9), Rate: d.rate()}
	}
	d.m.GPUs = append(d.m.GPUs, g)
}

func (d *drawer) nic() {
	n := machine.NIC{PCI: d.pci(), Name: d.pick("", "0", "mlx5_0", "eth0"), Speed: d.rate(), Port: d.rng.IntN(3), GUID: d.rng.Uint64() >> d.rng.IntN(64),
		GDR: d.support(), Reduces: d.support(), Latency: shaping.Duration(d.rng.IntN(2) * 1_234_567), MaxConn: d.rng.IntN(2) * 131_072}
	switch all := d.m.NICs; {
	case len(all) > 0 && d.rng.IntN(3) == 0:
		n.PCI = all[len(all)-1].PCI // another port
	case d.rng.IntN(4) == 0:
		n.PCI = machine.PCI{At: machine.OnNUMA(d.rng.IntN(len(d.m.NUMA)))}
	}
	d.m.NICs = append(d.m.NICs, n)
}

func (d *drawer) links() {
	for range d.rng.IntN(4) {
		d.m.Planes = append(d.m.Planes, machine.Plane{BusID: d.busID()})
	}
	for a := range d.m.GPUs {
		for p := range d.m.Planes {
			if d.maybe() {
				d.m.NVLinks = append(d.m.NVLinks, machine.NVLink{GPU: a, Plane: true, To: p, Count: 1 + d.rng.IntN(18), Rate: d.rate()})
			}
		}
		for b := a + 1; b < len(d.m.GPUs); b++ {
			if d.rng.IntN(3) == 0 {
				d.m.NVLinks = append(d.m.NVLinks, machine.NVLink{GPU: a, To: b, Count: 1 + d.rng.IntN(4), Rate: d.rate()})
			}
		}
	}
	all := d.m.Devices()
	for i := range all {
		for j := i + 1; j < len(all); j++ {
			if d.rng.IntN(6) == 0 {
				d.m.Told = append(d.m.Told, machine.Told{A: all[i], B: all[j], Is: machine.PIX + machine.Nearness(d.rng.IntN(5))})
			}
		}
	}
}
