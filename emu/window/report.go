package window

import (
	"github.com/railyard/railyard/emu/transit"
	"github.com/railyard/railyard/shaping"
)

// Report is what a participant says when it has run a window.
type Report struct {
	// Next is the instant of its earliest pending event.
	Next shaping.Time
	// Out is a lower bound on the stamp of anything it may still send if
	// nothing more reaches it.
	Out shaping.Time
	// Now is the instant of the event it handled last.
	Now shaping.Time
	// Seen is the latest instant of which it mattered what faults do then.
	Seen shaping.Time
	// Sent says what it has sent to each other participant.
	Sent []Sent
	// Shared are the headers it sent to the fabric.
	Shared []transit.Header
	// Events is the number of events it has handled so far.
	Events uint64
}

// Sent is what one participant sent to another.
type Sent struct {
	To int
	// Count is the number of frames since the session began.
	Count uint64
	// Stamp is the earliest stamp among those of the last window, and Induced
	// the earliest stamp of anything they may cause; Never without any.
	Stamp, Induced shaping.Time
}

// Grant lets a participant run.
type Grant struct {
	To int
	// Until is the horizon: events before it may be handled.
	Until shaping.Time
	// Expect is how many frames must have arrived from each participant before
	// the window may begin.
	Expect []Expect
	// Shared are headers that the fabric hands on to this participant.
	Shared []transit.Header
}

// Expect is a cumulative count of frames from one participant.
type Expect struct {
	From  int
	Count uint64
}
