package emu

import (
	"cmp"

	"github.com/railyard/railyard/shaping"
)

// Cause says why a run failed; scripts may rely on the words.
type Cause string

// The causes of a failed run.
const (
	PeerLost Cause = "peer-lost" // a rank, its GPU or its process is gone
	LinkDown Cause = "link-down" // a transport gave up on a way
	Timeout  Cause = "timeout"   // the watchdog ended a run that made no progress
	Mismatch Cause = "mismatch"  // ranks called with different signatures
	Deadlock Cause = "deadlock"  // ranks wait for each other in a circle
	Aborted  Cause = "aborted"   // somebody ended it
)

// Hang is what a run that makes no progress is called, in the words of NCCL RAS
// and the field. Empty: the run did not hang.
type Hang string

// The kinds of hang.
const (
	MissingEnter      Hang = "missing-enter"      // some rank never entered the operation
	SignatureMismatch Hang = "signature-mismatch" // ranks entered with different calls
	MissingExit       Hang = "missing-exit"       // some rank entered and does not finish
	AllRanksStuck     Hang = "all-ranks-stuck"    // all entered, none moves
)

// Causes returns all of them.
func Causes() []Cause { return []Cause{PeerLost, LinkDown, Timeout, Mismatch, Deadlock, Aborted} }

// Hangs returns all of them.
func Hangs() []Hang {
	return []Hang{MissingEnter, SignatureMismatch, MissingExit, AllRanksStuck}
}

// Failure is the verdict on a run that did not end well: what stopped it first,
// where, and when. Positions that mean nothing are -1.
type Failure struct {
	Cause Cause
	Hang  Hang
	Run   int   // index of the run in its batch
	Seq   int64 // sequence number of the operation on its communicator
	// Rank is the one that was stopped, or that stopped the others; Peer whom it
	// waited for, or who waits for it.
	Rank, Channel, Step, Peer int
	Link                      string // name of what is dead: a port, or the part that a fault struck, such as a leaf; empty: none
	Fault                     int    // position of the fault it goes back to; -1: unknown
	// At is when it was noticed, Abort when every rank had been told.
	At, Abort shaping.Time
	// Lost are the ranks that can not go on, ascending: what shrink leaves out.
	Lost []int
	Text string // one line for people
}

// Progress is how far a rank has come in a run.
type Progress struct {
	Run, Rank int
	// Entered and Finished count iterations: operations of the communicator.
	Entered, Finished int
}

// Waiter is a block that can not go on when nothing is pending any more.
type Waiter struct {
	Run, Rank, Channel, Block, Step int
	Waits                           string // "data", "slot", "step"
	Peer                            int    // the rank waited for; its own for a step
	Who, Whom                       string // both by name, switches included
}

// CompareFailures orders failures by when they were noticed, then by where.
func CompareFailures(a, b Failure) int {
	return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Run, b.Run), cmp.Compare(a.Rank, b.Rank),
		cmp.Compare(a.Peer, b.Peer), cmp.Compare(a.Channel, b.Channel), cmp.Compare(a.Link, b.Link))
}
