package coordinator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/railyard/railyard/internal/wire"
	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
)

// blame is how long to listen, after the first sign of trouble, for who is
// really at fault: when a process dies its peers complain as well, and often
// sooner.
const blame = 400 * time.Millisecond

// hear returns the next answer of any member. An error is the end: of the
// stream, of the run, or of patience with members that owe an answer.
func (k *Cluster) hear(ctx context.Context, owes func() string) (int, *railyardv1.SessionResponse, error) {
	for {
		a, err := k.answer(ctx, owes)
		if err != nil {
			return 0, nil, err
		}
		m := k.members[a.from]
		if m.dead {
			continue // its end has been seen to, even if it was only stopped
		}
		if a.err != nil && k.bereft != nil {
			return a.from, nil, k.bereft(a.from, m.lost(ctx, a))
		}
		if err := k.trouble(ctx, a); err != nil {
			return 0, nil, err
		}
		k.heard = a.at
		return a.from, a.response, nil
	}
}

// answer waits for the next answer of any member.
func (k *Cluster) answer(ctx context.Context, owes func() string) (answer, error) {
	if len(k.aside) > 0 {
		a := k.aside[0]
		k.aside = k.aside[1:]
		return a, nil
	}
	stall := time.NewTimer(k.config.Stall)
	defer stall.Stop()
	select {
	case a := <-k.answers:
		return a, nil
	case <-ctx.Done():
		return answer{}, ctx.Err()
	case <-stall.C:
		return answer{}, wire.Failf(wire.Timeout, "%s said nothing for %v; is the process stopped, or the host too slow?", owes(), k.config.Stall)
	}
}

// trouble returns the failure that an answer is, if it is one: that of the
// member really at fault.
func (k *Cluster) trouble(ctx context.Context, a answer) error {
	f := k.failure(ctx, a)
	if f == nil {
		return nil
	}
	if a.err != nil && f.Took > 0 {
		return f // this process is gone: no doubt who
	}
	listen := time.NewTimer(blame)
	defer listen.Stop()
	for {
		select {
		case b := <-k.answers:
			if b.err == nil {
				continue
			}
			if g := k.failure(ctx, b); g.Took > 0 && f.Cause == wire.PeerLost && k.ended(b.from) {
				return g
			}
		case <-listen.C:
			return f
		case <-ctx.Done():
			return f
		}
	}
}

// ended reports whether a member's process is known to have ended, which only
// those started here can be.
func (k *Cluster) ended(i int) bool {
	p := k.members[i].process
	if p == nil {
		return true
	}
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

func (k *Cluster) failure(ctx context.Context, a answer) *wire.Failure {
	m := k.members[a.from]
	if a.err != nil {
		return m.lost(ctx, a)
	}
	if r := a.response.GetFailure(); r != nil {
		return wire.DecodeFailure(r)
	}
	return nil
}

// each waits until take has accepted one answer of every member.
func (k *Cluster) each(ctx context.Context, take func(i int, r *railyardv1.SessionResponse) (bool, error)) error {
	done := make([]bool, len(k.members))
	left := len(done)
	for i, m := range k.members {
		if done[i] = m.dead; m.dead {
			left--
		}
	}
	owes := func() string {
		for i, d := range done {
			if !d {
				return k.members[i].Name
			}
		}
		return "nobody"
	}
	for ; left > 0; left-- {
		i, r, err := k.hear(ctx, owes)
		if err != nil {
			return err
		}
		if r == nil { // it has died
			if done[i] {
				left++
			}
			done[i] = true
			continue
		}
		ok, err := take(i, r)
		if err != nil {
			return err
		}
		if !ok && (r.GetPaceReport() != nil || r.GetClockReading() != nil) {
			left++ // of the paced clock, said before it heard that the batch was over
			continue
		}
		if !ok || done[i] {
			return wire.Failf(wire.Mismatch, "%s said %T when something else was due", k.members[i].Name, r.GetResponse())
		}
		done[i] = true
	}
	return nil
}

// Broken returns why the cluster cannot be used any more, without waiting.
func (k *Cluster) Broken(ctx context.Context) error {
	select {
	case a := <-k.answers:
		if err := k.trouble(ctx, a); err != nil {
			return err
		}
		return fmt.Errorf("%s speaks out of turn", k.members[a.from].Name)
	default:
		return nil
	}
}

// verdict makes a failure of any error, so that every run ends with a cause.
func verdict(err error) *wire.Failure {
	var f *wire.Failure
	if errors.As(err, &f) {
		return f
	}
	return wire.FromStatus(wire.ToStatus(err))
}

// config marks an error as the user's.
func config(err error) error {
	var f *wire.Failure
	if errors.As(err, &f) {
		return err
	}
	return wire.Failf(wire.Config, "%v", err)
}
