package transit

import (
	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/shaping"
)

// Frame is a message on its way over a path: one slice of one step.
type Frame struct {
	path   *fabric.Path
	Head   shaping.Time
	Tail   shaping.Time
	Bytes  shaping.Bytes
	rest   shaping.Bytes // not yet booked at the port it stands at
	start  shaping.Time  // when that port began with it
	Source uint32        // of the event that sent it; kept at every hop
	Seq    uint32        // likewise
	Hop    uint32
	at     int32 // position on the path; len(Ports) is the end

	Local int32  // what the host of both its ends knows the connection by
	Conn  uint32 // global id of its connection
	next  int32  // the frame of the same connection behind it, at a contended port

	From, To, Channel int32 // GPUs of the cluster
	Protocol          collective.Protocol
	Leg               uint8 // which path of the route it is on: Inside or Wire
	Payload           bool  // real elements travel beside it
	// Useless: the receiver will not take it, since one before it is missing. It
	// goes no further than its source's egress.
	Useless bool
	Flip    uint32 // one more than the position of a flip that strikes its elements
	Way     Way
	// PSN numbers the frames of a connection that may lose some, in the order in
	// which they must arrive.
	PSN uint32
}

// The two legs of a route.
const (
	Inside uint8 = iota
	Wire
)

// Header is a frame as it passes from one participant to another, or a credit.
// It says all that decides its time at the other end.
type Header struct {
	Conn        uint32
	Source, Seq uint32
	Hop         uint32
	Credit      bool
	Payload     bool // real elements travel with it, or for it
	// Alone: here are only the elements of a frame whose time comes by way of
	// the fabric participant.
	Alone bool
	// Lost: news for the sender that the frame numbered PSN was lost, by a port of
	// the fabric. Bytes is how much of it has to be sent again, At the port. With
	// Nak the receiver has noticed, since more came; without, only a timer will.
	Lost, Nak  bool
	PSN        uint32
	Way        Way
	Flip       uint32
	At         int32        // position on the wire path of the port it reaches next
	Head, Tail shaping.Time // when it reaches it; a credit has only a tail
	Bytes      shaping.Bytes
	// From, To and Channel name the route for a participant that does not know
	// the connection: GPUs of the cluster.
	From, To int32
	Channel  int32
	Protocol collective.Protocol
}

// Key returns the key of the event that the header is at the other end.
func (h *Header) Key() Key {
	k := Arrive
	switch {
	case h.Credit:
		k = Credit
	case h.Lost:
		k = Lost
	}
	return Key{h.Tail, Order(k, h.Source, h.Seq), h.Hop}
}
