package emu

import "github.com/railyard/railyard/emu/machine"

// Cluster is the hardware a user declares, in the words of a cluster file.
// Names of systems, fabrics and links are those of emu/catalog; emu/fabric
// turns a Cluster into ports and paths.
type Cluster struct {
	Name string
	// Groups are the servers, in node order. A group is also a unit of the
	// fabric: its nodes share the uplink to the other groups.
	Groups []Group
	// Machines are servers that no catalog has, in full; groups name them.
	Machines []machine.Machine
	Fabric   Fabric
	// Seed feeds every random draw. Same seed, same cluster, same result.
	Seed uint64
}

// Group is a number of like servers.
type Group struct {
	Count  int    // nodes, at least 1
	System string // catalog name, e.g. "dgx-h100"; empty when Machine is not
	// Machine is the name of one of the cluster's Machines.
	Machine string
	// GPUs and NICs in use on each node; 0 is all that the system has (NICs:
	// no more than one for each GPU in use).
	GPUs, NICs int
	// NoGDR: NICs may not read and write the memory of GPUs; what they send and
	// receive is staged in host memory.
	NoGDR bool
	// Switches are those of a custom fabric that the NICs hang on: one for all,
	// or one for each.
	Switches []string
	// Slice is how ICI joins the group's hosts, where they are those of TPUs.
	Slice
}

// Fabric is what joins the servers.
type Fabric struct {
	// Kind is a shape of the catalog, e.g. "rail-optimized". Empty: the
	// default of the first group's system.
	Kind string
	// Link is a link of the catalog, e.g. "ndr". Empty: the system's own.
	Link string
	// Oversubscription is how many times more the NICs of a leaf can send than
	// its links up carry; 1 never contends where routing spreads. 0 means 1.
	Oversubscription int
	// Routing is how switches choose among equally good links: adaptive, static,
	// hash, spray or valiant. Empty: what the link's switches do.
	Routing string
	// PXN says whether GPUs forward to the owner of a rail, CrossNIC whether rings
	// change rails between servers.
	PXN      PXN
	CrossNIC CrossNIC
	// Unit is how many servers of a group share a set of leaves in a
	// rail-optimised fabric. 0: the whole group, or as many as fit.
	Unit int
	// Planes is how many separate networks there are, each NIC having a port in
	// every one at a part of its rate. 0 means 1.
	Planes int
	// Dims are the sizes of a torus, in servers. Empty: as close to a cube as fits.
	Dims []int
	// HostsPerSwitch is how many NICs hang on a switch of a fat tree or dragonfly.
	// 0: as many as make it balanced.
	HostsPerSwitch int
	// Switches and Links are those of a fabric of kind custom.
	Switches []string
	Links    []FabricLink
}

// Nodes returns the number of servers.
func (c *Cluster) Nodes() int {
	n := 0
	for _, g := range c.Groups {
		n += g.Count
	}
	return n
}
