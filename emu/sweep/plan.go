package sweep

import (
	"fmt"
	"slices"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu/tuner"
)

// UsePlan makes the sweep carry out a plan instead of an algorithm: its root,
// protocol and channels, in the layouts that it is meant for (in place: true).
// The text is what it was read from.
func (s *Spec) UsePlan(p *collective.Plan, text []byte, layouts []bool) {
	s.Plan, s.File, s.Layouts = p, text, layouts
	s.Root = p.Root
}

// lacks reports whether there is nothing to show in a column: a plan is not
// meant for that layout, or the operation has no buffers to be in place with.
func (s *Spec) lacks(inPlace bool) bool {
	return inPlace && s.Op == collective.Barrier || s.Plan != nil && !slices.Contains(s.Layouts, inPlace)
}

// planned settles what a plan says of a case, or why it cannot be used for it.
func (s *Spec) planned(ranks int, c *Case) error {
	p := s.Plan
	if p.Op != s.Op {
		return fmt.Errorf("--plan: the plan does %s, not %s", p.Op, s.Op)
	}
	if p.Ranks != ranks {
		return fmt.Errorf("--plan: the plan is for %d ranks; the communicator has %d", p.Ranks, ranks)
	}
	if p.Fits(c.Count) != nil {
		return s.misfit(ranks, c)
	}
	c.Chosen = tuner.Estimate{Algorithm: p.Algorithm, Protocol: p.Protocol}
	c.Channels = p.Channels
	return nil
}

// misfit says that a count does not fall into the plan's chunks, and which
// sizes near it do.
func (s *Spec) misfit(ranks int, c *Case) error {
	in, out := s.Op.Parts(ranks)
	whole := int64(max(in, out)) * c.DType.Size() // bytes for an element a part
	unit := whole * int64(s.Plan.Chunks)
	if parted(s.Op) { // parts are rounded down to align
		unit = lcm(unit, whole*(align/c.DType.Size()))
	}
	below := c.Size / unit * unit
	return fmt.Errorf("--plan: size %d: %d elements do not fall into the plan's %d equal chunks; sizes must be multiples of %d bytes: the nearest are %d and %d",
		c.Size, c.Count, s.Plan.Chunks, unit, below, below+unit)
}

func lcm(a, b int64) int64 {
	x, y := a, b
	for y != 0 {
		x, y = y, x%y
	}
	return a / x * b
}
