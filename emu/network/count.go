package network

// Bill is what a network is made of, over all planes.
type Bill struct {
	// Leaves, Spines and Cores are switches by tier.
	Leaves, Spines, Cores int
	// HostCables join NICs and leaves, TrunkCables switches, GlobalCables groups of
	// a dragonfly; they are trunks as well.
	HostCables, TrunkCables, GlobalCables int
	// Ports are switch ports in use.
	Ports int
}

// Bill counts switches, cables and ports.
func (n *Network) Bill() Bill {
	b := Bill{HostCables: n.HostCables * n.Planes, TrunkCables: n.TrunkCables * n.Planes, GlobalCables: n.GlobalCables * n.Planes}
	for _, s := range n.Switches {
		switch s.Tier {
		case 0:
			b.Leaves += n.Planes
		case 1:
			b.Spines += n.Planes
		default:
			b.Cores += n.Planes
		}
		b.Ports += s.Used * n.Planes
	}
	return b
}
