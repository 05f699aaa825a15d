package nodesim

import (
	"context"
	"time"

	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/railyard/railyard/internal/gossip"
	"github.com/railyard/railyard/internal/wire"
)

// inSession is the health service that serves once this process has a session.
const inSession = "railyard.session"

// asking bounds how long another member may take to say whether it has one.
const asking = 2 * time.Second

// usurped ends a process that came too late, or came back: another member hosts
// one of its nodes, and has a session already, so that nobody will ever want
// this one. Before there are sessions the coordinator judges who is one too many.
//
// It looks again and again, because no one event is the last: that process may
// have joined before this one's own session was over, and may get its session
// at any time after it joined.
func (n *node) usurped(ctx context.Context) {
	for again := time.NewTicker(looking); ; {
		if m, node, ok := n.usurper(); ok && n.busy(ctx, m) && !n.lobby.entered() {
			n.end(wire.Failf(wire.Config, "--nodes %s: node %d is hosted already by %s, and its cluster is running; host another node, or stop that process first",
				n.config.Nodes, node, m))
			return
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return
		}
	}
}

// looking is how often that is.
const looking = 250 * time.Millisecond

// usurper returns a member that hosts a node of this process, which has no
// session, and that node.
func (n *node) usurper() (gossip.Member, int, bool) {
	if n.lobby.entered() {
		return gossip.Member{}, 0, false
	}
	for _, m := range n.roster.Members() {
		if m.Role != gossip.Nodesim || m.Addr == n.roster.Addr() {
			continue
		}
		for i := range m.Nodes.All() {
			if n.config.Nodes.Contains(i) {
				return m, i, true
			}
		}
	}
	return gossip.Member{}, 0, false
}

// busy reports whether a member says that it has a session. One that does not
// answer has ended, or is about to.
func (n *node) busy(ctx context.Context, m gossip.Member) bool {
	ctx, cancel := context.WithTimeout(ctx, asking)
	defer cancel()
	conn, err := wire.Dial(n.config.Network, m.GRPC)
	if err != nil {
		return false
	}
	defer conn.Close()
	r, err := healthpb.NewHealthClient(conn).Check(ctx, &healthpb.HealthCheckRequest{Service: inSession})
	return err == nil && r.GetStatus() == healthpb.HealthCheckResponse_SERVING
}
