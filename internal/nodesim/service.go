package nodesim

import (
	"context"
	"errors"
	"io"
	"sync"

	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/railyard/railyard/internal/wire"
	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
)

// errFinished is the cause of a good end: the coordinator closed the session.
var errFinished = errors.New("the session is finished")

// lobby is where streams of peers wait for the session they belong to: a peer
// may be set up before this process is.
type lobby struct {
	mu    sync.Mutex
	actor *actor
	open  chan struct{} // closed when the actor is set up
}

// enter makes a the actor of the one session this process ever has.
func (l *lobby) enter(a *actor) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.actor != nil {
		return wire.Failf(wire.Mismatch, "this nodesim has a session already; start another for a second cluster")
	}
	l.actor = a
	return nil
}

func (l *lobby) entered() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.actor != nil
}

// admit lets peers in. The actor calls it, once, when it knows its session.
func (l *lobby) admit() { close(l.open) }

// find waits until the session is set up and returns its actor. A peer of
// another session is turned away, and does this one no harm.
func (l *lobby) find(ctx context.Context, hello *wire.Batch) (*actor, error) {
	select {
	case <-l.open:
	case <-ctx.Done():
		return nil, wire.Failf(wire.Timeout, "no session here: %v", ctx.Err())
	}
	a := l.actor // set before open was closed
	if hello.Session != a.session {
		return nil, wire.Failf(wire.Mismatch, "session %x: this nodesim is part of another", hello.Session)
	}
	if int(hello.From) >= a.self {
		return nil, wire.Failf(wire.Mismatch, "participant %d: this nodesim is number %d, and only those below it open streams to it", hello.From, a.self)
	}
	return a, nil
}

// service is what the coordinator talks to.
type service struct {
	railyardv1.UnimplementedNodeServiceServer
	node *node
}

// Session runs the actor until the coordinator closes the stream. Requests are
// posted; the actor answers.
func (s *service) Session(stream railyardv1.NodeService_SessionServer) error {
	select {
	case <-s.node.ready:
	case <-stream.Context().Done():
		return stream.Context().Err()
	}
	a := newActor(s.node, stream)
	if err := s.node.lobby.enter(a); err != nil {
		return wire.ToStatus(err)
	}
	s.node.health.SetServingStatus(inSession, healthpb.HealthCheckResponse_SERVING)
	var reader sync.WaitGroup
	reader.Go(func() { a.receive() })
	err := a.run()
	if err == nil {
		s.node.end(errFinished)
		return nil
	}
	s.node.end(err)
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
