package fault

import (
	"math/bits"

	"github.com/railyard/railyard/shaping"
)

// Span is a span of emulated time, to itself not included; Never: for good.
type Span struct{ from, to shaping.Time }

// mostStrikes is how often one fault may strike. More is a slip of a unit, and
// would make calendars slow to ask.
const mostStrikes = 10_000

// what draws are for, so that no two share a number.
const (
	drawChance = iota + 1
	drawTarget
	drawSides
	drawElement
	drawBit
)

// waits reports whether a rehearsal must find the instant. Calls count operations
// themselves.
func (s *strike) waits() bool {
	return s.When.Step != nil || s.When.AfterOps > 0 && s.kind.reads("at")
}

// checkWhen reports instants that contradict each other.
func (s *strike) checkWhen() {
	w := &s.When
	if w.Step != nil && (!s.kind.reads("at") || w.At > 0 || w.AfterOps > 0) {
		s.say("step", "%s cannot strike at a step and another time as well; give one", s.kind.Word)
	}
	if s.kind.reads("at") && w.At > 0 && w.AfterOps > 0 {
		s.say("afterOps", "%d: with at %v there are two instants; give one", w.AfterOps, w.At)
	}
	if w.Times > mostStrikes {
		s.say(s.word("times"), "%d: at most %d", w.Times, mostStrikes)
	}
	if w.Until > 0 && w.Until <= w.At {
		s.say("to", "%v: must be after at, %v", w.Until, w.At)
	}
	if !s.kind.reads("every") {
		return
	}
	word := s.word("every")
	each := s.each()
	switch {
	case w.Every == 0 && w.Times > 1:
		s.say(s.word("times"), "%d: needs %s", w.Times, word)
	case w.Every > 0 && each == 0 && s.kind.reads("downFor"):
		s.say(word, "%v: needs downFor, or it would strike what is struck already", w.Every)
	case w.Every > 0 && w.Every <= each:
		s.say(word, "%v: must be longer than what it repeats, %v", w.Every, each)
	}
}

// word is what the type calls a parameter.
func (s *strike) word(param string) string {
	for _, w := range s.kind.words {
		if w[1] == param {
			return w[0]
		}
	}
	return param
}

// each returns how long the fault lasts each time; 0: for good, or for an instant.
func (s *strike) each() shaping.Duration {
	switch {
	case s.DownFor > 0:
		return s.DownFor
	case s.When.Every > 0:
		return 0
	case s.When.Until > 0:
		return s.When.Until - s.When.At
	}
	return 0
}

// instants returns the spans in which the fault is at work. With every it lasts
// downFor each time, and to ends it all; without, to and downFor both end it,
// whichever is first.
func (s *strike) instants() []Span {
	var all []Span
	at, end := s.When.At, s.When.Until
	for i := 0; ; i++ {
		if i == mostStrikes {
			s.say(s.word("every"), "%v: it would strike more than %d times; say how often with %s, or take a longer one", s.When.Every, mostStrikes, s.word("times"))
			return nil
		}
		if s.drawn(i) {
			span := Span{shaping.Time(at), shaping.Never}
			if d := s.each(); d > 0 {
				span.to = span.from.Add(d)
			}
			if end > 0 {
				span.to = min(span.to, shaping.Time(end))
			}
			all = append(all, span)
		}
		times := s.When.Times
		if s.When.Every == 0 || times > 0 && i+1 == times {
			return all
		}
		at += s.When.Every
		if end > 0 && at >= end || times == 0 && at > s.horizon || at > longest {
			return all
		}
	}
}

// drawn reports whether the fault strikes at one of its instants.
func (s *strike) drawn(occurrence int) bool {
	return s.When.Chance == 0 || int64(s.pick(Whole, drawChance, uint64(s.index), uint64(occurrence))) < s.When.Chance
}

// pick draws a number below n.
func (c *compiler) pick(n uint64, parts ...uint64) uint64 {
	hi, _ := bits.Mul64(c.s.Draw(parts...), n)
	return hi
}
