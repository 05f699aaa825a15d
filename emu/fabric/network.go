package fabric

import (
	"github.com/railyard/railyard/emu/catalog"
	"github.com/railyard/railyard/emu/network"
)

// Link returns what NICs and switches speak.
func (f *Fabric) Link() catalog.Link { return f.link }

// Network returns what joins the servers, nil when there is but one: switches and
// cables as they would be bought. Ports of today's cluster are in units' uplinks.
func (f *Fabric) Network() *network.Network {
	if len(f.nodes) == 1 {
		return nil
	}
	c := network.Config{Shape: network.RailOptimized, Rate: f.link.Wire.Permille(f.link.Usable), Radix: f.link.Radix,
		Hop: f.link.Switch, Oversubscription: f.Cluster.Fabric.Oversubscription}
	most := c.Radix * c.Oversubscription / (c.Oversubscription + 1)
	var hosts []network.Host
	unit := -1
	for i := range f.nodes {
		if f.nodes[i].place%most == 0 {
			unit++
		}
		c.UnitOf = append(c.UnitOf, unit)
		for k := range f.nodes[i].nics {
			hosts = append(hosts, network.Host{Node: i, NIC: k})
		}
	}
	n, err := network.New(c, hosts)
	if err != nil {
		panic("fabric: a network that was found good cannot be built: " + err.Error())
	}
	return n
}
