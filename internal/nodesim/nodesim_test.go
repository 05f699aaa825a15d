package nodesim

import (
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	reflectionpb "google.golang.org/grpc/reflection/grpc_reflection_v1"

	"github.com/railyard/railyard/internal/gossip"
	"github.com/railyard/railyard/internal/wire"
	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
)

// TestEnds: a nodesim ends when whoever it works for is gone, in whichever way,
// and says so; a signal is a good end.
func TestEnds(t *testing.T) {
	lifeline, parent := io.Pipe()
	for _, test := range []struct {
		name   string
		config func(*Config)
		end    func(*stage)
		good   bool
	}{
		{"signal", nil, func(s *stage) { s.stop() }, true},
		{"signal in a session", nil, func(s *stage) { s.ready(); s.stop() }, true},
		{"session closed", nil, func(s *stage) { x, _ := s.ready(); _ = x.stream.CloseSend() }, true},
		{"session broken", nil, func(s *stage) { s.ready(); _ = s.conn.Close() }, false},
		{"coordinator leaves", nil, func(s *stage) { s.coordinator.Leave(time.Second); s.coordinator.Close() }, false},
		{"coordinator dies", nil, func(s *stage) { s.coordinator.Close() }, false},
		{"nobody comes", func(c *Config) { c.Orphan = time.Nanosecond }, func(*stage) {}, false},
		{"parent dies", func(c *Config) { c.Lifeline = lifeline }, func(*stage) { _ = parent.Close() }, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := enter(t, test.config)
			test.end(s)
			if err := s.wait(); test.good && err != nil || !test.good && !errors.Is(err, ErrOrphaned) {
				t.Errorf("ended with %v", err)
			}
		})
	}
}

// TestConfig: what a nodesim was told wrong it says at once, by the flag.
func TestConfig(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	good := func() Config {
		return Config{Nodes: gossip.List(0), Join: []string{"127.0.0.1:1"}, Version: "test",
			Listen: "127.0.0.1:0", Gossip: gossip.Loopback()}
	}
	for _, test := range []struct {
		name  string
		edit  func(*Config)
		cause wire.Cause
		words []string
	}{
		{"nothing", func(c *Config) { *c = Config{} }, wire.Config, []string{"--nodes: missing", "--join: missing"}},
		{"port in use", func(c *Config) { c.Listen = taken.Addr().String() }, wire.Config, []string{"--listen " + taken.Addr().String(), "in use", "choose another"}},
		{"no such address", func(c *Config) { c.Listen = "nowhere" }, wire.Config, []string{"--listen nowhere"}},
		{"gossip without a preset", func(c *Config) { c.Gossip = gossip.Config{} }, wire.Config, []string{"Loopback"}},
		{"nobody to join", func(c *Config) { c.Gossip.JoinTimeout = time.Millisecond }, wire.PeerLost, []string{"127.0.0.1:1"}},
	} {
		c := good()
		test.edit(&c)
		f := failure(t, Run(t.Context(), c))
		if f.Cause != test.cause {
			t.Errorf("%s: cause %v, want %v: %v", test.name, f.Cause, test.cause, f)
		}
		for _, w := range test.words {
			if !strings.Contains(f.Text, w) {
				t.Errorf("%s: %q does not say %q", test.name, f.Text, w)
			}
		}
	}
}

// TestAdvertised: a nodesim that listens on every address advertises one at
// which it can be reached.
func TestAdvertised(t *testing.T) {
	s := enter(t, func(c *Config) { c.Listen = "0.0.0.0:0" })
	if _, p := s.ready(); p == nil {
		t.Error("not reached")
	}
}

// TestAnswers: health and reflection answer.
func TestAnswers(t *testing.T) {
	s := enter(t, nil)
	for _, service := range []string{"", railyardv1.NodeService_ServiceDesc.ServiceName} {
		h, err := healthpb.NewHealthClient(s.conn).Check(t.Context(), &healthpb.HealthCheckRequest{Service: service})
		if err != nil || h.GetStatus() != healthpb.HealthCheckResponse_SERVING {
			t.Errorf("health of %q: %v, %v", service, h, err)
		}
	}
	stream, err := reflectionpb.NewServerReflectionClient(s.conn).ServerReflectionInfo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	err = stream.Send(&reflectionpb.ServerReflectionRequest{MessageRequest: &reflectionpb.ServerReflectionRequest_ListServices{}})
	if err != nil {
		t.Fatal(err)
	}
	m, err := stream.Recv()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, v := range m.GetListServicesResponse().GetService() {
		names = append(names, v.GetName())
	}
	for _, want := range []string{railyardv1.NodeService_ServiceDesc.ServiceName, railyardv1.ExchangeService_ServiceDesc.ServiceName} {
		if !slices.Contains(names, want) {
			t.Errorf("reflection lists %v, not %s", names, want)
		}
	}
}
