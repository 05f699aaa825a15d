package coordinator

import (
	"context"
	"errors"
	"io"

	"google.golang.org/grpc"

	"github.com/railyard/railyard/emu/pace"
	"github.com/railyard/railyard/internal/gossip"
	"github.com/railyard/railyard/internal/wallclock"
	"github.com/railyard/railyard/internal/wire"
	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
)

// member is a nodesim and the one session stream to it.
type member struct {
	gossip.Member
	index   int // participant
	pid     int64
	conn    *grpc.ClientConn
	stream  railyardv1.NodeService_SessionClient
	process *process // nil when somebody else started it
	host    string   // whose clock it reads
	shared  bool     // that is ours as well
	clock   pace.Offset
}

// answer is what a member said, or that its stream is over.
type answer struct {
	from     int
	response *railyardv1.SessionResponse
	err      error
	at       int64 // when it came
}

// open dials a member, which must answer before attempt ends, and listens to it
// for as long as ctx lasts. Everything it says goes to answers, in order, until
// the stream ends.
func (m *member) open(attempt, ctx context.Context, answers chan<- answer, clock wallclock.Clock, network wire.Network) error {
	var err error
	if m.conn, err = wire.Dial(network, m.GRPC); err != nil {
		return wire.Failf(wire.PeerLost, "%s at %s: %v", m.Name, m.GRPC, err)
	}
	ctx, cancel := context.WithCancel(ctx)
	release := context.AfterFunc(attempt, cancel)
	m.stream, err = railyardv1.NewNodeServiceClient(m.conn).Session(ctx, grpc.WaitForReady(true))
	if !release() {
		cause := wire.Failf(wire.Timeout, "%s does not answer at %s, which it advertises; can it be reached from here?", m.Name, m.GRPC)
		return errors.Join(cause, attempt.Err(), m.conn.Close())
	}
	if err != nil {
		cancel()
		return errors.Join(wire.Failf(wire.PeerLost, "%s at %s: %v", m.Name, m.GRPC, err), m.conn.Close())
	}
	go func() {
		for {
			r, err := m.stream.Recv()
			select {
			case answers <- answer{m.index, r, err, clock.Now()}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return nil
}

// say sends a request. A broken stream tells its cause to the receiver, so that
// the one who sends need not.
func (m *member) say(r *railyardv1.SessionRequest) {
	_ = m.stream.Send(r)
}

// lost returns why a stream that ended with err did.
func (m *member) lost(ctx context.Context, err error) *wire.Failure {
	f := wire.FromStatus(err)
	if errors.Is(err, io.EOF) {
		f = wire.Failf(wire.PeerLost, "it closed the session")
	}
	f.Member = m.Name
	if m.process != nil && (f.Cause == wire.PeerLost || f.Cause == wire.Aborted) {
		if how, ok := m.process.ended(ctx, blame); ok {
			return m.gone(how)
		}
	}
	if f.Cause == wire.PeerLost {
		return m.gone(f.Text)
	}
	return f
}

func (m *member) gone(how string) *wire.Failure {
	f := wire.Failf(wire.PeerLost, "node %s lost: process %s (pid %d) ended: %s", m.Nodes, m.Name, m.pid, how)
	f.Member = m.Name
	return f
}
