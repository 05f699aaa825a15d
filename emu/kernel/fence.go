package kernel

import (
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/shaping"
)

// Before it sets the flag of a slice, an SM waits until the bytes have arrived. A
// GPU's links serve the SMs of all channels byte by byte, and those do the same steps:
// all are through at once, and the links idle while all wait. Here a port serves one
// slice after the other, so each takes its share of that with it:
//
//	links share   ▓▓▓▓▓▓▓▓▓▓▓▓ fence ▓▓▓▓▓▓▓▓▓▓▓▓ fence
//	slice, share  ▓▓▓▓· ▓▓▓▓· ▓▓▓▓·  ▓▓▓▓· ▓▓▓▓· ▓▓▓▓·
//
// In an NVSwitch's algorithms the blocks of a channel, and with them the links, are
// at different stages at once; there the SM alone waits.

// share sets how long a rank's links idle for each slice that it sends over them.
func (k *Kernel) share(rk *rank) {
	ports := map[fabric.PortID]bool{}
	conns, fence := shaping.Duration(0), shaping.Duration(0)
	for i := range rk.blocks {
		b := &k.blocks[rk.first+i]
		for peer := range b.peersOut {
			if p := k.firstPath(b.sendConn(int(peer))); p.Fence > 0 {
				conns, fence, ports[p.Ports[0]] = conns+1, p.Fence, true
			}
		}
	}
	if conns > 0 {
		rk.idle = fence * shaping.Duration(len(ports)) / conns
	}
}

// fence keeps the links over which a block has sent a slice until an instant idle for
// its share.
func (k *Kernel) fence(b *block, p *fabric.Path, data shaping.Bytes, until shaping.Time) {
	if p.Fence > 0 && data > 0 {
		k.Rest(p.Ports[0], until, k.ranks[b.rank].idle)
	}
}

// pause makes the SM of a block that has sent a slice to an NVSwitch's engines wait,
// and returns until when.
func (k *Kernel) pause(b *block, peer int, end shaping.Time) shaping.Time {
	if peer >= int(b.peersOut) {
		return end
	}
	end = end.Add(k.firstPath(b.sendConn(peer)).Pause / shaping.Duration(b.peersOut))
	e := &k.engines[b.engine]
	e.free = max(e.free, end)
	return end
}
