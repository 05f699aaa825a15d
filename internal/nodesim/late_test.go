package nodesim

import (
	"net"
	"strings"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/railyard/railyard/internal/gossip"
	"github.com/railyard/railyard/internal/wire"
)

// usurper is another process that hosts the nodesim's node, and says whether it has
// a session.
func (s *stage) usurper() *health.Server {
	s.t.Helper()
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.t.Fatal(err)
	}
	srv, h := grpc.NewServer(), health.NewServer()
	healthpb.RegisterHealthServer(srv, h)
	go func() { _ = srv.Serve(lis) }()
	s.t.Cleanup(srv.Stop)
	m := gossip.Member{Role: gossip.Nodesim, GRPC: lis.Addr().String(), Nodes: gossip.List(1)}
	s.member("other", m, []string{s.coordinator.Addr()})
	return h
}

// TestUsurped: a nodesim whose node another has taken, and who has a session, ends
// and says so, whichever came first: the other, its session, or the end of this
// one's own.
func TestUsurped(t *testing.T) {
	const serving = healthpb.HealthCheckResponse_SERVING
	for name, play := range map[string]func(s *stage, acquainted func()){
		"it joins while there is a session here": func(s *stage, acquainted func()) {
			x := s.open()
			x.say(lasting(id))
			s.peer(id, 0)
			x.hear()
			h := s.usurper()
			h.SetServingStatus(inSession, serving)
			acquainted()
			x.cancel()
		},
		"its session begins later": func(s *stage, acquainted func()) {
			h := s.usurper()
			acquainted()
			h.SetServingStatus(inSession, serving)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			joined := make(chan struct{}, 64) // of all that is logged
			core, logs := observer.New(zap.InfoLevel)
			s := enter(t, func(c *Config) {
				c.Logger = zap.New(core, zap.Hooks(func(zapcore.Entry) error {
					joined <- struct{}{}
					return nil
				}))
			})
			play(s, func() {
				for logs.FilterField(zap.String("member", "other")).Len() == 0 {
					<-joined
				}
			})
			if f := wire.FromStatus(wire.ToStatus(s.wait())); f.Cause != wire.Config || !strings.Contains(f.Text, "node 1 is hosted already by other") {
				t.Errorf("ended with %v", f)
			}
		})
	}
}
