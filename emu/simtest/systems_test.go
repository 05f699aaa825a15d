package simtest

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/catalog"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/machine/machinetest"
)

// TestSystemsKeepTheLaw puts every system of the catalog to TestSim's test, with
// GPUDirect and without, and half of its servers another's.
func TestSystemsKeepTheLaw(t *testing.T) {
	all := catalog.Systems()
	for i := range all {
		for round := range uint64(2) {
			c := drawSystem(uint64(i)*10+round, all[i].Name, all[(i+5)%len(all)].Name)
			if _, err := verify(&c); err != nil {
				t.Errorf("%v\n%v", err, c)
			}
		}
	}
}

// TestForwardingKeepsTheLaw does so with every setting of PXN and CROSS_NIC, on
// servers with an NVSwitch, with a mesh and without NVLink, where the spine is
// shared and where rails are not joined.
func TestForwardingKeepsTheLaw(t *testing.T) {
	for i, system := range []string{"dgx-h100", "h800", "dgx-1-v100", "pcie-gen5-l40s"} {
		for pxn := emu.PXNDefault; pxn <= emu.PXNOff; pxn++ {
			for cross := emu.CrossDefault; cross <= emu.CrossIfFaster; cross++ {
				c := drawSystem(uint64(1000+100*i+10*int(pxn)+int(cross)), system, system)
				c.Cluster.Groups[0].GPUs, c.Cluster.Groups[0].NICs = 4, 2
				c.Cluster.Fabric.PXN, c.Cluster.Fabric.CrossNIC = pxn, cross
				if pxn != emu.PXNOff && cross == emu.CrossIfFaster && len(c.Cluster.Groups) == 1 {
					c.Cluster.Fabric.Kind = "rail-only"
				}
				c = drawOn(rand.New(rand.NewPCG(c.Seed, 9)), c)
				if _, err := verify(&c); err != nil {
					t.Errorf("%v\n%v", err, c)
				}
			}
		}
	}
}

// TestFabricsKeepTheLaw does it for every shape with every routing and for every
// link, oversubscribed and on two planes in turn. What cannot be built is refused
// by name, and that is routing through a middle group where there are no groups.
func TestFabricsKeepTheLaw(t *testing.T) {
	var fabrics []emu.Fabric
	for _, shape := range catalog.Shapes() {
		for _, routing := range []string{"static", "adaptive", "hash", "spray", "valiant"} {
			fabrics = append(fabrics, emu.Fabric{Kind: shape.Name, Routing: routing, Link: "ndr"})
		}
	}
	for _, link := range catalog.Links() {
		fabrics = append(fabrics, emu.Fabric{Kind: "fat-tree", Link: link.Name, HostsPerSwitch: 3})
	}
	for i, join := range fabrics {
		if join.Planes = 1 + i/2%2; join.Kind == "fat-tree" || strings.HasPrefix(join.Kind, "rail") {
			join.Oversubscription = 1 + i%2
		}
		rng := rand.New(rand.NewPCG(uint64(i), 9))
		k := emu.Cluster{Name: "drawn", Seed: uint64(i), Groups: []emu.Group{{Count: 3, System: "dgx-h100", GPUs: 2}, {Count: 2, System: "dgx-h100", GPUs: 2}}, Fabric: join}
		if _, err := fabric.New(k); err != nil {
			if join.Routing != "valiant" || !strings.Contains(err.Error(), "network has no groups") {
				t.Errorf("%+v: %v", join, err)
			}
			continue
		}
		c := drawOn(rng, Case{Seed: uint64(i), Cluster: k})
		if _, err := verify(&c); err != nil {
			t.Errorf("%v\n%v", err, c)
		}
	}
}

// TestDrawnMachinesKeepTheLaw does the same with machines that nobody built: what
// is imported may be anything.
func TestDrawnMachinesKeepTheLaw(t *testing.T) {
	for seed := range uint64(16) {
		c := drawMachines(seed)
		if _, err := verify(&c); err != nil {
			t.Errorf("%v\n%v\n%s", err, c, c.Cluster.YAML())
		}
	}
}

func drawMachines(seed uint64) Case {
	rng := rand.New(rand.NewPCG(seed, 8))
	k := emu.Cluster{Name: "drawn", Seed: seed}
	for i := range 2 {
		m := machinetest.Draw(rng)
		for len(m.NICs) == 0 {
			m = machinetest.Draw(rng)
		}
		m.Name = []string{"one", "other"}[i]
		k.Machines = append(k.Machines, m)
		k.Groups = append(k.Groups, emu.Group{Count: 1 + rng.IntN(2), Machine: m.Name, NoGDR: rng.IntN(4) == 0})
	}
	return drawOn(rng, Case{Seed: seed, Cluster: k})
}

// drawSystem returns a small case on servers of two kinds.
func drawSystem(seed uint64, one, other string) Case {
	rng := rand.New(rand.NewPCG(seed, 7))
	c := Case{Seed: seed, Cluster: emu.Cluster{Name: "drawn", Seed: seed, Groups: []emu.Group{
		{Count: 2, System: one, GPUs: 2 + rng.IntN(3), NICs: rng.IntN(3), NoGDR: rng.IntN(2) == 0},
	}}}
	if rng.IntN(2) == 0 {
		c.Cluster.Groups = append(c.Cluster.Groups, emu.Group{Count: 1, System: other, GPUs: 1 + rng.IntN(4)})
	}
	c.Cluster.Fabric.Oversubscription = 1 + rng.IntN(3)
	return drawOn(rng, c)
}

// drawOn adds a batch of small runs to a case.
func drawOn(rng *rand.Rand, c Case) Case {
	f, err := fabric.New(c.Cluster)
	if err != nil {
		panic(err)
	}
	b := drawBatch(rng, f)
	for i := range b.Runs {
		b.Runs[i].Count %= 1 << 14
		b.Runs[i].Real = real(f, &b.Runs[i])
	}
	c.Batches = []emu.Batch{b}
	return c
}
