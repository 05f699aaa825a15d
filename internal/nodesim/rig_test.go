package nodesim

import (
	"context"
	"errors"
	"flag"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/internal/gossip"
	"github.com/railyard/railyard/internal/wire"
	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
)

func TestMain(m *testing.M) {
	flag.Parse()
	// memberlist does not wait for a probe that is under way, which takes longer where
	// many went unanswered.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/hashicorp/memberlist.(*Memberlist).probeNode"))
}

// bound is how long anything here may take before it counts as hanging. No test
// waits for it unless it fails.
const bound = 20 * time.Second

// id is the session that the coordinator of these tests opens.
const id = 0x5e551014

// stage is a cluster of two nodes as a nodesim sees it. It hosts node 1; the
// coordinator and the nodesim of node 0 are played by the test.
type stage struct {
	t           testing.TB
	coordinator *gossip.Roster
	conn        *grpc.ClientConn // to the nodesim
	stop        context.CancelFunc
	done        chan struct{}
	err         error // what Run returned; set before done is closed
}

// enter puts a nodesim on a stage.
func enter(t testing.TB, edit func(*Config)) *stage {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	s := &stage{t: t, stop: stop, done: make(chan struct{})}
	s.coordinator = s.member("coordinator", gossip.Member{Role: gossip.Coordinator}, nil)
	join := []string{s.coordinator.Addr()}
	s.member("node0", gossip.Member{Role: gossip.Nodesim, GRPC: "127.0.0.1:9", Nodes: gossip.List(0)}, join)
	c := Config{Nodes: gossip.List(1), Join: join, Version: "test", Listen: "127.0.0.1:0", Gossip: gossip.Loopback()}
	if edit != nil {
		edit(&c)
	}
	go func() {
		defer close(s.done)
		s.err = Run(ctx, c)
	}()
	t.Cleanup(func() {
		stop()
		_ = s.wait()
	})
	s.dial()
	return s
}

func (s *stage) member(name string, m gossip.Member, join []string) *gossip.Roster {
	s.t.Helper()
	c := gossip.Loopback()
	c.Name, c.Join, c.Meta = name, join, m
	c.Meta.Version, c.Meta.Cluster = "test", "stage"
	r, err := gossip.Start(s.t.Context(), c)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(r.Close)
	return r
}

// dial connects to the nodesim at the address that it advertises.
func (s *stage) dial() {
	s.t.Helper()
	a, err := s.coordinator.Await(s.t.Context(), gossip.Expect{Nodes: 2, Deadline: bound})
	if err != nil {
		s.t.Fatal(err)
	}
	if s.conn, err = grpc.NewClient(a.ByNode[1].GRPC, wire.DialOptions()...); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = s.conn.Close() })
}

// wait returns what Run returned.
func (s *stage) wait() error {
	s.t.Helper()
	select {
	case <-s.done:
		return s.err
	case <-time.After(bound):
		s.t.Fatal("the nodesim does not end")
		return nil
	}
}

// session is the coordinator's end of a session.
type session struct {
	t      testing.TB
	stream railyardv1.NodeService_SessionClient
	cancel context.CancelFunc // breaks it off
}

func (s *stage) open() *session {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), bound)
	s.t.Cleanup(cancel)
	stream, err := railyardv1.NewNodeServiceClient(s.conn).Session(ctx)
	if err != nil {
		s.t.Fatal(err)
	}
	return &session{s.t, stream, cancel}
}

// say sends a request.
func (x *session) say(r *railyardv1.SessionRequest) {
	x.t.Helper()
	if err := x.stream.Send(r); err != nil {
		x.t.Fatal(err)
	}
}

// hear returns the next response.
func (x *session) hear() *railyardv1.SessionResponse {
	x.t.Helper()
	r, err := x.stream.Recv()
	if err != nil {
		x.t.Fatal(err)
	}
	return r
}

// refused returns the failure that is the next response.
func (x *session) refused() *wire.Failure {
	x.t.Helper()
	r := x.hear()
	if r.GetFailure() == nil {
		x.t.Fatalf("response %v, want a failure", r)
	}
	return wire.DecodeFailure(r.GetFailure())
}

// duo is the cluster of a stage.
func duo() *railyardv1.Cluster {
	return wire.EncodeCluster(&emu.Cluster{Name: "duo", Groups: []emu.Group{{Count: 2, System: "dgx-h100", GPUs: 1}}})
}

// setup returns the request that sets the nodesim up, for tests to spoil.
func setup() *railyardv1.Setup {
	return &railyardv1.Setup{Session: id, ProtocolVersion: wire.ProtocolVersion, Cluster: duo(), Self: 1,
		Participants: []*railyardv1.Participant{
			{Member: "node0", Address: "127.0.0.1:9", Nodes: []uint32{0}},
			{Member: "node1", Address: "127.0.0.1:9", Nodes: []uint32{1}},
		}}
}

func request(m *railyardv1.Setup) *railyardv1.SessionRequest {
	return &railyardv1.SessionRequest{Request: &railyardv1.SessionRequest_Setup{Setup: m}}
}

// begin returns the request that begins a batch of one all-reduce over both
// GPUs, without payload.
func begin(batch uint32, edit func(*emu.Run)) *railyardv1.SessionRequest {
	r := emu.Run{Op: collective.AllReduce, Algorithm: "ring", Comm: []int{0, 1}, Count: 64, DType: collective.Float32,
		Options: collective.Options{Channels: 1}, Iterations: 1}
	if edit != nil {
		edit(&r)
	}
	return &railyardv1.SessionRequest{Request: &railyardv1.SessionRequest_Begin{
		Begin: &railyardv1.Begin{Batch: batch, Runs: wire.EncodeBatch(&emu.Batch{Runs: []emu.Run{r}})}}}
}

func finish() *railyardv1.SessionRequest {
	return &railyardv1.SessionRequest{Request: &railyardv1.SessionRequest_Finish{Finish: &railyardv1.Finish{}}}
}

// peer opens a stream as another participant would.
func (s *stage) peer(session uint64, from uint32) railyardv1.ExchangeService_ExchangeClient {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), bound)
	s.t.Cleanup(cancel)
	stream, err := railyardv1.NewExchangeServiceClient(s.conn).Exchange(ctx)
	if err == nil {
		err = stream.SendMsg(&wire.Batch{Session: session, From: from})
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return stream
}

// ready sets the nodesim up and joins it as node 0.
func (s *stage) ready() (*session, railyardv1.ExchangeService_ExchangeClient) {
	s.t.Helper()
	x := s.open()
	x.say(request(setup()))
	p := s.peer(id, 0)
	if r := x.hear(); r.GetReady().GetGpus() != 1 || r.GetReady().GetVersion() != "test" {
		s.t.Fatalf("response %v, want ready with one GPU", r)
	}
	return x, p
}

// failure returns the failure that an error is.
func failure(t testing.TB, err error) *wire.Failure {
	t.Helper()
	var f *wire.Failure
	if !errors.As(err, &f) {
		t.Fatalf("error %v, want a failure with a cause", err)
	}
	return f
}
