package fabric

import (
	"cmp"
	"errors"
	"fmt"

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
	c, err := f.networkConfig()
	if err != nil {
		return err
	}
	if !treeShape(c.Shape) {
		f.link.SHARP = 0 // its trees follow a folded Clos network
	}
	hosts := f.hosts()
	if len(f.nodes) == 1 {
		return nil
	}
	if c.Shape == network.RailOnly {
		if err := f.sameRails(); err != nil {
			return err
		}
	}
	if f.net, err = network.New(c, hosts); err != nil {
		return fmt.Errorf("fabric %s of %s, %d servers: %w", f.Cluster.Fabric.Kind, f.link.Name, len(f.nodes), err)
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

// hosts numbers the NICs of all nodes, in order.
func (f *Fabric) hosts() []network.Host {
	var hosts []network.Host
	for i := range f.nodes {
		f.nodes[i].firstNIC = len(hosts)
		for k := range f.nodes[i].nics {
			hosts = append(hosts, network.Host{Node: i, NIC: k})
		}
	}
	return hosts
}

// sameRails reports a node that would have to send from one rail to another: a
// channel leaves and enters by NIC channel mod NICs.
func (f *Fabric) sameRails() error {
	for i := range f.nodes {
		if a, b := f.nodes[0].nics, f.nodes[i].nics; a != b {
			return fmt.Errorf("fabric rail-only: node0 has %d NICs and node%d has %d, so their channels meet on unlike rails, which are not joined; give all nodes the same number, or take rail-optimized", a, i, b)
		}
	}
	return nil
}

func (f *Fabric) networkConfig() (network.Config, error) {
	d := &f.Cluster.Fabric
	shape, err := network.ParseShape(d.Kind)
	if err != nil {
		return network.Config{}, fmt.Errorf("fabric.kind %w", err)
	}
	routing, err := network.ParseRouting(d.Routing)
	if err != nil {
		return network.Config{}, fmt.Errorf("fabric.routing %w", err)
	}
	planes := max(d.Planes, 1)
	c := network.Config{
		Shape: shape, Routing: routing, Oversubscription: d.Oversubscription,
		// A port of a switch splits into one for each plane.
		Rate: f.link.Wire.Permille(f.link.Usable), Radix: f.link.Radix * planes, Planes: planes,
		Hop: f.link.Switch, Global: catalog.Global,
		PerSwitch: d.HostsPerSwitch, Dims: d.Dims, Seed: f.Cluster.Seed,
	}
	if shape == network.RailOptimized || shape == network.RailOnly {
		c.Aligned = f.sameRails() == nil
		f.units(&c)
	}
	return c, nil
}

// units deals the nodes out to units: each group is one, in parts where its rails
// have more nodes than a leaf has ports for.
func (f *Fabric) units(c *network.Config) {
	most := c.Radix / 2
	if o := c.Oversubscription; o > 1 {
		most = c.Radix * o / (o + 1)
	}
	if unit := f.Cluster.Fabric.Unit; unit > 0 {
		most = unit
	}
	unit := -1
	for i := range f.nodes {
		n := &f.nodes[i]
		if n.place%most == 0 {
			unit++
		}
		c.UnitOf = append(c.UnitOf, unit)
	}
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
