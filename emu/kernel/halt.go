package kernel

import (
	"slices"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fault"
	"github.com/railyard/railyard/emu/transit"
	"github.com/railyard/railyard/shaping"
)

// grave is a node whose process is killed at an instant.
type grave struct {
	at   shaping.Time
	node int
}

// Suffer makes faults strike from now on. A schedule that replaces another must
// agree with it up to what has been Seen, and connections must be Guarded where it
// makes their ways lose frames and the other did not: else those frames never come.
func (k *Kernel) Suffer(s *fault.Schedule) {
	k.Transit.Suffer(s, k.bear.Sweep)
	k.faults, k.halts, k.throttled = s, s.Stops(), s.Throttles()
	k.flips = k.flips[:0]
	for i, f := range s.Flips() {
		if f.GPU < 0 && !slices.Contains(k.flipped, i) {
			f.Fault = i // what matters from here on
			k.flips = append(k.flips, f)
		}
	}
	k.graves = k.graves[:0]
	for n := range k.owners.Node {
		if at := s.Dead(n); at != shaping.Never && at > k.Now() {
			k.graves = append(k.graves, grave{at, n})
		}
	}
	slices.SortFunc(k.graves, func(a, b grave) int { return int(a.at - b.at) })
}

// Bear says how transports bear faults from now on.
func (k *Kernel) Bear(r emu.Resilience) { k.bear = r }

// Seen returns the latest instant of which it mattered what faults do then: see
// transit.Transit.
func (k *Kernel) Seen() shaping.Time { return max(k.seen, k.Transit.Seen()) }

// bury removes what is pending on nodes that die before the next event, as if
// their processes had not been here. It reports whether it did.
func (k *Kernel) bury() bool {
	g := k.graves[0]
	if k.Next() < g.at {
		return false
	}
	k.graves = k.graves[1:]
	k.Drop(func(key transit.Key, arg int32) bool { return k.place(key.Kind(), arg) == g.node })
	return true
}

// place returns the node on which an event happens, or none.
func (k *Kernel) place(kind transit.Kind, arg int32) int {
	switch kind {
	case transit.Start:
		rk := &k.ranks[arg]
		return k.fabric.NodeOf(k.runs[rk.run].Comm[rk.rank])
	case transit.Wake:
		return k.fabric.NodeOf(k.gpuOf(&k.blocks[arg]))
	case transit.Credit, transit.Complete, transit.Post, transit.Resend:
		return k.fabric.NodeOf(int(k.conns[arg].from))
	case transit.Lost:
		return k.fabric.NodeOf(int(k.conns[k.Loss(arg).Local].from))
	case transit.Arrive, transit.Leave:
		return k.Where(arg)
	case transit.Deliver:
		return k.fabric.NodeOf(int(k.Frame(arg).To))
	default:
		return none
	}
}

// gpuOf returns the GPU of a block's rank.
func (k *Kernel) gpuOf(b *block) int { return k.runs[b.run].Comm[k.ranks[b.rank].rank] }

// stopped returns the stop that a GPU is in at an instant, if it is in one.
func (k *Kernel) stopped(gpu int, at shaping.Time) *fault.Stop {
	for i := range k.halts {
		if s := &k.halts[i]; s.GPU == gpu && s.At <= at && at < s.Until {
			return s
		}
	}
	return nil
}

// paused returns until when a GPU's process stands still, if it does.
func (k *Kernel) paused(gpu int, at shaping.Time) (shaping.Time, bool) {
	if s := k.stopped(gpu, at); s != nil && s.How == fault.Paused && s.Until != shaping.Never {
		return s.Until, true
	}
	return 0, false
}

// halted reports whether a block does nothing now. One that is only paused wakes
// when that is over.
func (k *Kernel) halted(b *block, bi int32) bool {
	s := k.stopped(k.gpuOf(b), k.Now())
	if s == nil {
		return false
	}
	if s.Until != shaping.Never && k.states[bi] != idle {
		k.wakeAt(b, bi, max(s.Until, b.until))
	}
	return true
}

// kept reports whether a rank that should begin an iteration now can not, and
// makes it begin later when it is only paused.
func (k *Kernel) kept(ri int32) bool {
	rk := &k.ranks[ri]
	s := k.stopped(k.runs[rk.run].Comm[rk.rank], k.Now())
	if s == nil {
		return false
	}
	if s.Until != shaping.Never {
		b := &k.blocks[rk.first]
		k.Push(transit.Key{At: s.Until, Ord: transit.Order(transit.Start, b.id, b.count())}, ri)
	}
	return true
}

// Abort drops everything that is pending. What has been booked stands.
func (k *Kernel) Abort() { k.Clear() }

// strike returns one more than the position of a flip that strikes what is about to
// leave by a connection's NIC, 0 for none. A flip strikes once.
func (k *Kernel) strike(ci int32) uint32 {
	p := &k.remoteOf(ci).route.Wire
	if p.Inject == 0 {
		return 0
	}
	for i, f := range k.flips {
		if f.Port == p.Ports[p.Inject-1] && f.At <= k.Now() {
			k.flips = slices.Delete(k.flips, i, i+1)
			k.flipped = append(k.flipped, f.Fault)
			return uint32(f.Fault) + 1
		}
	}
	return 0
}
