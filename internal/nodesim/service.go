package nodesim

import (
	"context"
	"errors"
	"io"
	"sync"

	"go.uber.org/zap"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/railyard/railyard/internal/wire"
	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
)

// errFinished is the cause of a good end: the coordinator closed the session.
var errFinished = errors.New("the session is finished")

// lobby is where streams of peers wait for the session they belong to: a peer
// may be set up before this process is.
type lobby struct {
	mu      sync.Mutex
	actor   *actor        // of the session there is; nil for none
	set     bool          // the actor is set up: it knows its session
	before  bool          // there was a session before
	last    bool          // the session is the last: no other may follow
	changed chan struct{} // closed, and replaced, when any of these changes
}

func newLobby() *lobby { return &lobby{changed: make(chan struct{})} }

// change does something to the lobby and wakes those who wait for it.
func (l *lobby) change(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f()
	close(l.changed)
	l.changed = make(chan struct{})
}

// enter makes a the actor of this process's session, once the one before, if
// others may follow it, is over.
func (l *lobby) enter(ctx context.Context, a *actor) error {
	for {
		l.mu.Lock()
		if l.actor == nil {
			l.actor, l.set, l.last = a, false, false
			l.mu.Unlock()
			return nil
		}
		wait, changed := l.set && !l.last, l.changed
		l.mu.Unlock()
		if !wait {
			return wire.Failf(wire.Mismatch, "this nodesim has a session already; start another for a second cluster")
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// leave makes room for another session.
func (l *lobby) leave() { l.change(func() { l.actor, l.before = nil, true }) }

// used reports whether there was a session before.
func (l *lobby) used() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.before
}

func (l *lobby) entered() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.actor != nil
}

// admit lets peers in. The actor calls it, once, when it knows its session.
func (l *lobby) admit(last bool) { l.change(func() { l.set, l.last = true, last }) }

// find waits until the session is set up and returns its actor. A peer of
// another session is turned away, and does this one no harm; unless another may
// follow, for which it waits.
func (l *lobby) find(ctx context.Context, hello *wire.Batch) (*actor, error) {
	for {
		l.mu.Lock()
		a, set, last, changed := l.actor, l.set, l.last, l.changed
		l.mu.Unlock()
		if a != nil && set && (last || a.session == hello.Session) {
			return a, a.expects(hello)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, wire.Failf(wire.Timeout, "no session %x here: %v", hello.Session, ctx.Err())
		}
	}
}

// expects turns away a stream that is not of this session, or not of a peer
// that dials here.
func (a *actor) expects(hello *wire.Batch) error {
	if hello.Session != a.session {
		return wire.Failf(wire.Mismatch, "session %x: this nodesim is part of another", hello.Session)
	}
	if int(hello.From) >= a.self {
		return wire.Failf(wire.Mismatch, "participant %d: this nodesim is number %d, and only those below it open streams to it", hello.From, a.self)
	}
	return nil
}

// service is what the coordinator talks to.
type service struct {
	railyardv1.UnimplementedNodeServiceServer
	node *node
}

// Session runs the actor until the coordinator closes the stream. Requests are
// posted; the actor answers. A session that breaks off ends the process, unless
// the coordinator has said that others may follow.
func (s *service) Session(stream railyardv1.NodeService_SessionServer) error {
	select {
	case <-s.node.ready:
	case <-stream.Context().Done():
		return stream.Context().Err()
	}
	a := newActor(s.node, stream)
	if err := s.node.lobby.enter(stream.Context(), a); err != nil {
		return wire.ToStatus(err)
	}
	s.node.health.SetServingStatus(inSession, healthpb.HealthCheckResponse_SERVING)
	var reader sync.WaitGroup
	reader.Go(func() { a.receive() })
	err := a.run()
	switch {
	case err == nil:
		s.node.end(errFinished)
	case a.lasting && errors.Is(err, ErrOrphaned):
		s.node.health.SetServingStatus(inSession, healthpb.HealthCheckResponse_NOT_SERVING)
		s.node.lobby.leave()
		s.node.log.Info("the session broke off; waiting for another", zap.Error(err))
		go s.node.bereft()
	default:
		s.node.end(err)
	}
	return wire.ToStatus(err)
}

// receive posts what the coordinator says, and lastly that it says no more.
func (a *actor) receive() {
	for {
		req, err := a.stream.Recv()
		if errors.Is(err, io.EOF) {
			a.inbox.post(event{closed: true})
			return
		}
		if err != nil {
			a.inbox.post(event{err: errors.Join(ErrOrphaned, err)})
			return
		}
		a.inbox.post(event{request: req, at: a.node.config.Clock.Now()})
	}
}
