package collective

import (
	"fmt"
	"math/bits"
)

// MaxPeers is how many peers an SM's block can send to, and receive from: as
// many as a Mask has bits. A switch's block may have MaxPorts, of which a step
// picks All or some of the first MaxPeers.
const MaxPeers = 64

// MaxPorts is how many GPUs a switch joins at most: an NVLink domain has up to
// 576 (NVIDIA, NVLink Switch of the Blackwell generation).
const MaxPorts = 576

// Mask picks peers of a block: bit i is the i-th of its list.
type Mask uint64

// All picks every peer that a block has, however many these are.
const All = ^Mask(0)

// Bit returns the mask of the i-th peer.
func Bit(i int) Mask { return 1 << i }

// FirstPeers returns the mask of the first n peers; from MaxPeers on it is All.
func FirstPeers(n int) Mask { return 1<<n - 1 }

// Lowest returns the position of the lowest peer in the mask, which is not
// empty.
func (m Mask) Lowest() int { return bits.TrailingZeros64(uint64(m)) }

// Next returns the position of the first peer at or after i that the mask picks.
// With no more of them it returns a position that no block has. A step's peers of
// n are
//
//	for i := m.Next(0); i < n; i = m.Next(i + 1)
func (m Mask) Next(i int) int {
	if m == All {
		return i
	}
	rest := uint64(m) >> uint(i)
	if rest == 0 {
		return MaxPorts
	}
	return i + bits.TrailingZeros64(rest)
}

// Has reports whether the mask picks the i-th peer.
func (m Mask) Has(i int) bool { return m == All || m>>i&1 != 0 }

// Len returns one more than the highest position in the mask.
func (m Mask) Len() int { return bits.Len64(uint64(m)) }

// Count returns how many peers the mask picks.
func (m Mask) Count() int { return bits.OnesCount64(uint64(m)) }

// Unit is what carries a block out.
type Unit uint8

// The units of a cluster that move data.
const (
	// SM is a streaming multiprocessor of the block's rank.
	SM Unit = iota
	// NVSwitch is the reduction engine of the switch between the GPUs of the
	// rank's node, or NVLink domain: its blocks only Forward what several GPUs
	// send to one.
	NVSwitch
	// Multicast is the same switch's multicast engine: its blocks only Forward
	// what one GPU sends to several. Together the two are NVLS.
	Multicast
	// SHARP is the tree of fabric switches between the nodes: it reduces and
	// multicasts. The rank that has the block is the one at whose process the
	// payload meets; its GPU has no part in it.
	SHARP
	numUnits
)

// String returns the unit's name.
func (u Unit) String() string {
	return name([]string{"SM", "NVSwitch", "Multicast", "SHARP"}, int(u))
}

// At names a rank, or the switch's block that it has.
func At(rank int, u Unit) string {
	if u == SM {
		return fmt.Sprintf("rank %d", rank)
	}
	return fmt.Sprintf("rank %d's %s", rank, u)
}

// Block is a thread block: a list of steps carried out one after the other, on
// one channel. Blocks of a rank run at the same time.
type Block struct {
	Channel  int
	SendTo   []int // ranks, at most MaxPeers, or MaxPorts of a switch
	RecvFrom []int // likewise
	Window   Window
	Unit     Unit
	// ToUnits and FromUnits say which unit of each peer it is; nil: SMs. They
	// tell the connections between two ranks apart, and let a rank's SM send to
	// a switch's block that is the rank's own.
	ToUnits, FromUnits []Unit
	Steps              []Step
}

// To returns the unit of the i-th peer that the block sends to.
func (b *Block) To(i int) Unit { return unitAt(b.ToUnits, i) }

// From returns the unit of the i-th peer that the block receives from.
func (b *Block) From(i int) Unit { return unitAt(b.FromUnits, i) }

// to returns the block with the peers it sends to.
func (b Block) to(ranks []int, units []Unit) Block {
	b.SendTo, b.ToUnits = ranks, units
	return b
}

// from returns the block with the peers it receives from.
func (b Block) from(ranks []int, units []Unit) Block {
	b.RecvFrom, b.FromUnits = ranks, units
	return b
}

func unitAt(units []Unit, i int) Unit {
	if units == nil {
		return SM
	}
	return units[i]
}

// Window says which chunks the indices in a block's steps mean, so that all
// ranks and channels of a ring share one list of steps: index i is chunk
// First + Stride × Order[(i + Shift) mod Count]. The zero Window is the
// identity.
type Window struct {
	First, Stride, Count, Shift int
	// Order says whose part each of Count positions is, where parts belong to
	// ranks and a ring does not visit these in order; nil is 0, 1, 2 …
	Order []int
}

// Own is the index that means chunk First itself, outside the circle: an
// all-gather has one chunk a channel in its input, and Count in its output.
const Own = -1

// Chunk returns the chunk that index i of a step means.
func (w Window) Chunk(i int) int {
	if i == Own {
		return w.First
	}
	if w.Count == 0 {
		return i
	}
	i += w.Shift
	if i >= w.Count {
		i -= w.Count // the common case: both below Count
		if i >= w.Count {
			i %= w.Count
		}
	}
	if w.Order != nil {
		i = w.Order[i]
	}
	return w.First + w.Stride*i
}
