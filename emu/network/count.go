package network

// Bill is what a network is made of.
type Bill struct {
	// Leaves, Spines and Cores are switches by tier, over all planes.
	Leaves, Spines, Cores int
	// HostCables join NICs and leaves, TrunkCables switches.
	HostCables, TrunkCables int
	// Ports are switch ports in use.
	Ports int
}

// Bill counts switches, cables and ports.
func (n *Network) Bill() Bill {
	b := Bill{HostCables: n.HostCables * n.Planes, TrunkCables: n.TrunkCables * n.Planes}
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
