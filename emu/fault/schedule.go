package fault

import (
	"cmp"
	"maps"
	"math/bits"
	"slices"

	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/shaping"
)

// Schedule is what the faults of a session do, part by part. It is read only
// once compiled. A nil Schedule has no faults.
type Schedule struct {
	seed   uint64
	ports  map[fabric.PortID]*Line
	gpus   map[int]*Line
	dead   map[int]shaping.Time // node → when its process is killed
	stops  []Stop               // by instant, then GPU
	calls  []Call
	flips  []Flip
	cuts   []cut
	walls  []Wall
	struck []Struck
	// strokes are what faults take from ports, part by part.
	strokes map[fabric.PortID][]stroke
	// waiting are the faults whose instant a rehearsal must find.
	waiting []int
}

// Struck says when a fault strikes what, for reports.
type Struck struct {
	Fault    int
	From, To shaping.Time // To is Never where nothing ends it
	Parts    []string     // names
}

// Struck lists when faults strike, in the order of the faults and then of instants.
// Faults that strike calls have no instant, and are not there.
func (s *Schedule) Struck() []Struck {
	if s == nil {
		return nil
	}
	return s.struck
}

// Wall is a fault of this tool's own processes that emulated time does not know.
type Wall struct {
	At    shaping.Time // once the emulated clock is there
	Fault int
}

// cut keeps sides apart for a time.
type cut struct {
	Span
	side  []int // of each node; -1: joined to all
	fault int
	name  string
}

// parts reports whether two nodes are on different sides.
func (c *cut) parts(a, b int) bool {
	x, y := c.side[a], c.side[b]
	return x >= 0 && y >= 0 && x != y
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
	Resize              // with Count elements; -1: one more than the others
	Retype              // with another type, op or root: Says tells
	Swaps               // it calls the operation after this one first
)

// Call is one operation that a rank calls in another way than the others.
type Call struct {
	Op    int // index of the operation in the scenario
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

// Apart returns when no message passes between two nodes, as far as partitions
// go; nil when none parts them.
func (s *Schedule) Apart(a, b int) *Line {
	if s == nil {
		return nil
	}
	var l *Line
	for _, c := range s.cuts {
		if !c.parts(a, b) {
			continue
		}
		if l == nil {
			l = &Line{}
		}
		l.Add(c.from, c.to, State{Share: Whole, Down: true})
	}
	return l
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

// Walls lists what is done to this tool's own processes.
func (s *Schedule) Walls() []Wall {
	if s == nil {
		return nil
	}
	return s.walls
}

// Waiting lists the faults, by position, that strike after an operation or at a
// step of a plan: a rehearsal finds their instants, and then they are compiled
// again with At set.
func (s *Schedule) Waiting() []int {
	if s == nil {
		return nil
	}
	return s.waiting
}

// Reroute is an instant from which on switches route round dead ports: routes are
// then those of fabric.Around.
type Reroute struct {
	At   shaping.Time
	Dead []fabric.PortID
}

// Reroutes lists how routes change when the subnet manager takes sweep to go round
// what is dead, and as long to come back to it. What is up again before it was
// noticed changes nothing; what two outages share is one. With sweep 0 routes
// never change.
func (s *Schedule) Reroutes(f *fabric.Fabric, sweep shaping.Duration) []Reroute {
	if s == nil || sweep == 0 {
		return nil
	}
	type turn struct {
		at   shaping.Time
		port fabric.PortID
		dead bool
	}
	var turns []turn
	for _, id := range slices.Sorted(maps.Keys(s.ports)) {
		if !f.Shares(id) {
			continue
		}
		for _, o := range s.ports[id].outages() {
			if o.to != shaping.Never && o.to.Sub(o.from) < sweep {
				continue
			}
			turns = append(turns, turn{o.from.Add(sweep), id, true})
			if o.to != shaping.Never {
				turns = append(turns, turn{o.to.Add(sweep), id, false})
			}
		}
	}
	slices.SortStableFunc(turns, func(a, b turn) int { return cmp.Compare(a.at, b.at) })
	dead := map[fabric.PortID]bool{}
	var all []Reroute
	for i, t := range turns {
		if t.dead {
			dead[t.port] = true
		} else {
			delete(dead, t.port)
		}
		if i+1 == len(turns) || turns[i+1].at != t.at {
			all = append(all, Reroute{t.at, slices.Sorted(maps.Keys(dead))})
		}
	}
	return all
}

// Flips lists the bits that turn over.
func (s *Schedule) Flips() []Flip {
	if s == nil {
		return nil
	}
	return s.flips
}

// FlipsOf lists the bits that turn over in the results of a GPU after an instant, up
// to another: those of the operations that are over then hold them. What was left to
// chance is drawn.
func (s *Schedule) FlipsOf(gpu int, after, until shaping.Time) []Flip {
	var all []Flip
	for _, f := range s.Flips() {
		if f.GPU != gpu || f.At <= after || f.At > until {
			continue
		}
		if f.Element < 0 {
			const positive = 1<<63 - 1
			f.Element = int64(s.Draw(drawElement, uint64(f.Fault), uint64(f.At), uint64(gpu)) & positive)
		}
		if f.Bit < 0 {
			const widest = 64 // bits of an element; narrower ones take what is left of it
			f.Bit = int(s.Draw(drawBit, uint64(f.Fault), uint64(f.At), uint64(gpu)) % widest)
		}
		all = append(all, f)
	}
	return all
}

// Place returns which of real elements it strikes, when a part of the buffer has
// count elements and real ones stand for them.
func (f *Flip) Place(count, real int64) int64 {
	hi, lo := bits.Mul64(uint64(f.Element%count), uint64(real))
	place, _ := bits.Div64(hi, lo, uint64(count))
	return int64(place)
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

// Bit returns which element and bit a flip turns over, drawn where it does not say.
// Both are to be counted round what there is.
func (s *Schedule) Bit(flip int) (element, bit uint64) {
	if s == nil || flip < 0 || flip >= len(s.flips) {
		return 0, 0
	}
	f := &s.flips[flip]
	element, bit = uint64(f.Element), uint64(f.Bit)
	if f.Element < 0 {
		element = s.Draw(0xb17, uint64(flip)) >> 1
	}
	if f.Bit < 0 {
		bit = s.Draw(0xb18, uint64(flip)) >> 40
	}
	return element, bit
}

// Parts reports whether some partition ever parts nodes.
func (s *Schedule) Parts() bool { return s != nil && len(s.cuts) > 0 }
