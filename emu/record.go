package emu

import (
	"cmp"

	"github.com/railyard/railyard/shaping"
)

// Record is one line of a timeline: a step of a plan carried out for one
// slice, or a port that carried a piece of a frame.
//
// The event's key comes first: records are sorted by it, and no two events of
// a session share one, so timelines of several processes merge to the same
// bytes that one process writes.
type Record struct {
	At    shaping.Time // the event's instant
	Ord   uint64       // kind, source and seq of the event (transit.Key)
	Hop   uint32       // hops of a forwarded frame
	Index uint32       // position among the records of one event

	Start    shaping.Time     // when the step or the transfer began
	Duration shaping.Duration // how long it took
	Run      int32            // index of the run in its batch; -1 for Carry
	Rank     int32            // rank whose block this is; for Carry the GPU the frame comes from
	Channel  int32
	Block    int32
	Step     int32
	Kind     RecordKind
	Peer     int32 // the other rank, -1 for none; for Carry the GPU the frame goes to
	Port     int32 // port of emu/fabric that was busy
	Bytes    shaping.Bytes
}

// RecordKind is a collective.StepKind, or Carry.
type RecordKind uint8

// Carry marks a record of a port that carried bytes of a frame.
const Carry RecordKind = 255

// CompareRecords orders records by the kernel's order of their events, and
// within an event by their position.
func CompareRecords(a, b Record) int {
	return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Ord, b.Ord),
		cmp.Compare(a.Hop, b.Hop), cmp.Compare(a.Index, b.Index))
}
