package nodesim

import (
	"context"
	"errors"
	"io"
	"sync"

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
	open  chan struct{} // closed when actor is set
}

func (l *lobby) door() chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open == nil {
		l.open = make(chan struct{})
	}
	return l.open
}

// enter makes a the actor of the one session this process ever has.
func (l *lobby) enter(a *actor) error {
	door := l.door()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.actor != nil {
		return wire.Failf(wire.Mismatch, "this nodesim has a session already; start another for a second cluster")
	}
	l.actor = a
	close(door)
	return nil
}

func (l *lobby) entered() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.actor != nil
}

// find waits for the session.
func (l *lobby) find(ctx context.Context) (*actor, error) {
	select {
	case <-l.door():
		return l.actor, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
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
	var reader sync.WaitGroup
	reader.Go(func() { receive(stream, a.inbox) })
	err := a.run()
	if err == nil {
		s.node.end(errFinished)
		return nil
	}
	s.node.end(err)
	return wire.ToStatus(err)
}

// receive posts what the coordinator says, and lastly that it says no more.
func receive(stream railyardv1.NodeService_SessionServer, inbox *mailbox[event]) {
	for {
		req, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			inbox.post(event{closed: true})
			return
		}
		if err != nil {
			inbox.post(event{err: errors.Join(ErrOrphaned, err)})
			return
		}
		inbox.post(event{request: req})
	}
}
