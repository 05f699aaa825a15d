package wire

import (
	"fmt"
	"math"

	"github.com/railyard/railyard/emu"
	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
	"github.com/railyard/railyard/shaping"
)

// maxNodes is the largest number of nodes a group may claim on the wire: ten
// times what anyone has built. It keeps a damaged message from being believed.
const maxNodes = 1 << 20

// EncodeCluster returns c as it goes into Setup.
func EncodeCluster(c *emu.Cluster) *railyardv1.Cluster {
	m := &railyardv1.Cluster{
		Name:   c.Name,
		Fabric: encodeFabric(&c.Fabric),
		Seed:   c.Seed, Machines: encodeMachines(c),
	}
	for _, l := range c.Fabric.Links {
		m.Fabric.Links = append(m.Fabric.Links, &railyardv1.FabricLink{
			From: l.From, To: l.To, Count: u32("links.count", l.Count), Rate: uint64(l.Rate), LatencyPs: uint64(l.Latency),
		})
	}
	for _, g := range c.Groups {
		m.Groups = append(m.Groups, &railyardv1.NodeGroup{
			Count: u32("count", g.Count), System: g.System, Gpus: u32("gpus", g.GPUs), Nics: u32("nics", g.NICs),
			Machine: g.Machine, NoGdr: g.NoGDR,
			Switches: g.Switches,
			Torus:    u32s("torus", g.Torus), Wrap: g.Wrap, Cubes: u32s("cubes", g.Cubes), Dark: g.Dark,
		})
	}
	return m
}

// u32s returns numbers as they go on the wire.
func u32s(field string, n []int) []uint32 {
	var all []uint32
	for _, v := range n {
		all = append(all, u32(field, v))
	}
	return all
}

// ints returns numbers from the wire, and notes those that are out of bounds.
func ints(bad *faults, field string, n []uint32, least uint32) []int {
	var all []int
	for i, v := range n {
		within(bad, fmt.Sprintf("%s[%d]", field, i), v, least, maxNodes)
		all = append(all, int(v))
	}
	return all
}

// encodeMachines returns the machines of a cluster as a cluster file, nothing
// for none.
func encodeMachines(c *emu.Cluster) string {
	if len(c.Machines) == 0 {
		return ""
	}
	k := emu.Cluster{Machines: c.Machines}
	for i := range c.Machines {
		k.Groups = append(k.Groups, emu.Group{Count: 1, Machine: c.Machines[i].Name})
	}
	return string(k.YAML())
}

// DecodeCluster returns the cluster that m declares. It checks that numbers
// can be meant, not that the catalog knows the names.
func DecodeCluster(m *railyardv1.Cluster) (emu.Cluster, error) {
	var bad faults
	c := emu.Cluster{
		Name:   m.GetName(),
		Fabric: decodeFabric(&bad, m.GetFabric()),
		Seed:   m.GetSeed(),
	}
	for i, l := range m.GetFabric().GetLinks() {
		within(&bad, fmt.Sprintf("fabric.links[%d].count", i), l.GetCount(), 0, math.MaxInt32)
		within(&bad, fmt.Sprintf("fabric.links[%d].rate", i), l.GetRate(), 0, math.MaxInt64)
		within(&bad, fmt.Sprintf("fabric.links[%d].latency_ps", i), l.GetLatencyPs(), 0, math.MaxInt64)
		c.Fabric.Links = append(c.Fabric.Links, emu.FabricLink{
			From: l.GetFrom(), To: l.GetTo(), Count: int(l.GetCount()), Rate: shaping.Rate(l.GetRate()), Latency: shaping.Duration(l.GetLatencyPs()),
		})
	}
	if len(m.GetGroups()) == 0 {
		bad.note(fmt.Errorf("groups: none; declare at least one"))
	}
	for i, g := range m.GetGroups() {
		within(&bad, fmt.Sprintf("groups[%d].count", i), g.GetCount(), 1, maxNodes)
		within(&bad, fmt.Sprintf("groups[%d].gpus", i), g.GetGpus(), 0, math.MaxInt32)
		within(&bad, fmt.Sprintf("groups[%d].nics", i), g.GetNics(), 0, math.MaxInt32)
		c.Groups = append(c.Groups, emu.Group{
			Count: int(g.GetCount()), System: g.GetSystem(), GPUs: int(g.GetGpus()), NICs: int(g.GetNics()),
			Machine: g.GetMachine(), NoGDR: g.GetNoGdr(),
			Switches: g.GetSwitches(),
			Slice: emu.Slice{
				Torus: ints(&bad, fmt.Sprintf("groups[%d].torus", i), g.GetTorus(), 1), Wrap: g.GetWrap(),
				Cubes: ints(&bad, fmt.Sprintf("groups[%d].cubes", i), g.GetCubes(), 0), Dark: g.GetDark(),
			},
		})
	}
	if text := m.GetMachines(); text != "" {
		k, err := emu.ParseCluster("machines", []byte(text))
		if err != nil {
			bad.note(err)
		}
		c.Machines = k.Machines
	}
	return c, bad.in("cluster %q", m.GetName())
}

func encodeFabric(f *emu.Fabric) *railyardv1.Fabric {
	return &railyardv1.Fabric{
		Kind: f.Kind, Link: f.Link, Routing: f.Routing,
		Oversubscription: u32("oversubscription", f.Oversubscription),
		Unit:             u32("unit", f.Unit), Planes: u32("planes", f.Planes),
		HostsPerSwitch: u32("hosts per switch", f.HostsPerSwitch), Switches: f.Switches,
		Dims: u32s("dims", f.Dims),
		Pxn:  uint32(f.PXN), CrossNic: uint32(f.CrossNIC),
	}
}

// maxPlanes is the most networks beside each other that a message is believed.
const maxPlanes = 1 << 10

func decodeFabric(bad *faults, m *railyardv1.Fabric) emu.Fabric {
	f := emu.Fabric{
		Kind: m.GetKind(), Link: m.GetLink(), Routing: m.GetRouting(),
		Oversubscription: int(m.GetOversubscription()), Unit: int(m.GetUnit()),
		Planes: int(m.GetPlanes()), HostsPerSwitch: int(m.GetHostsPerSwitch()),
		Switches: m.GetSwitches(),
	}
	within(bad, "fabric.pxn", m.GetPxn(), uint32(emu.PXNDefault), uint32(emu.PXNOff))
	within(bad, "fabric.cross_nic", m.GetCrossNic(), uint32(emu.CrossDefault), uint32(emu.CrossIfFaster))
	f.PXN, f.CrossNIC = emu.PXN(min(m.GetPxn(), uint32(emu.PXNOff))), emu.CrossNIC(min(m.GetCrossNic(), uint32(emu.CrossIfFaster)))
	within(bad, "fabric.oversubscription", m.GetOversubscription(), 0, math.MaxInt32)
	within(bad, "fabric.unit", m.GetUnit(), 0, math.MaxInt32)
	within(bad, "fabric.planes", m.GetPlanes(), 0, maxPlanes)
	within(bad, "fabric.hosts_per_switch", m.GetHostsPerSwitch(), 0, math.MaxInt32)
	f.Dims = ints(bad, "fabric.dims", m.GetDims(), 1)
	return f
}
