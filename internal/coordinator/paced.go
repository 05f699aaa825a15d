package coordinator

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/pace"
	"github.com/railyard/railyard/emu/sweep"
	"github.com/railyard/railyard/shaping"
)

// Tolerance is the part of a reported time, in 1000ths, by which it may be off
// and still be trusted.
const Tolerance = 20

// Pace is how well the paced clock kept the times of a row.
type Pace struct {
	Chosen bool // the dilation, by the coordinator
	// Limit is what would break first at a smaller dilation.
	Limit string
	// Tried is how often a half was run to find the dilation, before any run counted.
	Tried int
	// OutOfPlace and InPlace are what the times of the row rest on.
	OutOfPlace, InPlace Half
	// ClockError is by how much the offset of another host's clock may be wrong,
	// in nanoseconds of wall time; 0 where there is one host.
	ClockError int64
}

// Half is what one time of a row rests on: its last run.
type Half struct {
	Dilation int64 // 0: nothing was run
	// Tries is how often it was run: again, at a larger dilation, where one that was
	// chosen had not been enough.
	Tries int
	// Computed is the time as the virtual clock computes it.
	Computed shaping.Duration
	// Lateness is that of all processes together, the fabric's included.
	Lateness pace.Lateness
	// Enough is a dilation at which nothing would have been late.
	Enough int64
	// Straggler is the process that fell behind most, by Lateness.Stall.
	Straggler string
}

// Dilation returns the larger one of both halves.
func (p *Pace) Dilation() int64 { return max(p.OutOfPlace.Dilation, p.InPlace.Dilation) }

// Enough returns a dilation at which nothing would have been late in either half.
func (p *Pace) Enough() int64 { return max(p.OutOfPlace.Enough, p.InPlace.Enough) }

// Tries returns how often anything was run for the row.
func (p *Pace) Tries() int { return p.Tried + p.OutOfPlace.Tries + p.InPlace.Tries }

// Lateness returns that of both halves together, in emulated time.
func (p *Pace) Lateness() pace.Lateness {
	l := p.OutOfPlace.Lateness
	l.Add(&p.InPlace.Lateness)
	return l
}

// Straggler returns who fell behind most in either half.
func (p *Pace) Straggler() string {
	if p.InPlace.Lateness.Stall > p.OutOfPlace.Lateness.Stall {
		return p.InPlace.Straggler
	}
	return p.OutOfPlace.Straggler
}

// Off returns by how much, in 1000ths of the computed time, the worse half of a
// row is off.
func (p *Pace) Off(r *sweep.Row) int64 {
	return max(off(r.OutOfPlace.Time, p.OutOfPlace.Computed), off(r.InPlace.Time, p.InPlace.Computed))
}

// off rounds up: what is off at all does not count as exact.
func off(got, computed shaping.Duration) int64 {
	if computed <= 0 || got == computed {
		return 0
	}
	d := got - computed
	if d < 0 {
		d = -d
	}
	const most = 1 << 50 // so that the product fits; nobody asks how many times over
	return (int64(min(d, most))*1000 + int64(computed) - 1) / int64(computed)
}

// pacing is what a session knows of the paced clock.
type pacing struct {
	doing    func(what string)
	gone     <-chan struct{} // closed when nobody waits any more
	fixed    int64           // dilation; 0: to be chosen
	capacity pace.Capacity
	// strain is what part of what Choose said it took, by what was the limit:
	// what a host can carry at rest it can't when busy. 0: not known.
	strain   map[bool]float64
	asked    pace.Demand      // by the row's first batch
	limit    pace.Limit       // of the row, as reckoned
	dilation int64            // that the row has come to
	row      *Pace            // so far
	span     shaping.Duration // of the batch, as computed
}

func (k *Cluster) newPacing(ctx context.Context, dilation int64, sink Sink) (*pacing, error) {
	p := &pacing{doing: sink.Doing, gone: sink.Gone, fixed: dilation, strain: map[bool]float64{}}
	if p.doing == nil {
		p.doing = func(string) {}
	}
	if dilation == 0 {
		if k.config.Capacity == nil {
			p.doing("measuring this host")
			c, err := Measure(ctx, k.clock)
			if err != nil {
				return nil, err
			}
			k.config.Capacity = &c
		}
		p.capacity = *k.config.Capacity
	}
	return p, k.synchronise(ctx)
}

// deserted reports whether nobody waits for the bench any more.
func (p *pacing) deserted() bool {
	select {
	case <-p.gone:
		return true
	default:
		return false
	}
}

// take returns what is known of the row and begins the next one.
func (p *pacing) take() *Pace {
	if p == nil {
		return nil
	}
	row := p.row
	p.row = nil
	return row
}

// paced runs a batch under the paced clock. What its times should be is computed
// first, by the same processes under the virtual clock; what they are is
// measured, and then the one is held against the other.
func (s *session) paced(ctx context.Context, c *sweep.Case, b emu.Batch) (sweep.Result, Cost, error) {
	computed, _, err := s.rehearse(ctx, b)
	if err != nil {
		return sweep.Result{}, Cost{}, err
	}
	p := s.pacing
	want := c.Mean(&computed, b)
	if p.row == nil {
		p.row, p.dilation = &Pace{}, p.fixed
		if p.fixed == 0 {
			if err := s.choose(ctx, c, b, want); err != nil {
				return sweep.Result{}, Cost{}, err
			}
		}
	}
	half := &p.row.OutOfPlace
	if b.Runs[0].InPlace {
		half = &p.row.InPlace
	}
	half.Computed = want
	return s.keep(ctx, c, b, half)
}

// keep runs a batch whose time is reported, as often as again says. Of the runs
// before the last nothing is kept but that they were.
func (s *session) keep(ctx context.Context, c *sweep.Case, b emu.Batch, half *Half) (res sweep.Result, cost Cost, err error) {
	p := s.pacing
	for what := "running"; ; {
		half.Tries++
		if res, cost, err = s.onWall(ctx, b, what, p.dilation); err != nil {
			break
		}
		s.drive.judge(half)
		wrong := off(c.Mean(&res, b), half.Computed)
		next := p.again(half, wrong)
		if next == 0 {
			break
		}
		what = fmt.Sprintf("a time was off by %d.%d %% at dilation %d; running again", wrong/10, wrong%10, p.dilation)
		p.raise(next)
		s.timeline.forget()
	}
	if s.drive.ended {
		err = cmp.Or(err, s.timeline.flush(shaping.Never))
	}
	return res, cost, err
}

// rehearse computes a batch under the virtual clock, with headers alone: times
// do not depend on elements.
func (s *session) rehearse(ctx context.Context, b emu.Batch) (sweep.Result, Cost, error) {
	t, check := s.timeline, s.check
	defer func() { s.timeline, s.check = t, check }()
	s.timeline, s.check, s.drive = nil, false, nil
	s.renew()
	bare := emu.Batch{Runs: append([]emu.Run(nil), b.Runs...)}
	for i := range bare.Runs {
		bare.Runs[i].Real = 0
	}
	res, cost, err := s.execute(ctx, bare)
	if err == nil {
		s.pacing.span = max(res.Now.Sub(b.Runs[0].Offset), 1)
	}
	if err == nil && s.pacing.row == nil {
		s.pacing.demand(s, &res, cost, b)
	}
	return res, cost, err
}

// long is what people are told of before it begins.
const long = 2 * time.Minute

// wait says what a batch of so long takes by the wall, when that is long.
func wait(span shaping.Duration, dilation int64) string {
	m := pace.Mapping{Dilation: dilation}
	if lasts := time.Duration(m.Lasts(span)); lasts > long {
		return fmt.Sprintf(": takes about %v; a smaller --dilation takes less", lasts.Round(time.Minute))
	}
	return ""
}

// onWall runs a batch under the wall clock.
func (s *session) onWall(ctx context.Context, b emu.Batch, what string, dilation int64) (sweep.Result, Cost, error) {
	s.drive = newDrive(s, dilation, fmt.Sprintf("%s at dilation %d%s", what, dilation, wait(s.pacing.span, dilation)))
	defer s.drive.stop()
	s.renew()
	return s.execute(ctx, b)
}
