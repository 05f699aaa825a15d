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
		Name: c.Name,
		Fabric: &railyardv1.Fabric{
			Kind: c.Fabric.Kind, Link: c.Fabric.Link,
			Oversubscription: u32("oversubscription", c.Fabric.Oversubscription),
			Switches:         c.Fabric.Switches,
		},
		Seed: c.Seed,
	}
	for _, l := range c.Fabric.Links {
		m.Fabric.Links = append(m.Fabric.Links, &railyardv1.FabricLink{
			From: l.From, To: l.To, Count: u32("links.count", l.Count), Rate: uint64(l.Rate), LatencyPs: uint64(l.Latency),
		})
	}
	for _, g := range c.Groups {
		m.Groups = append(m.Groups, &railyardv1.NodeGroup{
			Count: u32("count", g.Count), System: g.System, Gpus: u32("gpus", g.GPUs), Nics: u32("nics", g.NICs),
			Switches: g.Switches,
		})
	}
	return m
}

// DecodeCluster returns the cluster that m declares. It checks that numbers
// can be meant, not that the catalog knows the names.
func DecodeCluster(m *railyardv1.Cluster) (emu.Cluster, error) {
	var bad faults
	c := emu.Cluster{
		Name: m.GetName(),
		Fabric: emu.Fabric{
			Kind: m.GetFabric().GetKind(), Link: m.GetFabric().GetLink(),
			Oversubscription: int(m.GetFabric().GetOversubscription()),
			Switches:         m.GetFabric().GetSwitches(),
		},
		Seed: m.GetSeed(),
	}
	within(&bad, "fabric.oversubscription", m.GetFabric().GetOversubscription(), 0, math.MaxInt32)
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
			Switches: g.GetSwitches(),
		})
	}
	return c, bad.in("cluster %q", m.GetName())
}
