package fabric

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/catalog"
	"github.com/railyard/railyard/emu/network"
	"github.com/railyard/railyard/shaping"
)

// resolveFabric fills in what the first system ships with, and reports all that
// is wrong with the fabric. With unknown systems there may be no node to ask.
func (f *Fabric) resolveFabric() error {
	c := &f.Cluster.Fabric
	if len(f.nodes) > 0 {
		sys := f.nodes[0].system
		c.Kind, c.Link = cmp.Or(c.Kind, sys.Fabric), cmp.Or(c.Link, sys.Link)
	}
	var errs []error
	if c.Oversubscription < 0 {
		errs = append(errs, fmt.Errorf("fabric.oversubscription %d: must be 1 or more", c.Oversubscription))
	}
	c.Oversubscription = max(c.Oversubscription, 1)
	if c.Kind != "" {
		shape, err := catalog.LookupShape(c.Kind)
		errs = append(errs, err)
		c.Kind = shape.Name
	}
	if c.Link != "" {
		var err error
		f.link, err = catalog.LookupLink(c.Link)
		errs = append(errs, err)
	}
	c.Routing = cmp.Or(c.Routing, f.link.Routing)
	if c.Routing != "" {
		if _, err := network.ParseRouting(c.Routing); err != nil {
			errs = append(errs, fmt.Errorf("fabric.routing %w", err))
		}
	}
	return errors.Join(errs...)
}

// join builds the network between the NICs, and its ports.
func (f *Fabric) join() error {
	f.netBase = PortID(len(f.ports))
	if shape, err := network.ParseShape(f.Cluster.Fabric.Kind); err == nil && !treeShape(shape) {
		f.link.SHARP = 0 // its trees follow a folded Clos network
	}
	nics := 0
	servers := make([]Server, len(f.nodes))
	for i := range f.nodes {
		n := &f.nodes[i]
		n.firstNIC = nics
		nics += n.nics
		servers[i] = Server{n.group, n.place, n.nics}
	}
	if len(f.nodes) == 1 {
		return nil
	}
	var err error
	if f.net, err = Join(f.Cluster.Fabric, f.link, servers, f.Cluster.Seed); err != nil {
		return err
	}
	for _, p := range f.net.Ports {
		f.ports = append(f.ports, Port{p.Name, p.Rate, Shared})
	}
	return nil
}

// treeShape reports whether switches of the shape form trees that can reduce.
func treeShape(s network.Shape) bool {
	return s == network.Single || s == network.FatTree || s == network.RailOptimized || s == network.RailOnly
}

// Server is a node as the network sees it: its group, its place within that, and
// how many NICs it plugs in.
type Server struct{ Group, Place, NICs int }

// Join returns the network that joins servers as d says, over the given link, or
// what stands against it. Defaults of d other than its kind are filled in.
func Join(d emu.Fabric, link catalog.Link, servers []Server, seed uint64) (*network.Network, error) {
	c, err := networkConfig(d, link, seed)
	if err != nil {
		return nil, err
	}
	if c.Shape == network.RailOptimized || c.Shape == network.RailOnly {
		err := sameRails(servers)
		if err != nil && c.Shape == network.RailOnly {
			return nil, err
		}
		c.Aligned = err == nil
		c.UnitOf = units(&c, servers)
	}
	var hosts []network.Host
	for i, s := range servers {
		for k := range s.NICs {
			hosts = append(hosts, network.Host{Node: i, NIC: k})
		}
	}
	n, err := network.New(c, hosts)
	if err != nil {
		return nil, fmt.Errorf("fabric %s of %s, %d servers: %w", d.Kind, link.Name, len(servers), err)
	}
	return n, nil
}

// sameRails reports a node that would have to send from one rail to another: a
// channel leaves and enters by NIC channel mod NICs.
func sameRails(servers []Server) error {
	for i, s := range servers {
		if a, b := servers[0].NICs, s.NICs; a != b {
			return fmt.Errorf("fabric rail-only: node0 has %d NICs and node%d has %d, so their channels meet on unlike rails, which are not joined; give all nodes the same number, or take rail-optimized", a, i, b)
		}
	}
	return nil
}

func networkConfig(d emu.Fabric, link catalog.Link, seed uint64) (network.Config, error) {
	shape, err := network.ParseShape(d.Kind)
	if err != nil {
		return network.Config{}, fmt.Errorf("fabric.kind %w", err)
	}
	routing, err := network.ParseRouting(cmp.Or(d.Routing, link.Routing))
	if err != nil {
		return network.Config{}, fmt.Errorf("fabric.routing %w", err)
	}
	planes := max(d.Planes, 1)
	return network.Config{
		Shape: shape, Routing: routing, Oversubscription: max(d.Oversubscription, 1),
		// A port of a switch splits into one for each plane.
		Rate: link.Wire.Permille(link.Usable), Radix: link.Radix * planes, Planes: planes,
		Hop: link.Switch, Global: catalog.Global,
		Unit: d.Unit, PerSwitch: d.HostsPerSwitch, Dims: d.Dims, Seed: seed,
	}, nil
}

// units deals the nodes out to units: each group is one, in parts where its rails
// have more nodes than a leaf has ports for.
func units(c *network.Config, servers []Server) []int {
	most := c.Radix / 2
	if o := c.Oversubscription; o > 1 {
		most = c.Radix * o / (o + 1)
	}
	most = cmp.Or(c.Unit, most)
	unit, of := -1, make([]int, len(servers))
	for i, s := range servers {
		if s.Place%most == 0 {
			unit++
		}
		of[i] = unit
	}
	return of
}

// between returns the way of a channel's messages from one NIC's egress to
// another's ingress: the shared ports, and one latency more than there are ports.
func (f *Fabric) between(src, dst *node, railA, railB int, flow uint64) network.Path {
	p, ok := f.net.Path(src.firstNIC+railA, dst.firstNIC+railB, flow)
	if !ok {
		panic(fmt.Sprintf("fabric: no way from NIC %d of GPU %d's node to NIC %d of GPU %d's", railA, src.firstGPU, railB, dst.firstGPU))
	}
	p.Latency[0] += f.link.NIC
	p.Latency[len(p.Latency)-1] += f.link.NIC
	return p
}

// flow identifies a connection as the ports of its queue pair do: by its ends
// and its channel.
func flow(from, to, channel int) uint64 {
	return uint64(from)<<40 ^ uint64(to)<<16 ^ uint64(channel)
}

// Network returns what joins the servers, nil when there is but one.
func (f *Fabric) Network() *network.Network { return f.net }

// Link returns what NICs and switches speak.
func (f *Fabric) Link() catalog.Link { return f.link }

// Contended reports whether nodes share ports, so that there is a fabric
// participant.
func (f *Fabric) Contended() bool { return int(f.netBase) < len(f.ports) }

// LeastHop returns the least latency from a shared port to a node: a NIC, and
// the switch at the port's end, which planes have before their last port.
func (f *Fabric) LeastHop() shaping.Duration {
	if f.net != nil && f.net.Planes > 1 {
		return f.link.NIC
	}
	return f.link.Switch + f.link.NIC
}
