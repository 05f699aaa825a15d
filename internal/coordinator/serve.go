package coordinator

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection"

	"github.com/railyard/railyard/internal/gossip"
	"github.com/railyard/railyard/internal/wire"
	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
)

// Server is `coordinator serve`: it answers on a socket from the start, while
// the nodes still gather.
type Server struct {
	railyardv1.UnimplementedCoordinatorServiceServer
	config Config
	lis    net.Listener
	ctx    context.Context // of the server; its cause may be a failure
	end    context.CancelCauseFunc
	ready  chan struct{} // closed when cluster or err is set

	gathering *Cluster // has a roster, and is not complete yet
	cluster   *Cluster
	err       error
	busy      sync.Mutex // held during a bench
	running   string
	state     sync.Mutex // guards running and err
}

// Serve runs a coordinator for nodes that join from elsewhere, until ctx ends
// or somebody asks it to shut down. It calls started with the addresses of the
// service and of the gossip once both are open.
func Serve(ctx context.Context, c Config, listen string, started func(service, join string)) error {
	lis, err := new(net.ListenConfig).Listen(ctx, "tcp", listen)
	if err != nil {
		return wire.Failf(wire.Config, "--listen %s: %v; choose another address, or port 0 for any free one", listen, err)
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	s := &Server{config: c, lis: lis, ctx: ctx, end: end, ready: make(chan struct{})}
	srv := grpc.NewServer(wire.ServerOptions()...)
	railyardv1.RegisterCoordinatorServiceServer(srv, s)
	healthpb.RegisterHealthServer(srv, health.NewServer())
	reflection.Register(srv)
	served := make(chan error, 1)
	go func() { served <- srv.Serve(lis) }()
	defer func() {
		// Those who wait for the cluster hear why there will be none.
		cut := time.AfterFunc(grace, srv.Stop)
		srv.GracefulStop()
		cut.Stop()
		<-served
	}()
	return s.run(started)
}

func (s *Server) run(started func(service, join string)) error {
	announce := s.config
	announce.Entered = func(join string) { started(s.lis.Addr().String(), join) }
	announce.gathering = func(k *Cluster) {
		s.state.Lock()
		s.gathering = k
		s.state.Unlock()
	}
	k, err := Start(s.ctx, announce)
	s.state.Lock()
	s.cluster, s.err = k, err
	s.state.Unlock()
	close(s.ready)
	if err != nil {
		if s.ctx.Err() != nil {
			return nil
		}
		return err
	}
	defer k.Close()
	<-s.ctx.Done()
	s.busy.Lock() // a bench sees the end as well
	defer s.busy.Unlock()
	var f *wire.Failure
	if errors.As(context.Cause(s.ctx), &f) {
		return f
	}
	return nil
}

// errHungUp says that whoever asked for a bench no longer listens.
var errHungUp = errors.New("who asked for the bench hung up")

// Bench runs one bench at a time; a second one waits for the first. A client
// that hangs up loses its bench, not the cluster: the batch in flight runs to
// its end, so that the nodesims are ready for the next.
func (s *Server) Bench(req *railyardv1.BenchRequest, stream railyardv1.CoordinatorService_BenchServer) error {
	select {
	case <-s.ready:
	case <-stream.Context().Done():
		return stream.Context().Err()
	}
	s.busy.Lock()
	defer s.busy.Unlock()
	if err := stream.Context().Err(); err != nil {
		return err
	}
	if err := s.broken(s.ctx); err != nil {
		return wire.ToStatus(err)
	}
	spec, err := wire.DecodeSpec(req)
	if err != nil {
		return wire.ToStatus(wire.Failf(wire.Config, "%v", err))
	}
	s.setRunning(fmt.Sprintf("%s on %d GPUs", spec.Op, s.cluster.fabric.GPUs()))
	defer s.setRunning("")
	out := &sender{stream: stream}
	sink := Sink{Started: out.started, Row: out.row, Doing: out.doing}
	if req.GetTimeline() {
		sink.Timeline = out
	}
	if err := s.cluster.Bench(s.ctx, spec, sink); err != nil {
		return s.ended(err)
	}
	return out.send(&railyardv1.BenchResponse{Response: &railyardv1.BenchResponse_Summary{
		Summary: &railyardv1.BenchSummary{Processes: uint32(len(s.cluster.members)), Cost: encodeCost(&out.cost)}}})
}

// ended returns what to tell the client of a bench that ended early. Only a
// bench that was refused, or that nobody wanted any more, leaves the cluster
// fit for another.
func (s *Server) ended(err error) error {
	if errors.Is(err, errHungUp) {
		return wire.ToStatus(wire.Failf(wire.Aborted, "%v", err))
	}
	f := verdict(err)
	if f.Cause != wire.Config {
		s.fail(f)
	}
	return wire.ToStatus(f)
}

// fail remembers what ended the cluster: a run that broke off leaves nodesims
// in the middle of it, so that nothing more can be run, and ends the server.
func (s *Server) fail(err error) {
	s.state.Lock()
	s.err = err
	s.state.Unlock()
	s.end(err)
}

func (s *Server) broken(ctx context.Context) error {
	s.state.Lock()
	err := s.err
	s.state.Unlock()
	if err != nil {
		return err
	}
	if err := s.cluster.Broken(ctx); err != nil {
		s.fail(err)
		return err
	}
	return nil
}

func (s *Server) setRunning(what string) {
	s.state.Lock()
	s.running = what
	s.state.Unlock()
}

// Status says who is here and what goes on.
func (s *Server) Status(context.Context, *railyardv1.StatusRequest) (*railyardv1.StatusResponse, error) {
	s.state.Lock()
	defer s.state.Unlock()
	m := &railyardv1.StatusResponse{Version: s.config.Version, Running: s.running, Cluster: s.config.ClusterID,
		DeclaredNodes: uint32(s.config.Cluster.Nodes()), ClusterYaml: string(s.config.Cluster.YAML()),
		State: railyardv1.ClusterState_CLUSTER_STATE_ASSEMBLING}
	if s.err != nil {
		m.State = railyardv1.ClusterState_CLUSTER_STATE_BROKEN
	}
	if s.cluster == nil {
		m.Members = s.present()
		return m, nil
	}
	m.DeclaredGpus = uint32(s.cluster.fabric.GPUs())
	if s.err == nil {
		m.State = railyardv1.ClusterState_CLUSTER_STATE_IDLE
		if s.running != "" {
			m.State = railyardv1.ClusterState_CLUSTER_STATE_RUNNING
		}
	}
	alive := map[string]bool{}
	for _, p := range s.cluster.roster.Members() {
		alive[p.Name] = p.Role == gossip.Nodesim
	}
	for _, p := range s.cluster.members {
		out := &railyardv1.MemberStatus{Name: p.Name, Address: p.GRPC, Version: p.Version, Alive: alive[p.Name]}
		for n := range p.Nodes.All() {
			out.Nodes = append(out.Nodes, uint32(n))
			_, gpus := s.cluster.fabric.GPURange(n)
			out.Gpus += uint32(gpus)
		}
		m.Members = append(m.Members, out)
	}
	return m, nil
}

// present returns the nodesims that have joined a cluster that still gathers.
func (s *Server) present() (all []*railyardv1.MemberStatus) {
	if s.gathering == nil {
		return nil
	}
	for _, p := range s.gathering.roster.Members() {
		if p.Role != gossip.Nodesim {
			continue
		}
		out := &railyardv1.MemberStatus{Name: p.Name, Address: p.GRPC, Version: p.Version, Alive: true}
		for n := range p.Nodes.All() {
			if n < s.config.Cluster.Nodes() {
				out.Nodes = append(out.Nodes, uint32(n))
			}
		}
		all = append(all, out)
	}
	return all
}

// Shutdown ends the server and with it the cluster.
func (s *Server) Shutdown(context.Context, *railyardv1.ShutdownRequest) (*railyardv1.ShutdownResponse, error) {
	defer s.end(nil)
	s.state.Lock()
	defer s.state.Unlock()
	n := 0
	if s.cluster != nil {
		n = len(s.cluster.members)
	}
	return &railyardv1.ShutdownResponse{Members: uint32(n)}, nil
}

// sender turns a bench into the messages of its stream.
type sender struct {
	stream railyardv1.CoordinatorService_BenchServer
	cost   Cost
}

func (o *sender) send(m *railyardv1.BenchResponse) error {
	if o.stream.Context().Err() != nil || o.stream.Send(m) != nil {
		return errHungUp
	}
	return nil
}

func (o *sender) started(s Started) error {
	m := &railyardv1.BenchStarted{EffectiveYaml: string(s.Cluster.YAML()), Rows: uint32(s.Rows), Processes: uint32(s.Procs)}
	for _, d := range s.Devices {
		m.Devices = append(m.Devices, &railyardv1.Device{Rank: uint32(d.Rank), Node: uint32(d.Node),
			Gpu: uint32(d.GPU), Group: uint32(d.Group), Pid: d.PID, Name: d.Model})
	}
	return o.send(&railyardv1.BenchResponse{Response: &railyardv1.BenchResponse_Started{Started: m}})
}

func (o *sender) row(r Row) error {
	o.cost.Add(r.Cost)
	m := wire.EncodeRow(&r.Row)
	m.Cost, m.Explain, m.Pace = encodeCost(&r.Cost), r.Explain, encodePace(r.Pace)
	return o.send(&railyardv1.BenchResponse{Response: &railyardv1.BenchResponse_Row{Row: m}})
}

// doing says what goes on. That nobody listens must not break off the batch.
func (o *sender) doing(what string) {
	_ = o.send(&railyardv1.BenchResponse{Response: &railyardv1.BenchResponse_Progress{Progress: &railyardv1.BenchProgress{Doing: what}}})
}

// Write sends a piece of the timeline. That nobody takes it must not break off
// the batch; the next row will tell.
func (o *sender) Write(b []byte) (int, error) {
	m := &railyardv1.TimelineChunk{Lines: bytes.Clone(b)}
	_ = o.send(&railyardv1.BenchResponse{Response: &railyardv1.BenchResponse_Timeline{Timeline: m}})
	return len(b), nil
}

func encodeCost(c *Cost) *railyardv1.EmulationCost {
	return &railyardv1.EmulationCost{Rounds: c.Rounds, Grants: c.Grants, Frames: c.Frames, Events: c.Events, WallNs: int64(c.Wall)}
}
