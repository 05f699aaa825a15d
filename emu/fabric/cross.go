package fabric

import (
	"fmt"
	"slices"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/network"
	"github.com/railyard/railyard/shaping"
)

// crossing says whether rings of a communicator change rails, as NCCL_CROSS_NIC
// has it: 2 keeps to the rail unless changing it is faster.
func (f *Fabric) crossing(s *collective.Shape, comm []int) collective.Cross {
	set := f.Cluster.Fabric.CrossNIC
	if set == emu.CrossNever || len(s.Nodes) < 2 || f.isolated() {
		return collective.KeepRail
	}
	faster := false
	for i := range s.Nodes {
		g := &s.Nodes[i]
		if !severalHeads(g) {
			return collective.KeepRail
		}
		faster = faster || f.slowOnRail(g, comm)
	}
	switch {
	case set == emu.CrossAlways:
		return collective.CrossRail
	case faster && alike(s):
		return collective.Alternate
	default:
		return collective.KeepRail
	}
}

// ringsMeet says why rings of some communicator may go from one rail to another, nil
// when none do: all keep to their rail, or rails are not joined.
func (f *Fabric) ringsMeet() error {
	set := f.Cluster.Fabric.CrossNIC
	if set == emu.CrossNever || f.isolated() {
		return nil
	}
	for i := range f.nodes {
		n := &f.nodes[i]
		var nics shaping.Rate
		for rail := range n.nics {
			nics += f.Port(n.nicPort(rail, wireOut)).Rate
		}
		if n.nics > 1 && (set == emu.CrossAlways || !n.flat || slices.Max(n.nvlinks) < nics) {
			return fmt.Errorf("rings through node %d may change rails", i)
		}
	}
	return nil
}

// isolated reports whether nothing joins the rails.
func (f *Fabric) isolated() bool {
	return f.apart || f.Cluster.Fabric.Kind == network.RailOnly.String()
}

func severalHeads(g *collective.Group) bool {
	return slices.ContainsFunc(g.Heads, func(h int) bool { return h != g.Heads[0] })
}

// alike reports whether rails that a ring leaves by are those that it enters by
// when every second node is gone through in reverse: nodes of as many rails, whose
// rings may go round in any order.
func alike(s *collective.Shape) bool {
	for _, g := range s.Nodes {
		if len(g.Heads) != len(s.Nodes[0].Heads) || len(g.Rings) > 0 {
			return false
		}
	}
	return true
}

// slowOnRail reports whether a ring that leaves a node by the rail it entered by is
// slower than the node's NICs for that alone: because what its last rank sends goes
// to the NIC over PCIe, or because NVLink is slower than the NICs and would have
// one hop less to carry at each GPU. Where some GPU is never last, NVLink has as
// much to carry there as before.
func (f *Fabric) slowOnRail(g *collective.Group, comm []int) bool {
	n := &f.nodes[f.NodeOf(comm[g.Ranks[0]])]
	var nics, nvlink shaping.Rate
	for rail, head := range g.Heads {
		if owner := comm[head] - n.firstGPU; owner < 0 || owner >= n.gpus {
			return false // a domain of several nodes
		}
		nics += f.Port(n.nicPort(rail, wireOut)).Rate
		for _, r := range g.Ranks {
			if last := comm[r] - n.firstGPU; n.owners[rail] != last && !(n.pxn && n.forwards(last, rail)) {
				return true
			}
		}
	}
	for _, r := range g.Ranks {
		if !slices.Contains(g.Heads, r) {
			return false
		}
		nvlink = max(nvlink, n.nvlinks[comm[r]-n.firstGPU])
	}
	return nvlink < nics
}

// checkForwarding refuses settings that need rails to be joined, for a fabric whose
// rails are not.
func checkForwarding(d emu.Fabric, servers []Server) error {
	several := slices.ContainsFunc(servers, func(s Server) bool { return s.NICs > 1 })
	if !several || len(servers) < 2 {
		return nil
	}
	if d.CrossNIC == emu.CrossAlways {
		return fmt.Errorf("fabric %s: crossNic 1 (NCCL_CROSS_NIC=1) has rings enter a server by another rail than they left the last one by, and rails are not joined; take 0 or 2, or %s", d.Kind, joinRails(d))
	}
	if d.PXN == emu.PXNOff && d.CrossNIC != emu.CrossNever {
		return fmt.Errorf("fabric %s: without pxn (NCCL_PXN_DISABLE=1) GPUs send to other rails by NICs of their own, and rails are not joined; leave pxn on, or set crossNic: 0 (NCCL_CROSS_NIC=0) so that they use the NIC on the other's rail, or %s", d.Kind, joinRails(d))
	}
	return nil
}

// joinRails says how to join the rails of a fabric.
func joinRails(d emu.Fabric) string {
	if d.Kind == emu.KindCustom {
		return "link their switches"
	}
	return "take rail-optimized"
}
