package coordinator

import (
	"context"
	"fmt"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/pace"
	"github.com/railyard/railyard/emu/sweep"
	"github.com/railyard/railyard/shaping"
)

// demand notes what a batch that was computed asks of the host.
func (p *pacing) demand(s *session, res *sweep.Result, cost Cost, b emu.Batch) {
	p.asked = pace.Demand{Span: max(res.Now.Sub(b.Runs[0].Offset), 1), Slack: s.slack, Frames: int64(cost.Frames), Compute: int64(cost.Wall)}
	if s.shared != nil {
		p.asked.Slack = min(p.asked.Slack, s.fabric.LeastHop())
	}
	// Elements travel in the first iteration alone, and a scale model has few.
	r := &b.Runs[0]
	p.asked.Bytes = int64(float64(s.carried) * float64(r.Real) / float64(max(r.Count, 1)) / float64(max(r.Iterations, 1)))
}

// tries bounds how often a dilation is tried out; each is twice or half the one
// before.
const tries = 8

// margin is the part of the tolerance that a dilation may use when it is tried
// out: the host may be busier later.
const margin = 4

// found says what would break first below a dilation that was tried out: what was
// measured, unless trying has shown otherwise.
func found(l pace.Limit, d, broke int64) string {
	switch {
	case broke > 0:
		return fmt.Sprintf("times: tried out at %d, they were off; reckoned beforehand was %d, by %s", broke, l.Dilation, l.What)
	case d != l.Dilation:
		return fmt.Sprintf("not known; reckoned beforehand was %d, by %s", l.Dilation, l.What)
	default:
		return l.What
	}
}

// choose finds the least dilation, to a factor of two, that keeps the times of a
// batch: from what the host was measured to carry it goes up while times are off,
// and down while they are not. What it took against what was measured is
// remembered: later rows begin there, at once.
func (s *session) choose(ctx context.Context, c *sweep.Case, b emu.Batch, want shaping.Duration) error {
	p := s.pacing
	p.limit = pace.Choose(p.asked, p.capacity)
	p.row.Chosen, p.row.Limit = true, p.limit.What
	if p.asked.Frames == 0 {
		p.dilation, p.row.Limit = 1, "nothing: no frame leaves its process"
		return nil
	}
	if strain := p.strain[p.limit.Work]; strain > 0 {
		p.dilation = int64(min(max(float64(p.limit.Dilation)*strain, 1), pace.MaxDilation))
		p.row.Limit = found(p.limit, p.dilation, 0)
		return nil
	}
	t, check := s.timeline, s.check
	defer func() { s.timeline, s.check = t, check }()
	s.timeline, s.check = nil, false
	broke := int64(0) // largest that was tried out and did not keep the times
	keeps := func(d int64) (bool, error) {
		p.row.Tried++
		res, _, err := s.onWall(ctx, b, "trying", d)
		ok := err == nil && margin*off(c.Mean(&res, b), want) <= Tolerance
		if !ok {
			broke = max(broke, d)
		}
		return ok, err
	}
	d, rising := p.limit.Dilation, false
	kept, err := keeps(d)
	for err == nil && p.row.Tried < tries && !p.deserted() {
		next := d * 2
		if kept {
			next = d / 2
		}
		if next < 1 || next > pace.MaxDilation || kept && rising {
			break
		}
		var ok bool
		if ok, err = keeps(next); kept && !ok {
			break
		}
		d, rising, kept = next, rising || !kept, ok
	}
	p.dilation, p.row.Limit = d, found(p.limit, d, broke)
	p.strain[p.limit.Work] = float64(d) / float64(p.limit.Dilation)
	return err
}

// reruns bounds how often a half is run again. All but the last time the dilation
// grows by no more than leap: one hiccup of the host makes enough of a dilation what
// none of the other frames need, and it costs what it says.
const (
	reruns = 3
	leap   = 8
)

// again returns at which dilation a half is run again: none that was chosen by
// somebody else is changed, and none helps a process that was stopped. 0: it is not.
func (p *pacing) again(half *Half, wrong int64) int64 {
	if p.fixed > 0 || p.deserted() || wrong <= Tolerance || half.Tries > reruns || half.Lateness.Stall >= pace.Frozen {
		return 0
	}
	next := half.Enough
	if next <= half.Dilation {
		next = 2 * half.Dilation // nothing was late: it is not the way of a frame that takes too long
	}
	if half.Tries < reruns {
		next = min(next, leap*half.Dilation)
	}
	if next = min(next, pace.MaxDilation); next > half.Dilation {
		return next
	}
	return 0
}

// raise makes the row go on at a larger dilation. Later rows begin with no more than
// twice what they would have: the host may have been busy for a moment only.
func (p *pacing) raise(next int64) {
	strain := p.strain[p.limit.Work]
	p.row.Limit = found(p.limit, next, p.dilation)
	p.dilation = next
	p.strain[p.limit.Work] = max(strain, min(float64(next)/float64(p.limit.Dilation), 2*strain))
}
