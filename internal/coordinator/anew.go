package coordinator

import (
	"context"
	"errors"

	"github.com/railyard/railyard/internal/wire"
)

// assemble starts the cluster.
func (s *Server) assemble(c Config) error {
	k, err := Start(s.ctx, c)
	s.state.Lock()
	defer s.state.Unlock()
	s.cluster, s.err, s.stale = k, err, false
	return err
}

// anew starts a cluster again whose processes are not all there any more. Only one
// that starts its own can.
func (s *Server) anew() error {
	s.state.Lock()
	old := s.cluster
	s.cluster, s.gathering = nil, nil
	s.state.Unlock()
	old.Close()
	c := s.config
	c.Entered = nil
	if err := s.assemble(c); err != nil {
		s.fail(err)
		return err
	}
	return nil
}

// whole reports whether no fault has killed a process.
func (k *Cluster) whole() bool {
	for _, m := range k.members {
		if m.dead {
			return false
		}
	}
	return true
}

// broken makes sure that a bench can run, and says why none can.
func (s *Server) broken(ctx context.Context) error {
	s.state.Lock()
	err, stale := s.err, s.stale
	s.state.Unlock()
	if err != nil {
		return err
	}
	if !stale && s.cluster.whole() {
		if err = s.cluster.Broken(ctx); err == nil {
			return nil
		}
		if !s.config.Spawn {
			s.fail(err)
			return err
		}
	}
	return s.anew()
}

// ended returns what to tell the client of a bench that ended early. A bench that
// was refused, that nobody wanted any more, or whose emulated cluster failed, leaves
// the cluster fit for another.
func (s *Server) ended(err error) error {
	if errors.Is(err, errHungUp) {
		return wire.ToStatus(wire.Failf(wire.Aborted, "%v", err))
	}
	f := verdict(err)
	var emulated *Failed
	if f.Cause != wire.Config && !errors.As(err, &emulated) {
		s.breakOff(f)
	}
	return wire.ToStatus(f)
}

// breakOff remembers that a run broke off and left nodesims in the middle of it:
// nothing more can be run on them.
func (s *Server) breakOff(err error) {
	if !s.config.Spawn {
		s.fail(err)
		return
	}
	s.state.Lock()
	s.stale = true
	s.state.Unlock()
}

// bury sees to processes that died under a bench. Those that this one started it
// starts again before the next bench.
func (s *Server) bury() {
	for _, m := range s.cluster.members {
		if m.dead && !s.config.Spawn {
			s.fail(wire.Failf(wire.PeerLost, "node %s is dead: %s had joined from elsewhere, and can't be started again from here; start the coordinator and its nodes again", m.Nodes, m.Name))
			return
		}
	}
}

// fail remembers what ended the cluster, and ends the server.
func (s *Server) fail(err error) {
	s.state.Lock()
	s.err = err
	s.state.Unlock()
	s.end(err)
}
