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

// late ends a process that came too late, or came back: another member hosts
// one of its nodes, and has a session already, so that nobody will ever want
// this one. Before there are sessions the coordinator judges who is one too many.
func (n *node) late(ctx context.Context, m gossip.Member) {
	if m.Role != gossip.Nodesim || m.Addr == n.roster.Addr() {
		return
	}
	for i := range m.Nodes.All() {
		if !n.config.Nodes.Contains(i) {
			continue
		}
		if n.busy(ctx, m) && !n.lobby.entered() {
			n.end(wire.Failf(wire.Config, "--nodes %s: node %d is hosted already by %s, and its cluster is running; host another node, or stop that process first",
				n.config.Nodes, i, m))
		}
		return
	}
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
