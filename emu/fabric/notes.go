package fabric

import (
	"fmt"
	"slices"
	"strings"

	"github.com/railyard/railyard/emu/catalog"
	"github.com/railyard/railyard/shaping"
)

// Notes says what a user should know of machines that were given in full: whose
// figures stand for theirs, which GPU lacks the NVLinks that others have, and
// NICs whose nearest GPU is another one on another machine.
func (f *Fabric) Notes() []string {
	var all []string
	var seen []*inside
	for i := range f.nodes {
		in := f.nodes[i].inside
		if !in.given || slices.ContainsFunc(seen, func(o *inside) bool { return o.m.Name == in.m.Name }) {
			continue
		}
		all = append(all, fmt.Sprintf("machine %s: SMs, proxies and what the file does not say are taken from %s (assumed)", in.m.Name, catalog.LikeName(&in.m)))
		all = append(all, in.lost()...)
		for _, o := range seen {
			all = append(all, in.differs(o)...)
		}
		seen = append(seen, in)
	}
	return all
}

// Idle names settings of the fabric that change nothing, unless they are what its
// link comes with, and says what became of a ratio that whole links can't have.
func (f *Fabric) Idle() []string {
	c := &f.Cluster.Fabric
	if f.net == nil {
		if c.Oversubscription > 1 {
			return []string{fmt.Sprintf("oversubscription %d: no effect, as no network joins servers", c.Oversubscription)}
		}
		return nil
	}
	return slices.DeleteFunc(f.net.Idle(), func(s string) bool { return c.Routing == f.link.Routing && strings.HasPrefix(s, "routing ") })
}

// lost names GPUs without NVLink next to others that have it.
func (in *inside) lost() []string {
	var all []string
	linked := slices.ContainsFunc(in.nvlinks, func(r shaping.Rate) bool { return r > 0 })
	for g, r := range in.nvlinks {
		if linked && r == 0 {
			all = append(all, fmt.Sprintf("machine %s: gpu%d has no NVLink although others have; its traffic takes PCIe", in.m.Name, g))
		}
	}
	return all
}

// differs reports the first NIC that two machines with as many GPUs and NICs
// have next to different GPUs.
func (in *inside) differs(o *inside) []string {
	if in.gpus != o.gpus || len(in.m.NICs) != len(o.m.NICs) {
		return nil
	}
	for nic := range in.m.NICs {
		if a, b := in.nextTo(nic), o.nextTo(nic); a != b {
			return []string{fmt.Sprintf("machines %s and %s: nic%d is next to gpu%d of one and gpu%d of the other; rings cross rails where the files are right",
				o.m.Name, in.m.Name, nic, b, a)}
		}
	}
	return nil
}

// nextTo returns the first of the GPUs nearest to a NIC.
func (in *inside) nextTo(nic int) int {
	best := 0
	for g := range in.gpus {
		if in.distance(g, nic) < in.distance(best, nic) {
			best = g
		}
	}
	return best
}

// SlotLimits names the NICs in use that could send more than their PCIe slot
// carries; ports of one card share it. A line is what NICs have alike.
func (f *Fabric) SlotLimits() []string {
	var all []string
	for i := range f.nodes {
		for _, line := range f.slotLimits(i) {
			if !slices.Contains(all, line) {
				all = append(all, line)
			}
		}
	}
	return all
}

func (f *Fabric) slotLimits(node int) []string {
	in := f.nodes[node].inside
	var all []string
	for first := 0; first < len(in.rails); {
		wire, slot := f.wireAndSlot(node, first)
		next := first + 1
		for next < len(in.rails) {
			if w, s := f.wireAndSlot(node, next); w != wire || s != slot {
				break
			}
			next++
		}
		if wire > slot {
			nics := fmt.Sprintf("nic%d", first)
			if next-first > 1 {
				nics += fmt.Sprintf(" to nic%d", next-1)
			}
			all = append(all, fmt.Sprintf("%s: %s could send %v each, and a slot of %v carries %v for each: the slot is the limit",
				in.m.Name, nics, wire, in.m.NICs[in.rails[first]].Slot, slot))
		}
		first = next
	}
	return all
}

// wireAndSlot returns what a NIC can send, and its part of what its slot carries.
func (f *Fabric) wireAndSlot(node, nic int) (wire, slot shaping.Rate) {
	in, ports := f.nodes[node].inside, 0
	for _, card := range in.cards {
		if card == in.cards[nic] {
			ports++
		}
	}
	return f.Port(f.NICEgress(node, nic)).Rate, in.ports[in.cards[nic]].Rate / shaping.Rate(ports)
}
