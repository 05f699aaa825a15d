package coordinator

import (
	"context"

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

// tries bounds how often a dilation is tried out: each takes twice the one
// before, so the last is some hundred times the first.
const tries = 8

// choose finds the least dilation that keeps the times of a batch: from what the
// host was measured to carry upwards, until a run is off by no more than half of
// the tolerance. What it takes beyond the measured is remembered for later rows.
func (s *session) choose(ctx context.Context, c *sweep.Case, b emu.Batch, want shaping.Duration) error {
	p := s.pacing
	limit := pace.Choose(p.asked, p.capacity)
	p.row.Chosen, p.row.Limit = true, limit.What
	p.row.Dilation = min(max(limit.Dilation*p.strain/strainUnit, 1), pace.MaxDilation)
	t, check := s.timeline, s.check
	defer func() { s.timeline, s.check = t, check }()
	s.timeline, s.check = nil, false
	for try := 1; ; try++ {
		res, _, err := s.onWall(ctx, b, p.row.Dilation)
		if err != nil {
			return err
		}
		if 2*off(c.Mean(&res, b), want) <= Tolerance || try == tries || p.row.Dilation > pace.MaxDilation/2 {
			return nil
		}
		p.row.Dilation *= 2
		p.strain = max(strainUnit, p.row.Dilation*strainUnit/limit.Dilation)
	}
}
