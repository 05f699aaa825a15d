package kernel

import "math/bits"

// Stuck is a block that can never go on: nothing is pending, and it waits.
type Stuck struct {
	Run, Rank, Channel, Block, Step int
	Waits                           string // "data", "slot", "step"
	Peer                            int    // the rank waited for; its own for a step
}

// Stuck returns the hosted blocks that wait although no event is pending, in
// the order of their positions. Empty after a batch that ran to its end.
func (k *Kernel) Stuck() []Stuck {
	var all []Stuck
	for i := range k.blocks {
		b := &k.blocks[i]
		if b.state == idle || b.state == busy {
			continue
		}
		s := Stuck{Run: int(b.run), Rank: int(k.ranks[b.rank].rank), Channel: int(b.channel),
			Block: int(k.runs[b.run].blockIndex(b)), Step: int(b.step)}
		s.Waits, s.Peer = k.waitsFor(b)
		all = append(all, s)
	}
	return all
}

func (k *Kernel) waitsFor(b *block) (what string, peer int) {
	s := &b.steps[b.step]
	switch b.state {
	case waitData:
		for m := recvMask(s); m != 0; m &= m - 1 {
			if ci := b.recvs[bits.TrailingZeros8(m)]; k.conns[ci].ready == 0 {
				return "data", int(k.peer(b, ci, false))
			}
		}
	case waitSlot:
		n := k.slice(b.run)
		for m := sendMask(s); m != 0; m &= m - 1 {
			if ci := b.sends[bits.TrailingZeros8(m)]; k.conns[ci].slots < n {
				return "slot", int(k.peer(b, ci, true))
			}
		}
	}
	return "step", int(k.ranks[b.rank].rank)
}
