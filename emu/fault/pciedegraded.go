package fault

import (
	"cmp"
	"slices"

	"github.com/railyard/railyard/emu/fabric"
)

// pcieDegraded is a slot that runs slower than it could.
var pcieDegraded = Kind{
	Word: "pcie-degraded", Family: "pcie",
	Also:     []string{"pcie_degraded", "pcie-slow"},
	Strikes:  []Class{GPU, NIC},
	Means:    "its slot runs at generation gen, or with width lanes",
	Hardware: "a slot that trained badly, or a bent pin: lspci says LnkSta … (downgraded). A NIC of 400 Gb/s needs Gen5 x16; x8 halves it",
	Source:   "PCI Express base specification; lspci(8)",
	takes:    lasts + " gen width",
	compile:  compilePcieDegraded,
}

// widths are how many lanes a link may train at (PCI Express base specification).
var widths = []int{1, 2, 4, 8, 12, 16, 32}

func compilePcieDegraded(s *strike) {
	if s.Gen == 0 && s.Width == 0 {
		s.say("gen", "is missing: give gen, width or both")
		return
	}
	for _, p := range s.hit {
		slot, ok := s.slotOf(p)
		if !ok {
			s.say("target", "%s is joined to its CPU by a coherent link; it has no slot", p.name)
			continue
		}
		gen, lanes := cmp.Or(s.Gen, slot.Gen), cmp.Or(s.Width, slot.Lanes)
		was, is := fabric.PCIeRate(slot.Gen, slot.Lanes), fabric.PCIeRate(gen, lanes)
		switch {
		case !slices.Contains(widths, lanes):
			s.say("width", "%d: a slot has 1, 2, 4, 8, 12, 16 or 32 lanes", lanes)
		case is == 0:
			s.say("gen", "%d: generations are 1 to 6", gen)
		case is >= was:
			s.say("gen", "Gen%d x%d is no less than what %s has, Gen%d x%d", gen, lanes, p.name, slot.Gen, slot.Lanes)
		default:
			share := State{Share: int64(is) * Whole / int64(was)}
			s.suffer([]fabric.Hit{{Port: slot.Out}, {Port: slot.In}}, func(fabric.Hit) State { return share })
		}
	}
}

func (s *strike) slotOf(p part) (fabric.Slot, bool) {
	if p.class == NIC {
		return s.f.NICSlot(p.node, p.index), true
	}
	first, _ := s.f.GPURange(p.node)
	return s.f.GPUSlot(first + p.index)
}
