package coordinator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"

	"github.com/railyard/railyard/emu/pace"
	"github.com/railyard/railyard/internal/gossip"
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
	talk    sync.Mutex   // held while something is put on the stream
	dead    bool         // killed by a fault: it has no part in the session any more
	process *process     // nil when somebody else started it
	spoke   atomic.Int64 // when it last said anything, in Unix nanoseconds
	host    string       // whose clock it reads
	shared  bool         // that is ours as well
	clock   pace.Offset
}

// answer is what a member said, or that its stream is over.
type answer struct {
	from     int
	response *railyardv1.SessionResponse
	err      error
	at       int64     // when it came, on the coordinator's clock
	when     time.Time // the same in wall time
}

// open dials a member, which must answer before attempt ends, and listens to it
// for as long as the cluster lasts. Everything it says goes to answers, in
// order, until the stream ends.
func (k *Cluster) open(attempt context.Context, m *member) error {
	var err error
	if m.conn, err = wire.Dial(k.config.Network, m.GRPC); err != nil {
		return wire.Failf(wire.PeerLost, "%s at %s: %v", m.Name, m.GRPC, err)
	}
	ctx, cancel := context.WithCancel(k.streams)
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
	m.spoke.Store(time.Now().UnixNano())
	go func() {
		for {
			r, err := m.stream.Recv()
			now := time.Now()
			if err == nil {
				m.spoke.Store(now.UnixNano())
			} else if ctx.Err() == nil {
				k.raise(m)
			}
			select {
			case k.answers <- answer{m.index, r, err, k.clock.Now(), now}:
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

// raise says that the session of a member has broken off.
func (k *Cluster) raise(m *member) {
	k.config.lost.add(m.Member)
	select {
	case k.alarm <- struct{}{}:
	default:
	}
}

// say sends a request. A broken stream tells its cause to the receiver, so that
// the one who sends need not.
func (m *member) say(r *railyardv1.SessionRequest) {
	if !m.dead {
		m.send(r)
	}
}

func (m *member) send(r *railyardv1.SessionRequest) {
	m.talk.Lock()
	defer m.talk.Unlock()
	_ = m.stream.Send(r)
}

// close ends the session.
func (m *member) close() {
	m.talk.Lock()
	defer m.talk.Unlock()
	_ = m.stream.CloseSend()
}

// lost returns why a stream that ended did.
func (m *member) lost(ctx context.Context, a answer) *wire.Failure {
	err := a.err
	var f *wire.Failure
	if errors.As(err, &f) {
		return f // the vigil's
	}
	f = wire.FromStatus(err)
	if errors.Is(err, io.EOF) {
		f = wire.Failf(wire.PeerLost, "it closed the session")
	}
	f.Member = m.Name
	if m.process != nil && (f.Cause == wire.PeerLost || f.Cause == wire.Aborted) {
		if how, ok := m.process.ended(ctx, blame); ok {
			took := a.when.Sub(m.process.at)
			return m.gone(max(took, 1), "ended: %s; noticed within %v (wall time)", how, brief(took))
		}
	}
	if f.Cause == wire.PeerLost {
		took := a.when.Sub(m.lastHeard())
		return m.gone(max(took, 1), "ended: %s; noticed within %v (wall time)", f.Text, brief(took))
	}
	return f
}

// gone is the failure of a member whose process has ended.
func (m *member) gone(took time.Duration, how string, args ...any) *wire.Failure {
	f := wire.Failf(wire.PeerLost, "%s lost: process %s (pid %d) %s", named(m.Nodes), m.Name, m.pid, fmt.Sprintf(how, args...))
	f.Member, f.Took = m.Name, took
	return f
}

// lastHeard is when the member last said anything.
func (m *member) lastHeard() time.Time { return time.Unix(0, m.spoke.Load()) }

// named names nodes in a message.
func named(n gossip.Nodes) string {
	if n.Len() == 1 {
		return "node " + n.String()
	}
	return "nodes " + n.String()
}

// brief is a span of wall time for people, in whole milliseconds, rounded up.
func brief(d time.Duration) time.Duration {
	return max(d+time.Millisecond-1, time.Millisecond).Truncate(time.Millisecond)
}
