package wiring

import (
	"fmt"

	"github.com/railyard/railyard/collective"
)

// BlockID identifies a block among all blocks of a batch.
type BlockID uint32

// ConnID identifies a connection among all connections of a batch: the sending
// block and the position of the peer in its SendTo list.
type ConnID uint32

// Conn returns the id of the block's connection to its peer-th send peer.
func (b BlockID) Conn(peer int) ConnID { return ConnID(b)*collective.MaxPeers + ConnID(peer) }

// Block returns the sending block of a connection.
func (c ConnID) Block() BlockID { return BlockID(c / collective.MaxPeers) }

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
	Plan   *collective.Plan
	Blocks []Block
	Conns  []Conn
	byID   map[ConnID]int
	byRank map[int]int // rank → first position in Blocks
}

// Lay wires the hosted ranks of a plan whose blocks are numbered from base on.
// It reports connections that do not pair: an end without a partner, or two
// blocks at one end.
func Lay(p *collective.Plan, base BlockID, hosted func(rank int) bool) (*Wiring, error) {
	w := &Wiring{Plan: p, byID: map[ConnID]int{}, byRank: map[int]int{}}
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
	for i := range w.Blocks {
		if err := w.joinSends(i); err != nil {
			return nil, err
		}
	}
	for i := range w.Blocks {
		if err := w.joinReceives(i, base); err != nil {
			return nil, err
		}
	}
	if err := w.unpaired(); err != nil {
		return nil, err
	}
	return w, nil
}

// IDs returns how many block ids a run of p takes.
func IDs(p *collective.Plan) BlockID { return BlockID(p.Ranks * p.Blocks) }

// Conn returns the position of the connection with the given id.
func (w *Wiring) Conn(c ConnID) (int, bool) {
	i, ok := w.byID[c]
	return i, ok
}

// RankBlocks returns the positions of the first of a hosted rank's blocks.
func (w *Wiring) RankBlocks(rank int) (first int, hosted bool) {
	first, hosted = w.byRank[rank]
	return first, hosted
}

func id(p *collective.Plan, base BlockID, rank, block int) BlockID {
	return base + BlockID(rank*p.Blocks+block)
}

func (w *Wiring) joinSends(i int) error {
	b := &w.Blocks[i]
	if len(b.SendTo) > collective.MaxPeers || len(b.RecvFrom) > collective.MaxPeers {
		return fmt.Errorf("rank %d block %d: %d send and %d receive peers; at most %d each",
			b.Rank, b.Index, len(b.SendTo), len(b.RecvFrom), collective.MaxPeers)
	}
	for k, to := range b.SendTo {
		c := Conn{ID: b.ID.Conn(k), Channel: b.Channel, From: b.Rank, To: to, Out: b.Unit, In: b.To(k), Sender: i, Receiver: None}
		w.byID[c.ID] = len(w.Conns)
		b.Sends = append(b.Sends, len(w.Conns))
		w.Conns = append(w.Conns, c)
	}
	return nil
}

func (w *Wiring) joinReceives(i int, base BlockID) error {
	b := &w.Blocks[i]
	for k, from := range b.RecvFrom {
		cid, err := sender(w.Plan, base, lane{from, b.Rank, b.Channel, b.From(k), b.Unit})
		if err != nil {
			return fmt.Errorf("rank %d block %d receives from rank %d on channel %d: %w", b.Rank, b.Index, from, b.Channel, err)
		}
		at, ok := w.byID[cid]
		if !ok {
			at = len(w.Conns)
			w.byID[cid] = at
			w.Conns = append(w.Conns, Conn{ID: cid, Channel: b.Channel, From: from, To: b.Rank,
				Out: b.From(k), In: b.Unit, Sender: None, Receiver: None})
		}
		if w.Conns[at].Receiver != None {
			return fmt.Errorf("rank %d: two blocks receive from rank %d on channel %d", b.Rank, from, b.Channel)
		}
		w.Conns[at].Receiver = i
		b.Recvs = append(b.Recvs, at)
	}
	return nil
}

// lane is what a connection is known by before it has an id.
type lane struct {
	from, to, channel int
	out, in           collective.Unit
}

// sender finds the one connection of a lane.
func sender(p *collective.Plan, base BlockID, l lane) (ConnID, error) {
	if l.from < 0 || l.from >= p.Ranks {
		return 0, fmt.Errorf("no such rank; there are %d", p.Ranks)
	}
	found, n := ConnID(0), 0
	for i, b := range p.Rank(l.from) {
		if b.Channel != l.channel || b.Unit != l.out {
			continue
		}
		for k, peer := range b.SendTo {
			if peer == l.to && b.To(k) == l.in {
				found = id(p, base, l.from, i).Conn(k)
				n++
			}
		}
	}
	if n != 1 {
		return 0, fmt.Errorf("%d blocks send there; exactly one must", n)
	}
	return found, nil
}

// unpaired reports a hosted sender whose receiver, hosted or not, is missing.
func (w *Wiring) unpaired() error {
	for i := range w.Conns {
		c := &w.Conns[i]
		if c.Sender == None || c.Receiver != None {
			continue
		}
		if !receives(w.Plan, c) {
			return fmt.Errorf("rank %d sends to rank %d on channel %d, which no block there receives", c.From, c.To, c.Channel)
		}
	}
	return nil
}

func receives(p *collective.Plan, c *Conn) bool {
	if c.To < 0 || c.To >= p.Ranks {
		return false
	}
	for _, b := range p.Rank(c.To) {
		if b.Channel != c.Channel || b.Unit != c.In {
			continue
		}
		for k, from := range b.RecvFrom {
			if from == c.From && b.From(k) == c.Out {
				return true
			}
		}
	}
	return false
}
