package wiring

import (
	"fmt"
	"slices"

	"github.com/railyard/railyard/collective"
)

// BlockID identifies a block among all blocks of a batch. In a plan whose
// switches have more than collective.MaxPeers ports every block takes as many
// ids as hold the numbers of so many connections.
type BlockID uint32

// ConnID identifies a connection among all connections of a batch: the sending
// block and the position of the peer in its SendTo list.
type ConnID uint32

// Conn returns the id of the block's connection to its peer-th send peer.
func (b BlockID) Conn(peer int) ConnID { return ConnID(b)*collective.MaxPeers + ConnID(peer) }

// None marks an end of a connection that this process does not host.
const None = -1

// Block is a hosted block.
type Block struct {
	ID    BlockID
	Rank  int
	Index int // position among the rank's blocks
	*collective.Block
	Sends []int // positions in Wiring.Conns, parallel to SendTo
	Recvs []int // positions in Wiring.Conns, parallel to RecvFrom
}

// Conn is a connection with at least one hosted end: a FIFO from one rank to
// another on one channel.
type Conn struct {
	ID       ConnID
	Channel  int
	From, To int // ranks
	// Out and In are the units at its two ends.
	Out, In collective.Unit
	// Sender and Receiver are positions in Wiring.Blocks, or None.
	Sender, Receiver int
}

// Wiring is what one process hosts of a run.
type Wiring struct {
	Plan    *collective.Plan
	Blocks  []Block
	Conns   []Conn
	base    BlockID
	byRank  map[int]int    // rank → first position in Blocks
	foreign map[ConnID]int // position in Conns of those whose sender is elsewhere
}

// Lay wires the hosted ranks of a plan whose blocks are numbered from base on.
// It reports connections that do not pair: an end without a partner, or two
// blocks at one end.
func Lay(p *collective.Plan, base BlockID, hosted func(rank int) bool) (*Wiring, error) {
	w := &Wiring{Plan: p, base: base, byRank: map[int]int{}, foreign: map[ConnID]int{}}
	for r := range p.Ranks {
		if !hosted(r) {
			continue
		}
		w.byRank[r] = len(w.Blocks)
		blocks := p.Rank(r)
		for i := range blocks {
			w.Blocks = append(w.Blocks, Block{ID: id(p, base, r, i), Rank: r, Index: i, Block: &blocks[i]})
		}
	}
	sends := 0
	for i := range w.Blocks {
		sends += len(w.Blocks[i].SendTo)
	}
	w.Conns = make([]Conn, 0, sends)
	for i := range w.Blocks {
		if err := w.joinSends(i); err != nil {
			return nil, err
		}
	}
	ends := w.ends()
	for i := range w.Blocks {
		if err := w.joinReceives(i, ends); err != nil {
			return nil, err
		}
	}
	if err := w.unpaired(ends); err != nil {
		return nil, err
	}
	return w, nil
}

// IDs returns how many block ids a run of p takes.
func IDs(p *collective.Plan) BlockID { return BlockID(p.Ranks*p.Blocks) * width(p) }

// width returns how many ids a block of p takes.
func width(p *collective.Plan) BlockID {
	return BlockID(max(1, (p.Ports+collective.MaxPeers-1)/collective.MaxPeers))
}

// Conn returns the position of the connection with the given id.
func (w *Wiring) Conn(c ConnID) (int, bool) {
	block := BlockID(c / collective.MaxPeers)
	if block < w.base || block-w.base >= IDs(w.Plan) {
		return 0, false
	}
	block -= (block - w.base) % width(w.Plan)
	at := int((block - w.base) / width(w.Plan))
	first, hosted := w.byRank[at/w.Plan.Blocks]
	if !hosted {
		i, ok := w.foreign[c]
		return i, ok
	}
	at = first + at%w.Plan.Blocks
	if at >= len(w.Blocks) || w.Blocks[at].ID != block {
		return 0, false // a rank with fewer blocks than the largest
	}
	peer := int(c - block.Conn(0))
	if sends := w.Blocks[at].Sends; peer < len(sends) {
		return sends[peer], true
	}
	return 0, false
}

// RankBlocks returns the positions of the first of a hosted rank's blocks.
func (w *Wiring) RankBlocks(rank int) (first int, hosted bool) {
	first, hosted = w.byRank[rank]
	return first, hosted
}

func id(p *collective.Plan, base BlockID, rank, block int) BlockID {
	return base + BlockID(rank*p.Blocks+block)*width(p)
}

func (w *Wiring) joinSends(i int) error {
	b := &w.Blocks[i]
	if most := int(width(w.Plan)) * collective.MaxPeers; len(b.SendTo) > most || len(b.RecvFrom) > most {
		return fmt.Errorf("rank %d block %d: %d send and %d receive peers; at most %d each",
			b.Rank, b.Index, len(b.SendTo), len(b.RecvFrom), most)
	}
	b.Sends = slices.Grow(b.Sends, len(b.SendTo))
	for k, to := range b.SendTo {
		b.Sends = append(b.Sends, len(w.Conns))
		w.Conns = append(w.Conns, Conn{ID: b.ID.Conn(k), Channel: b.Channel, From: b.Rank, To: to, Out: b.Unit, In: b.To(k), Sender: i, Receiver: None})
	}
	return nil
}

func (w *Wiring) joinReceives(i int, ends ends) error {
	b := &w.Blocks[i]
	for k, from := range b.RecvFrom {
		at, err := w.sender(lane{from, b.Rank, b.Channel, b.From(k), b.Unit}, ends)
		if err != nil {
			return fmt.Errorf("rank %d block %d receives from rank %d on channel %d: %w", b.Rank, b.Index, from, b.Channel, err)
		}
		if w.Conns[at].Receiver != None {
			return fmt.Errorf("rank %d: two blocks receive from rank %d on channel %d", b.Rank, from, b.Channel)
		}
		w.Conns[at].Receiver = i
		b.Recvs = append(b.Recvs, at)
	}
	return nil
}

// sender returns the position of the one connection on a lane to a rank that is
// hosted, adding those that begin elsewhere.
func (w *Wiring) sender(l lane, ends ends) (int, error) {
	if l.from < 0 || l.from >= w.Plan.Ranks {
		return 0, fmt.Errorf("no such rank; there are %d", w.Plan.Ranks)
	}
	s := ends.sends[l]
	if s.n != 1 {
		return 0, fmt.Errorf("%d blocks send there; exactly one must", s.n)
	}
	if at, ok := w.Conn(s.conn); ok {
		return at, nil
	}
	at := len(w.Conns)
	w.foreign[s.conn] = at
	w.Conns = append(w.Conns, Conn{ID: s.conn, Channel: l.channel, From: l.from, To: l.to, Out: l.out, In: l.in, Sender: None, Receiver: None})
	return at, nil
}

// unpaired reports a hosted sender whose receiver, hosted or not, is missing.
func (w *Wiring) unpaired(ends ends) error {
	for i := range w.Conns {
		c := &w.Conns[i]
		if c.Sender == None || c.Receiver != None {
			continue
		}
		if !ends.receives[lane{c.From, c.To, c.Channel, c.Out, c.In}] {
			return fmt.Errorf("rank %d sends to rank %d on channel %d, which no block there receives", c.From, c.To, c.Channel)
		}
	}
	return nil
}
