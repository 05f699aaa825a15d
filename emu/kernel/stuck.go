package kernel

import (
	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
)

// Stuck is a block that can never go on: nothing is pending, and it waits.
type Stuck struct {
	Run, Rank, Channel, Block, Step int
	Waits                           string // "data", "slot", "step"
	Peer                            int    // the rank waited for; its own for a step
	// Unit is where the block is, PeerUnit where that of the peer is.
	Unit, PeerUnit collective.Unit
}

// Who names the block: its rank, or its rank's switch.
func (s *Stuck) Who() string { return collective.At(s.Rank, s.Unit) }

// Whom names what it waits for likewise.
func (s *Stuck) Whom() string { return collective.At(s.Peer, s.PeerUnit) }

// Waiter puts it in the words that all hosts share.
func (s *Stuck) Waiter() emu.Waiter {
	return emu.Waiter{Run: s.Run, Rank: s.Rank, Channel: s.Channel, Block: s.Block, Step: s.Step, Waits: s.Waits,
		Peer: s.Peer, Who: s.Who(), Whom: s.Whom()}
}

// Stuck returns the hosted blocks that wait although no event is pending, in
// the order of their positions. Empty after a batch that ran to its end.
func (k *Kernel) Stuck() []Stuck {
	var all []Stuck
	for i := range k.blocks {
		b := &k.blocks[i]
		if k.states[i] == idle || k.states[i] == busy {
			continue
		}
		s := Stuck{Run: int(b.run), Rank: int(k.ranks[b.rank].rank), Channel: int(b.channel),
			Block: int(k.runs[b.run].blockIndex(b)), Step: int(b.step)}
		s.Unit = k.runs[b.run].wired.Blocks[b.wired].Unit
		s.Waits, s.Peer, s.PeerUnit = k.waitsFor(b, k.states[i])
		all = append(all, s)
	}
	return all
}

func (k *Kernel) waitsFor(b *block, at state) (what string, peer int, in collective.Unit) {
	r := &k.runs[b.run]
	s := &b.steps[b.step]
	switch at {
	case waitData:
		for m, i := firstRecv(s); i < int(b.peersIn); i = m.Next(i + 1) {
			if ci := k.recvConn(b, i); k.conns[ci].ready == 0 {
				c := &r.wired.Conns[ci-r.firstConn]
				return "data", c.From, c.Out
			}
		}
	case waitSlot:
		for m, i := firstSend(s); i < int(b.peersOut); i = m.Next(i + 1) {
			if ci := b.sendConn(i); k.conns[ci].slots < r.unit {
				c := &r.wired.Conns[ci-r.firstConn]
				return "slot", c.To, c.In
			}
		}
	}
	return "step", int(k.ranks[b.rank].rank), collective.SM
}
