package transit

import (
	"fmt"

	"github.com/railyard/railyard/shaping"
)

// Kind orders events of one instant. What happens at the instant of a fault already
// meets it.
type Kind uint8

// The kinds of event, in the order in which they happen at one instant.
const (
	Fault    Kind = iota // first by contract; nothing is pushed under it, as states are looked up (weather.go)
	Start                // a rank begins an iteration
	Credit               // news of freed slots reaches a sender on another node
	Arrive               // the tail of a frame reaches a port, or the end of its path
	Leave                // a booking ends: the frame goes on, or books its next piece
	Complete             // a slice is whole in the buffer the NIC reads
	Post                 // a connection's NIC booking has ended: its next slice may be posted
	Deliver              // the receiving proxy hands a slice over
	Lost                 // news of a lost frame reaches its sender
	Resend               // a transport goes back to the oldest frame that was lost
	Wake                 // a block may go on
)

// Key is the total order of a session's events: the instant, then the kind,
// then the source and its own count, then the hop of a forwarded frame. No two
// events share a key.
type Key struct {
	At  shaping.Time
	Ord uint64
	Hop uint32
}

// maxSource is the largest source id that fits a key.
const maxSource = 1<<28 - 1

// Order packs what follows the instant in a key, in the order of comparison.
func Order(k Kind, source, seq uint32) uint64 {
	if source > maxSource {
		panic(fmt.Sprintf("transit: source %d; at most %d fit the order of events", source, maxSource))
	}
	return uint64(k)<<60 | uint64(source)<<32 | uint64(seq)
}

// Kind returns the kind of the event with this key.
func (k Key) Kind() Kind { return Kind(k.Ord >> 60) }

// Less reports whether k happens before other.
func (k Key) Less(other Key) bool {
	if k.At != other.At {
		return k.At < other.At
	}
	if k.Ord != other.Ord {
		return k.Ord < other.Ord
	}
	return k.Hop < other.Hop
}

// String prints a key for a panic or a golden.
func (k Key) String() string {
	return fmt.Sprintf("%dps kind %d source %d seq %d hop %d",
		int64(k.At), k.Kind(), k.Ord>>32&maxSource, uint32(k.Ord), k.Hop)
}
