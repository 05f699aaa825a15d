package coordinator

import (
	"context"
	"time"

	"go.uber.org/zap"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/railyard/railyard/internal/gossip"
	"github.com/railyard/railyard/internal/wire"
)

// A process that ends breaks its streams, and is noticed at once. One that is
// stopped, or whose host is out of reach, keeps them: it is noticed by the
// others, who get no answer to their probes, and here it is asked once more,
// over the connection of its session, before the run is ended for its sake. On
// a host without a processor to spare the others may be wrong about it.

// vigil asks members that the roster takes for dead whether they are.
func (k *Cluster) vigil() {
	for e := range k.roster.Watch(k.ctx) {
		if e.Kind != gossip.Died {
			continue
		}
		for _, m := range k.members {
			if m.Name == e.Member.Name && m.Instance == e.Member.Instance {
				k.log.Info("lost", zap.String("member", m.Name), zap.String("by", "gossip"), zap.Duration("silent", e.Silent))
				silentSince := time.Now().Add(-e.Silent)
				k.vigils.Go(func() { k.ask(m, silentSince) })
			}
		}
	}
}

// ask asks a member for a sign of life until the roster has it back, and gives
// it up when there is none.
func (k *Cluster) ask(m *member, silentSince time.Time) {
	for !k.present(m) {
		began := time.Now()
		within := k.config.Answer
		if k.estranged(m) {
			within *= deafness
		}
		code := m.probe(k.ctx, within)
		k.log.Debug("taken for dead", zap.String("member", m.Name), zap.Stringer("answers", code), zap.Duration("within", time.Since(began)))
		switch code {
		case codes.OK:
		case codes.DeadlineExceeded:
			k.giveUp(m, silentSince)
			return
		default:
			return // the connection broke, which the session's stream tells
		}
		select {
		case <-time.After(k.config.Answer / 4):
		case <-k.ctx.Done():
			return
		}
	}
}

// present reports whether the roster has a member.
func (k *Cluster) present(m *member) bool {
	for _, p := range k.roster.Members() {
		if p.Name == m.Name && p.Instance == m.Instance {
			return true
		}
	}
	return false
}

// probe asks a member for a sign of life.
func (m *member) probe(ctx context.Context, within time.Duration) codes.Code {
	limited, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	_, err := healthpb.NewHealthClient(m.conn).Check(limited, &healthpb.HealthCheckRequest{})
	return status.Code(err)
}

// giveUp makes the loss of a member an answer like any other.
func (k *Cluster) giveUp(m *member, silentSince time.Time) {
	if last := m.lastHeard(); last.After(silentSince) {
		silentSince = last
	}
	now := time.Now()
	took := now.Sub(silentSince)
	f := wire.Failf(wire.Timeout, "%s lost: process %s (pid %d) does not answer, and nobody has heard of it for %v (wall time); is it stopped, or its host out of reach?",
		named(m.Nodes), m.Name, m.pid, brief(took))
	f.Member, f.Took = m.Name, max(took, 1)
	k.raise(m)
	select {
	case k.answers <- answer{from: m.index, err: f, when: now}:
	case <-k.ctx.Done():
	}
}
