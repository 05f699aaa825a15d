package wire

import (
	"fmt"
	"strings"
	"time"

	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
	"github.com/railyard/railyard/shaping"
)

// Cause says why something ended early.
type Cause uint8

// The causes, as the contract documents them. The zero value is Bug: an error
// to which nobody gave a cause is one nobody thought of.
const (
	Bug Cause = iota
	Config
	NotYet
	PeerLost
	LinkDown
	Timeout
	Mismatch
	Deadlock
	Aborted
)

// String returns the cause's verdict word, such as "peer-lost".
func (c Cause) String() string {
	for _, k := range causes {
		if k.cause == c {
			return k.name
		}
	}
	return "unknown"
}

// NoInstant is the At of a failure that is no event of emulated time.
const NoInstant = shaping.Never

// Failure is a typed cause and where it struck. It is an error.
type Failure struct {
	Cause  Cause
	Text   string // one line: what happened, to what, and what to do
	Member string // process that failed or reported it; empty for none
	Place  Place
	At     shaping.Time // emulated instant, or NoInstant
	// Took is how long it took, in wall time, to notice that a process was lost;
	// at most so long, where nobody knows when that happened. 0: none was.
	Took time.Duration
}

// Place is a point of a collective. -1 and the empty string mean not known.
type Place struct {
	Run, Rank, Channel, Step int
	Peer                     int    // rank that was waited for
	Link                     string // between the two
}

// Nowhere returns the place of a failure that has none.
func Nowhere() Place { return Place{Run: -1, Rank: -1, Channel: -1, Step: -1, Peer: -1} }

// Failf returns a failure of no particular place and instant.
func Failf(c Cause, format string, args ...any) *Failure {
	return &Failure{Cause: c, Text: fmt.Sprintf(format, args...), Place: Nowhere(), At: NoInstant}
}

// ExitCode returns the code with which a program ends because of the failure:
// 64 for what the user can mend, 2 for what says nothing of the emulated
// cluster, else 1. What has an instant is an event of the emulated cluster.
func (f *Failure) ExitCode() int {
	switch {
	case f.Cause == Config, f.Cause == NotYet:
		return 64
	case f.At == NoInstant && (f.Cause == Timeout || f.Cause == Aborted), f.Cause == Bug:
		return 2
	default:
		return 1
	}
}

// Error returns the cause, the text and all that is known of the place, in one
// line.
func (f *Failure) Error() string {
	var where []string
	add := func(format string, known bool, v any) {
		if known {
			where = append(where, fmt.Sprintf(format, v))
		}
	}
	p := f.Place
	add("member %s", f.Member != "", f.Member)
	add("run %d", p.Run >= 0, p.Run)
	add("rank %d", p.Rank >= 0, p.Rank)
	add("channel %d", p.Channel >= 0, p.Channel)
	add("step %d", p.Step >= 0, p.Step)
	add("peer %d", p.Peer >= 0, p.Peer)
	add("link %s", p.Link != "", p.Link)
	add("at %d ps", f.At != NoInstant, int64(f.At))
	if len(where) == 0 {
		return fmt.Sprintf("%v: %s", f.Cause, f.Text)
	}
	return fmt.Sprintf("%v: %s (%s)", f.Cause, f.Text, strings.Join(where, ", "))
}

// EncodeFailure returns f as a message.
func EncodeFailure(f *Failure) *railyardv1.Failure {
	m := &railyardv1.Failure{Text: text(f.Text), Member: text(f.Member)}
	for _, k := range causes {
		if k.cause == f.Cause {
			m.Cause = k.wire
		}
	}
	if f.At != NoInstant {
		at := int64(f.At)
		m.AtPs = &at
	}
	if f.Took > 0 {
		took := int64(f.Took)
		m.DetectWallNs = &took
	}
	if p := f.Place; p != Nowhere() {
		m.Place = &railyardv1.Place{
			Run: known(p.Run), Rank: known(p.Rank), Channel: known(p.Channel), Step: known(p.Step),
			Peer: known(p.Peer), Link: text(p.Link),
		}
	}
	return m
}

// DecodeFailure returns the failure that m describes. A cause that this version
// does not know is a bug to it. It can't fail: there is always something to
// tell the user.
func DecodeFailure(m *railyardv1.Failure) *Failure {
	f := &Failure{Text: m.GetText(), Member: m.GetMember(), Place: Nowhere(), At: NoInstant}
	for _, k := range causes {
		if k.wire == m.GetCause() {
			f.Cause = k.cause
		}
	}
	if m != nil && m.AtPs != nil && m.GetAtPs() >= 0 {
		f.At = shaping.Time(m.GetAtPs())
	}
	f.Took = time.Duration(max(m.GetDetectWallNs(), 0))
	if p := m.GetPlace(); p != nil {
		f.Place = Place{
			Run: orUnknown(p.Run), Rank: orUnknown(p.Rank), Channel: orUnknown(p.Channel), Step: orUnknown(p.Step),
			Peer: orUnknown(p.Peer), Link: p.GetLink(),
		}
	}
	return f
}

func known(v int) *uint32 {
	if v < 0 {
		return nil
	}
	u := uint32(v)
	return &u
}

func orUnknown(v *uint32) int {
	if v == nil {
		return -1
	}
	return int(*v)
}

// text makes s fit a protobuf string. Text may quote what a user typed, and a
// message with a byte out of place in it could not be sent at all.
func text(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
