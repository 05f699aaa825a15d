package fault

import (
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/shaping"
)

// Schedule is what the faults of a session do, part by part. It is read only
// once compiled. A nil Schedule has no faults.
type Schedule struct {
	seed  uint64
	ports map[fabric.PortID]*Line
	gpus  map[int]*Line
	dead  map[int]shaping.Time // node → when its process is killed
	stops []Stop               // by instant, then GPU
	calls []Call
	flips []Flip
}

// How says in which way a GPU stops.
type How uint8

// The ways in which a GPU stops.
const (
	Killed How = iota // its process is gone: sockets break, peers hear of it after Resilience.Control
	Lost              // off the bus (Xid 79) or poisoned (ECC): its process reports it likewise
	Hung              // it never finishes and nothing tells; a watchdog must
	Paused            // its process stands still until Until; without end it is as if hung
)

// Stop is a GPU that stops at an instant: no block of its ranks does anything
// from then on, nor does its proxy. What it has sent is on its way.
type Stop struct {
	At    shaping.Time
	Until shaping.Time // Never but for Paused
	GPU   int
	How   How
	Fault int // position of the fault
}

// Wrong says how a rank's call differs from the others'.
type Wrong uint8

// The ways in which a call is wrong.
const (
	Skips  Wrong = iota // it never calls
	Late                // it calls later, by Delay
	Resize              // with Count elements
	Retype              // with another type, op or root: Says tells
	Swaps               // it calls the operation after this one first
)

// Call is one operation that a rank calls in another way than the others.
type Call struct {
	Op    int // index of the operation in the scenario; -1: every one in force
	GPU   int
	Wrong Wrong
	Delay shaping.Duration
	Count int64
	Says  string
	Fault int
}

// Flip is a bit that turns over in a buffer of a GPU, or in what a link carries,
// and that no CRC catches.
type Flip struct {
	At      shaping.Time
	GPU     int           // whose output buffer; -1 for a link
	Port    fabric.PortID // the link
	Element int64         // -1: drawn
	Bit     int           // -1: drawn
	Fault   int
}

// Port returns what becomes of a port; nil when no fault touches it.
func (s *Schedule) Port(id fabric.PortID) *Line {
	if s == nil {
		return nil
	}
	return s.ports[id]
}

// GPU returns what becomes of a GPU's engines: its Share is their speed.
func (s *Schedule) GPU(gpu int) *Line {
	if s == nil {
		return nil
	}
	return s.gpus[gpu]
}

// Dead returns when a node's process is killed; Never for most.
func (s *Schedule) Dead(node int) shaping.Time {
	if s == nil {
		return shaping.Never
	}
	if at, ok := s.dead[node]; ok {
		return at
	}
	return shaping.Never
}

// Stops lists the GPUs that stop, by instant and GPU.
func (s *Schedule) Stops() []Stop {
	if s == nil {
		return nil
	}
	return s.stops
}

// Calls lists the calls that differ from the others'.
func (s *Schedule) Calls() []Call {
	if s == nil {
		return nil
	}
	return s.calls
}

// Flips lists the bits that turn over.
func (s *Schedule) Flips() []Flip {
	if s == nil {
		return nil
	}
	return s.flips
}

// Certain is a chance of one: chances of packets are in billionths.
const Certain = 1_000_000_000

// Draw returns a number that depends on the seed and on what it is for. There is
// no stream of random numbers: nobody can draw out of turn.
func (s *Schedule) Draw(parts ...uint64) uint64 {
	h := s.seed ^ 0x9e3779b97f4a7c15
	for _, p := range parts {
		h = (h ^ p) * 0xbf58476d1ce4e5b9
		h ^= h >> 29
		h *= 0x94d049bb133111eb
		h ^= h >> 32
	}
	return h
}

// Deadly reports whether some node's process is killed.
func (s *Schedule) Deadly() bool { return s != nil && len(s.dead) > 0 }

// LeastSpeed returns the least share that any GPU's engines ever have.
func (s *Schedule) LeastSpeed() int64 {
	least := int64(Whole)
	if s != nil {
		for _, l := range s.gpus { // order: a minimum
			least = min(least, l.Least())
		}
	}
	return least
}

// Throttles reports whether some GPU's engines are slow at times.
func (s *Schedule) Throttles() bool { return s != nil && len(s.gpus) > 0 }
