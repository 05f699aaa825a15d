package fabric

import (
	"cmp"

	"github.com/railyard/railyard/emu/catalog"
	"github.com/railyard/railyard/emu/machine"
	"github.com/railyard/railyard/shaping"
)

// Rates are the machine's, less what never reaches memory; where a machine does
// not say, those of the system that its GPUs are most like.

// slotRate returns what a PCIe slot carries.
func (in *inside) slotRate(s machine.Slot) shaping.Rate {
	c := &in.system.PCIe
	wire := s.Rate()
	if wire == 0 || (s == machine.Slot{Gen: c.Gen, Lanes: 16}) {
		wire = c.Wire
	}
	return wire.Permille(c.Usable)
}

// c2cRate returns what a GPU's coherent link carries. Its headers are taken to
// be as long as NVLink's.
func (in *inside) c2cRate(c machine.C2C) shaping.Rate {
	all := shaping.Rate(c.Count) * c.Rate
	return cmp.Or(all, in.system.Board.C2C, in.system.PCIe.Wire).Permille(cmp.Or(in.system.NVLink.Usable, in.system.PCIe.Usable))
}

// nvRate returns what a bundle of NVLinks carries.
func (in *inside) nvRate(l machine.NVLink) shaping.Rate {
	v := &in.system.NVLink
	one := l.Rate
	if one == 0 {
		one = v.Wire / shaping.Rate(max(v.Links, 1))
	}
	return (one * shaping.Rate(l.Count)).Permille(v.Usable)
}

// toPlanes returns what all links of a GPU to NVSwitches carry.
func (in *inside) toPlanes(gpu int) shaping.Rate {
	all := machine.NVLink{}
	var rate shaping.Rate
	for _, l := range in.m.NVLinks {
		if l.Plane && l.GPU == gpu {
			all.Count++
			one := l
			rate += in.nvRate(one)
		}
	}
	if !in.given && all.Count > 0 { // without rounding a bundle at a time
		return in.system.NVLink.Wire.Permille(in.system.NVLink.Usable)
	}
	return rate
}

// betweenRate returns what the link between two sockets carries.
func (in *inside) betweenRate(a, b int) shaping.Rate {
	for _, l := range in.m.SocketLinks {
		if l.A == min(a, b) && l.B == max(a, b) && l.Rate > 0 {
			return l.Rate
		}
	}
	return in.system.Board.Between
}

// memoryRate returns what a NUMA node's memory is written and read at.
func (in *inside) memoryRate(numa int) shaping.Rate {
	return cmp.Or(in.m.NUMA[numa].DRAM, in.system.Board.Memory)
}

// wireRate returns the rate of a NIC's port: the link's, or that of a slower NIC
// (0: nobody said), less what headers take.
func wireRate(l *catalog.Link, nic shaping.Rate) shaping.Rate {
	wire := l.Wire
	if nic > 0 {
		wire = min(wire, nic)
	}
	return max(wire.Permille(l.Usable), 1) // a file may say a byte a second
}

// leastNVLink returns the least latency of anything that passes NVLink.
func (in *inside) leastNVLink() shaping.Duration {
	v := &in.system.NVLink
	least := min(v.Steps.Simple, v.Steps.LL, v.Steps.LL128, v.Credit)
	if v.NVLS.Rate > 0 {
		least = min(least, v.NVLS.Step/2)
	}
	if in.sliced {
		least = min(least, in.system.Board.ICI.Hop)
	}
	return least
}
