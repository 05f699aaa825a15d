package fault

import (
	"strings"

	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/shaping"
)

// Culprit is what a fault struck, where a way is dead.
type Culprit struct {
	Fault int
	// Part is what it struck: a leaf, where a sound NIC has no cable any more. Of a
	// part's own port, such as "node0/nic0/out", it is that port.
	Part string
	// Parts reports that nothing is broken: a partition keeps two nodes apart.
	Parts bool
}

// stroke is a time in which a fault takes from a port what reaches it, or some of it.
type stroke struct {
	Span
	fault int
	part  string
}

// blame keeps that a port suffers in every span of the fault, for the part that it
// belongs to.
func (s *strike) blame(port fabric.PortID) {
	for _, span := range s.spans {
		s.s.strokes[port] = append(s.s.strokes[port], stroke{span, s.index, s.of[port]})
	}
}

// belongs notes for which of the parts that are struck a port suffers: the first.
func (s *strike) belongs(port fabric.PortID, part string) {
	if _, ok := s.of[port]; !ok {
		s.of[port] = part
	}
}

// Culprit returns what is to blame when a transport between two nodes gives up at an
// instant, and a port was the last to lose what it sent: of all that was at work the
// fault that came last, as it was the one too many, and when nothing is any more, what
// ended last. False: no fault had struck the port, nor parted the nodes.
func (s *Schedule) Culprit(f *fabric.Fabric, port fabric.PortID, from, to int, at shaping.Time) (Culprit, bool) {
	if s == nil {
		return Culprit{}, false
	}
	all := append([]stroke(nil), s.strokes[port]...)
	broken := len(all)
	for _, c := range s.cuts {
		if c.parts(from, to) {
			all = append(all, stroke{c.Span, c.fault, c.name})
		}
	}
	best := -1
	for i, x := range all {
		if x.from <= at && (best < 0 || x.worse(&all[best], at)) {
			best = i
		}
	}
	if best < 0 {
		return Culprit{}, false
	}
	x := &all[best]
	c := Culprit{Fault: x.fault, Part: x.part, Parts: best >= broken}
	if own := f.PortName(port); strings.HasPrefix(own, x.part+"/") {
		c.Part = own
	}
	return c, true
}

// worse reports whether a stroke is more likely than another one to have killed a
// way by an instant.
func (x *stroke) worse(o *stroke, at shaping.Time) bool {
	if now, then := x.to > at, o.to > at; now != then {
		return now
	} else if !now {
		return x.to > o.to
	}
	return x.from > o.from
}
