package fabric

import (
	"errors"
	"fmt"
	"strings"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/catalog"
	"github.com/railyard/railyard/emu/network"
	"github.com/railyard/railyard/shaping"
)

// slice is the torus that ICI makes of the chips of a group of several hosts. Any
// link may carry what others send on, so all are shared ports, those on a host's
// board too; a chip's own ports are where its DMA engines meet its router.
//
//	chip ═ ici-out ═ router ═ link ═ router ═ link ═ router ═ ici-in ═ chip
type slice struct {
	emu.Slice
	net   *network.Network // of chips, by emu.Slice.Chip
	base  PortID
	rings [][]int // chips in order, each there and back
}

// joinSlices builds what ICI joins.
func (f *Fabric) joinSlices() error {
	var all *slice
	for i := range f.nodes {
		n := &f.nodes[i]
		if !n.sliced {
			continue
		}
		if n.place == 0 {
			var err error
			if all, err = newSlice(&f.Cluster.Groups[n.group], n.system); err != nil {
				return fmt.Errorf("nodes[%d]: %w", n.group, err)
			}
			all.base = PortID(len(f.ports))
			for _, p := range all.net.Ports {
				name := strings.ReplaceAll(p.Name, "torus-", "chip-")
				f.ports = append(f.ports, Port{Name: fmt.Sprintf("slice%d/%s", n.group, name), Rate: p.Rate, Node: Shared})
			}
		}
		n.slice = all
	}
	return nil
}

// JoinSlice reports why ICI cannot join a group's hosts, nil where it does or the
// system has none.
func JoinSlice(g emu.Group) error {
	sys, err := catalog.LookupSystem(g.System)
	if g.Machine != "" || err != nil || sys.Board.ICI.Chips == 0 {
		return nil // others say what is wrong with the name
	}
	_, err = joinChips(&g, &sys)
	return err
}

// joinChips returns the network of a group's chips, or what stands against it:
// circuits that are dark.
func joinChips(g *emu.Group, sys *catalog.System) (*network.Network, error) {
	n, err := network.New(torusOf(g, sys))
	if err != nil {
		return nil, fmt.Errorf("dark %v: %s; leave out some, or replace their cubes", g.Dark, strings.ReplaceAll(err.Error(), "torus-", "chip-"))
	}
	return n, nil
}

// newSlice returns a group's slice, ports not yet numbered.
func newSlice(g *emu.Group, sys *catalog.System) (*slice, error) {
	s := &slice{Slice: g.Slice.Filled(g.Count)}
	var err error
	if s.net, err = joinChips(g, sys); err != nil {
		return nil, err
	}
	s.rings = newWeave(s.Torus, s.Open(), s.Cut()).rings()
	return s, nil
}

// torusOf returns the network of a group's chips.
func torusOf(g *emu.Group, sys *catalog.System) (network.Config, []network.Host) {
	s := g.Slice.Filled(g.Count)
	v := &sys.NVLink
	hosts := make([]network.Host, s.Chips())
	for i := range hosts {
		hosts[i].Node = i
	}
	return network.Config{Shape: network.Torus, Rate: (v.Wire / shaping.Rate(v.Links)).Permille(v.Usable),
		Radix: v.Links + 1, Hop: sys.Board.ICI.Hop, Dims: s.Torus, Open: s.Open(), Cut: s.Cut()}, hosts
}

// checkSlice reports what is wrong with how ICI is to join a group's hosts.
func checkSlice(g *emu.Group, in *inside) error {
	ici := &in.system.Board.ICI
	switch {
	case !in.given && ici.Chips > 0:
		return g.Slice.Check(g.Count, emu.Pod{Chips: ici.Chips, Slice: ici.Slice})
	case !g.Unsaid():
		return errors.New("torus, wrap, cubes, dark: ICI joins hosts of TPUs alone")
	}
	return nil
}

// throughICI returns the way from a chip to another one of its slice: no NIC, no
// proxy, a router's latency for each link.
func (f *Fabric) throughICI(a, b *node, src, dst int, p collective.Protocol) Route {
	s, v, hop := a.slice, &a.system.NVLink, a.system.Board.ICI.Hop
	way, ok := s.net.Path(s.Chip(a.place, src-a.firstGPU), s.Chip(b.place, dst-b.firstGPU), flow(src, dst, 0))
	if !ok {
		panic(fmt.Sprintf("fabric: no way over ICI from GPU %d to GPU %d", src, dst))
	}
	w := Path{Ports: []PortID{a.gpuPort(src, nvOut)}, Latency: append(way.Latency, 0), Inject: 1}
	for _, port := range way.Ports {
		w.Ports = append(w.Ports, s.base+PortID(port))
	}
	w.Ports = append(w.Ports, b.gpuPort(dst, nvIn))
	w.Latency[len(way.Ports)] = v.Steps.Of(p)
	return Route{Remote: true, FromSwitch: true, SendProxy: src, RecvProxy: dst, Wire: w,
		Credit: v.Credit + shaping.Duration(len(way.Ports))*hop,
		SM:     b.system.SM.Rate, Answer: f.answer, Refill: f.answer}
}

// ringsOver returns the orders in which rings go round the ranks of a slice, all
// of whose chips take part; none for fewer.
func (f *Fabric) ringsOver(n *node, comm, ranks []int) [][]int {
	s := n.slice
	if len(ranks) != s.Chips() {
		return nil
	}
	at := make([]int, len(ranks)) // chip → rank
	for _, r := range ranks {
		o := &f.nodes[f.NodeOf(comm[r])]
		at[s.Chip(o.place, comm[r]-o.firstGPU)] = r
	}
	var rings [][]int
	for _, chips := range s.rings {
		ring := make([]int, len(chips))
		for i, c := range chips {
			ring[i] = at[c]
		}
		rings = append(rings, ring)
	}
	return rings
}

// OfICI reports whether the links of a GPU are Google's ICI, not NVLink.
func (f *Fabric) OfICI(gpu int) bool { return f.nodes[f.gpuNode[gpu]].system.Board.ICI.Chips > 0 }

// Slice returns the network of chips that a node is in over ICI, nil when ICI does
// not leave it, and which chip there each of its GPUs is.
func (f *Fabric) Slice(node int) (chips *network.Network, of func(gpu int) int) {
	n := &f.nodes[node]
	if n.slice == nil {
		return nil, nil
	}
	return n.slice.net, func(gpu int) int { return n.slice.Chip(n.place, gpu) }
}
