package fabric

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

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
	if c.Kind != "" && c.Kind != emu.KindCustom {
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
	f.apart = f.Cluster.RailsApart()
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
	if len(f.nodes) == 1 || nics == 0 {
		return nil // nothing to join, or NVLink alone joins them
	}
	var err error
	if f.Cluster.Fabric.Kind == emu.KindCustom {
		f.net, err = f.joinCustom(servers)
	} else {
		f.net, err = joinServers(f.Cluster.Fabric, f.link, servers, f.Cluster.Seed, cmp.Or(f.railsMeet(), f.ringsMeet()), f.options.Pools)
	}
	if err != nil {
		return err
	}
	for _, p := range f.net.Ports {
		f.ports = append(f.ports, Port{p.Name, p.Rate, Shared, p.Spare})
	}
	return nil
}

// joinCustom builds the network that the cluster lists switch by switch. Rates of
// its links are as sold; a link without one has the rate of the fabric's.
func (f *Fabric) joinCustom(servers []Server) (*network.Network, error) {
	c := f.Cluster
	if f.apart {
		err := checkForwarding(c.Fabric, servers)
		if meet := f.railsMeet(); err == nil && meet != nil {
			err = fmt.Errorf("fabric custom: %w; rails are not joined, so give all nodes the same NICs, or link their switches", meet)
		}
		if err != nil {
			return nil, err
		}
	}
	c.Groups = slices.Clone(c.Groups)
	for i := range f.nodes {
		c.Groups[f.nodes[i].group].NICs = f.nodes[i].nics
	}
	n, hosts := c.CustomNetwork()
	routing, err := network.ParseRouting(c.Fabric.Routing)
	if err != nil {
		return nil, fmt.Errorf("fabric.routing %w", err)
	}
	n.Routing, n.Rate, n.Hop = routing, f.link.Wire.Permille(f.link.Usable), f.link.Switch
	for i := range n.Links {
		if r := n.Links[i].Rate; r > 0 {
			n.Links[i].Rate = max(r.Permille(f.link.Usable), 1) // 0 would mean the fabric's own
		}
	}
	net, err := network.New(n, hosts)
	if err != nil {
		return nil, fmt.Errorf("fabric custom: %w", err)
	}
	return net, nil
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
	return joinServers(d, link, servers, seed, sameRails(servers), false)
}

// joinServers is Join; meet says why some message has to go from one rail to
// another, nil when none has to.
func joinServers(d emu.Fabric, link catalog.Link, servers []Server, seed uint64, meet error, pools bool) (*network.Network, error) {
	c, err := networkConfig(d, link, seed)
	if err != nil {
		return nil, err
	}
	c.Pools = pools
	if c.Shape == network.RailOnly {
		if err := checkForwarding(d, servers); err != nil {
			return nil, err
		}
	}
	if c.Shape == network.RailOptimized || c.Shape == network.RailOnly {
		if meet != nil && c.Shape == network.RailOnly {
			return nil, fmt.Errorf("fabric rail-only: %w; rails are not joined, so give all nodes the same NICs, or take rail-optimized", meet)
		}
		c.Aligned = meet == nil
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

// sameRails reports servers whose channels must meet on unlike rails, by what is
// known without their insides: how many NICs they have.
func sameRails(servers []Server) error {
	for i, s := range servers {
		if a, b := servers[0].NICs, s.NICs; a != b {
			return fmt.Errorf("node0 has %d NICs and node%d has %d", a, i, b)
		}
	}
	return nil
}

// railsMeet reports a pair of GPUs whose messages leave by one rail and arrive by
// another. Nodes of one group are alike, and so are groups that are told alike.
func (f *Fabric) railsMeet() error {
	type told struct {
		system, machine string
		gpus, nics      int
		direct          bool
	}
	var kinds []*node
	seen := map[told]bool{}
	for i := range f.nodes {
		n := &f.nodes[i]
		g := &f.Cluster.Groups[n.group]
		if k := (told{g.System, g.Machine, n.gpus, n.nics, n.direct}); !seen[k] {
			seen[k] = true
			kinds = append(kinds, &f.nodes[i])
		}
	}
	for _, a := range kinds {
		for _, b := range kinds {
			if err := f.pairMeets(a, b); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f *Fabric) pairMeets(a, b *node) error {
	if a.nics == 0 || b.nics == 0 {
		return nil
	}
	for i := range a.gpus * b.gpus {
		src, dst := a.firstGPU+i/b.gpus, b.firstGPU+i%b.gpus
		for channel := range maxSMs {
			if from, to := f.Rails(src, dst, channel); from != to {
				return fmt.Errorf("on channel %d GPU %d leaves by NIC %d of its node and GPU %d receives by NIC %d of its own", channel, src, from, dst, to)
			}
		}
	}
	return nil
}

// Rails returns by which NIC of its node a GPU's messages of a channel leave, and
// by which of the receiver's they arrive. The channel is as Route has it.
func (f *Fabric) Rails(src, dst, channel int) (from, to int) {
	a, b := &f.nodes[f.gpuNode[src]], &f.nodes[f.gpuNode[dst]]
	from = a.leave(src-a.firstGPU, channel).rail
	return from, f.arrive(b, dst, channel, from)
}

// arrive returns the rail by which messages of a channel that left by a given one
// come to a GPU of a node: that same rail where no switch joins it to another.
func (f *Fabric) arrive(n *node, dst, channel, left int) int {
	if f.isolated() && left < n.nics {
		return left
	}
	return n.arrive(dst-n.firstGPU, channel)
}

// maxPlanes is into how many a port of eight lanes splits (OSFP).
const maxPlanes = 8

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
	if planes > maxPlanes || planes&(planes-1) != 0 {
		return network.Config{}, fmt.Errorf("fabric.planes %d: must be 1, 2, 4 or 8, as a port has so many lanes to split into", d.Planes)
	}
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
	o := c.Oversubscription
	most := cmp.Or(c.Unit, c.Radix*o/(o+1))
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
// the switch at the port's end, which planes have before their last port; or the end of a way over ICI.
func (f *Fabric) LeastHop() shaping.Duration {
	least := f.link.Switch + f.link.NIC
	if f.net != nil && f.net.Planes > 1 {
		least = f.link.NIC
	}
	for i := range f.nodes {
		if s := &f.nodes[i].system.NVLink.Steps; f.nodes[i].slice != nil {
			least = min(least, s.Simple, s.LL, s.LL128)
		}
	}
	return least
}
