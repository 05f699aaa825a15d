package gossip

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Await waits until the members present host every declared node exactly once.
// It fails at once on what waiting won't mend, a VersionError or SurplusError;
// with a DuplicateError once that has stood for longer than a crash takes to
// be noticed, since until then one of the two may be the corpse of the other;
// and with a MissingError at the deadline. Usage tells which exit code is due.
// What comes or goes after the last node has come is for Watch to see. When ctx is cancelled or the roster closed, the error is ctx's or ErrClosed.
func (r *Roster) Await(ctx context.Context, e Expect) (Assembly, error) {
	limited, cancel := context.WithTimeout(ctx, e.Deadline)
	defer cancel()
	return until(limited, r, func() (Assembly, error) { return assemble(r.Members(), e) })
}

// WaitFor waits until each of the wanted nodes is hosted by one member, and
// returns which. Errors are those of Await; the deadline is ctx's.
func (r *Roster) WaitFor(ctx context.Context, wanted Nodes) (map[int]Member, error) {
	return until(ctx, r, func() (map[int]Member, error) {
		return hostsOf(wanted, keep(r.Members(), func(m Member) bool { return m.Role == Nodesim }))
	})
}

// until tries after every change of the roster, until try succeeds or its
// error is final.
func until[T any](ctx context.Context, r *Roster, try func() (T, error)) (T, error) {
	watching, cancel := context.WithCancel(ctx)
	defer cancel()
	start := time.Now()
	events := r.Watch(watching)
	r.catchUp(watching)
	p := patience{grace: r.tuning.confirm(len(r.Members()))}
	for {
		v, err := try()
		if err == nil || p.over(err) {
			return v, err
		}
		select {
		case _, open := <-events:
			if !open {
				return v, r.gaveUp(ctx, err, time.Since(start))
			}
		case <-p.timer():
		}
	}
}

// gaveUp is the error when the wait ended with the verdict open.
func (r *Roster) gaveUp(ctx context.Context, verdict error, waited time.Duration) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return fmt.Errorf("gossip: stopped waiting: %w", ctx.Err())
	}
	if ctx.Err() == nil {
		return ErrClosed
	}
	var m *MissingError
	if errors.As(verdict, &m) {
		m.Waited, m.Join = waited, r.Addr()
		m.Strays = append(m.Strays, r.Strays()...)
	}
	return verdict
}

// patience decides how long a verdict must stand before it is final.
type patience struct {
	grace time.Duration // for duplicates
	said  string        // the duplicate that stands
	since time.Time
}

func (p *patience) over(verdict error) bool {
	var missing *MissingError
	var duplicate *DuplicateError
	switch {
	case errors.As(verdict, &missing):
		p.said = ""
		return false
	case errors.As(verdict, &duplicate):
		if s := verdict.Error(); s != p.said {
			p.said, p.since = s, time.Now()
		}
		return time.Since(p.since) >= p.grace
	}
	return true
}

// timer fires when a standing duplicate becomes final; never otherwise.
func (p *patience) timer() <-chan time.Time {
	if p.said == "" {
		return nil
	}
	return time.After(p.grace - time.Since(p.since))
}
