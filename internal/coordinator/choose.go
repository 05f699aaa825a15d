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
// remembered: later rows begin there and only go up.
func (s *session) choose(ctx context.Context, c *sweep.Case, b emu.Batch, want shaping.Duration) error {
	p := s.pacing
	limit := pace.Choose(p.asked, p.capacity)
	p.row.Chosen, p.row.Limit = true, limit.What
	t, check := s.timeline, s.check
	defer func() { s.timeline, s.check = t, check }()
	s.timeline, s.check = nil, false
	broke := int64(0) // largest that was tried out and did not keep the times
	keeps := func(d int64) (bool, error) {
		res, _, err := s.onWall(ctx, b, d)
		ok := err == nil && margin*off(c.Mean(&res, b), want) <= Tolerance
		if !ok {
			broke = max(broke, d)
		}
		return ok, err
	}
	p.row.Dilation = 0 // nothing is chosen yet
	d, known := limit.Dilation, p.strain[limit.Work] > 0
	if known {
		d = int64(min(max(float64(d)*p.strain[limit.Work], 1), pace.MaxDilation))
	}
	kept, err := keeps(d)
	for try := 1; try < tries && err == nil; try++ {
		next := d * 2
		if kept {
			next = d / 2
		}
		if next < 1 || next > pace.MaxDilation || kept && known {
			break
		}
		var ok bool
		if ok, err = keeps(next); kept && !ok {
			break
		}
		d, known, kept = next, known || !kept, ok
	}
	p.row.Dilation = d
	p.row.Limit = found(limit, d, broke)
	p.strain[limit.Work] = float64(d) / float64(limit.Dilation)
	return err
}
