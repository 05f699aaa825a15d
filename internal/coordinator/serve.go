package coordinator

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/sweep"
	"github.com/railyard/railyard/internal/wire"
	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
)

// Server is `coordinator serve`: it answers on a socket from the start, while
// the nodes still gather. When it loses one it lets go of the others, which
// wait, and gathers anew.
type Server struct {
	railyardv1.UnimplementedCoordinatorServiceServer
	config Config
	lis    net.Listener
	ctx    context.Context // of the server
	end    context.CancelFunc
	busy   sync.Mutex // held during a bench
	edits  sync.Mutex // held while faults change

	state     sync.Mutex    // guards what follows
	changed   chan struct{} // closed, and replaced, when cluster or err is set
	gathering *Cluster      // has a roster, and is not complete yet
	cluster   *Cluster      // nil while nodes gather
	lost      *wire.Failure // what ended the cluster before; nil: there was none
	err       error         // why there will be none
	running   string
	faults    []emu.Fault // in force
	live      *live       // the way to the bench that runs; nil: none does, or none can be struck
	last      *account    // nil: nothing has run yet
}

// Serve runs a coordinator for nodes that join from elsewhere, until ctx ends
// or somebody asks it to shut down. It calls started with the addresses of the
// service and of the gossip once both are open.
func Serve(ctx context.Context, c Config, listen string, started func(service, join string)) error {
	lis, err := new(net.ListenConfig).Listen(ctx, "tcp", listen)
	if err != nil {
		return wire.Failf(wire.Config, "--listen %s: %v; choose another address, or port 0 for any free one", listen, err)
	}
	ctx, end := context.WithCancel(ctx)
	defer end()
	s := &Server{config: c, lis: lis, ctx: ctx, end: end, changed: make(chan struct{})}
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

// run gathers the cluster, over and over, until the server is to end.
func (s *Server) run(started func(service, join string)) error {
	c := s.config
	c.lost = &losses{}
	c.gathering = func(k *Cluster) { s.set(func() { s.gathering = k }) }
	roster, err := enter(s.ctx, &c, c.ClusterID)
	if err != nil {
		return s.give(err)
	}
	c.roster = roster
	defer func() {
		roster.Leave(closing)
		roster.Close()
	}()
	started(s.lis.Addr().String(), roster.Addr())
	for {
		k, err := Start(s.ctx, c)
		switch {
		case s.ctx.Err() != nil:
			if k != nil {
				k.Close()
			}
			return s.give(nil)
		case err == nil:
			s.set(func() {
				s.cluster = k
				s.rest()
			})
			k.log.Info("ready")
			if c.Ready != nil {
				c.Ready()
				c.Ready = nil
			}
			f := s.hold(k)
			if f == nil {
				k.Close()
				return s.give(nil)
			}
			s.set(func() { s.cluster, s.lost = nil, f })
			k.log.Info("lost", zap.String("member", f.Member), zap.String("by", "verdict"), zap.Duration("took", f.Took), zap.Error(f))
			k.breakOff()
		case s.final(err):
			return s.give(err)
		default:
			s.set(func() { s.lost = verdict(err) })
			pause(s.ctx)
		}
	}
}

// final reports whether a cluster that could not be gathered won't be. Once
// there was one, or when a nodesim was lost on the way, it may be.
func (s *Server) final(err error) bool {
	s.state.Lock()
	defer s.state.Unlock()
	f := verdict(err)
	missing := f.Cause == wire.Timeout && f.Took == 0
	return missing || s.lost == nil && f.Took == 0
}

// pause is between attempts to gather a cluster.
func pause(ctx context.Context) {
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
	}
}

// give says why there will be no cluster.
func (s *Server) give(err error) error {
	s.set(func() { s.cluster, s.err = nil, err })
	return err
}

// set changes the state and wakes those who wait for it.
func (s *Server) set(change func()) {
	s.state.Lock()
	defer s.state.Unlock()
	change()
	close(s.changed)
	s.changed = make(chan struct{})
}

// hold keeps a cluster until it breaks, and returns why, or nil when the server
// is to end. A bench that runs meanwhile sees the end first.
func (s *Server) hold(k *Cluster) *wire.Failure {
	for {
		select {
		case <-s.ctx.Done():
		case <-k.alarm:
		}
		s.busy.Lock()
		f := k.broken
		if f == nil && s.ctx.Err() == nil {
			if err := k.Broken(s.ctx); err != nil {
				f = verdict(err)
			}
		}
		s.busy.Unlock()
		if s.ctx.Err() != nil {
			return nil
		}
		if f != nil {
			return f
		}
	}
}

// regather is how long a bench waits for a cluster that has lost a node.
const regather = 5 * time.Second

// await waits for a cluster: without end while nodes gather for the first time.
func (s *Server) await(ctx context.Context) (*Cluster, error) {
	late := time.NewTimer(regather)
	defer late.Stop()
	for tooLate := false; ; {
		s.state.Lock()
		k, err, lost, changed := s.cluster, s.err, s.lost, s.changed
		s.state.Unlock()
		switch {
		case k != nil || err != nil:
			return k, err
		case s.ctx.Err() != nil:
			return nil, wire.Failf(wire.Aborted, "the coordinator ends")
		case lost != nil && tooLate:
			f := *lost
			f.Text += "; start it again, the cluster waits for it"
			return nil, &f
		}
		select {
		case <-changed:
		case <-late.C:
			tooLate = true
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// errHungUp says that whoever asked for a bench no longer listens.
var errHungUp = errors.New("who asked for the bench hung up")

// Bench runs one bench at a time; a second one waits for the first. A client
// that hangs up loses its bench, not the cluster: the batch in flight runs to
// its end, keeping time with the wall no longer, so that the nodesims are ready for
// the next.
func (s *Server) Bench(req *railyardv1.BenchRequest, stream railyardv1.CoordinatorService_BenchServer) error {
	if _, err := s.await(stream.Context()); err != nil {
		return wire.ToStatus(err)
	}
	s.busy.Lock()
	defer s.busy.Unlock()
	k, err := s.await(stream.Context())
	if err == nil {
		err = stream.Context().Err()
	}
	if err == nil {
		err = s.fit(k)
	}
	if err != nil {
		return wire.ToStatus(err)
	}
	spec, err := wire.DecodeSpec(req)
	if err != nil {
		return wire.ToStatus(wire.Failf(wire.Config, "%v", err))
	}
	out := &sender{stream: stream}
	if err := s.bench(k, spec, out, req.GetTimeline()); err != nil {
		return ended(k, err)
	}
	return out.send(&railyardv1.BenchResponse{Response: &railyardv1.BenchResponse_Summary{
		Summary: &railyardv1.BenchSummary{Processes: uint32(len(k.members)), Cost: encodeCost(&out.cost)}}})
}

// bench runs a sweep under the faults in force, and keeps account of it.
func (s *Server) bench(k *Cluster, spec sweep.Spec, out *sender, timeline bool) (err error) {
	faults, l := s.open(k.fabric, fmt.Sprintf("%s on %d GPUs", spec.Op, k.fabric.GPUs()), !spec.Paced)
	var toll Toll
	defer func() {
		s.settle(toll, err)
		k.mournAll()
	}()
	sink := Sink{Started: func(st Started) error {
		s.state.Lock()
		s.last.rows = st.Rows
		s.state.Unlock()
		return out.started(st)
	}, Row: func(r Row) error {
		s.book(&r)
		return out.row(r)
	}, Doing: out.doing, Changed: out.changed, Gone: out.stream.Context().Done()}
	if timeline {
		sink.Timeline = out
	}
	switch {
	case l != nil:
		toll, err = k.benchLive(s.ctx, spec, faults, l, sink)
	case len(faults) == 0:
		err = k.Bench(s.ctx, spec, sink)
	default:
		toll, err = k.BenchUnder(s.ctx, spec, faults, emu.DefaultResilience(), sink)
	}
	return err
}

// mournAll breaks a cluster whose processes died under a bench, so that it gathers
// again; busy is held.
func (k *Cluster) mournAll() {
	for _, m := range k.members {
		if m.dead && k.broken == nil {
			_ = k.spoil(m.gone(0, "it died under the last bench"))
		}
	}
}

// fit returns why a cluster can't run a bench any more; busy is held.
func (s *Server) fit(k *Cluster) error {
	if k.broken != nil {
		return k.broken
	}
	if err := k.Broken(s.ctx); err != nil {
		return k.spoil(verdict(err))
	}
	return nil
}

// ended returns what to tell the client of a bench that ended early. Only a
// bench that was refused, or that nobody wanted any more, leaves the cluster
// fit for another, or one whose emulated cluster failed: a run that broke off leaves nodesims in the middle of it.
func ended(k *Cluster, err error) error {
	if errors.Is(err, errHungUp) {
		return wire.ToStatus(wire.Failf(wire.Aborted, "%v", err))
	}
	f := verdict(err)
	var emulated *Failed
	if f.Cause != wire.Config && !errors.As(err, &emulated) {
		_ = k.spoil(f)
	}
	return wire.ToStatus(f)
}

// spoil marks a cluster as broken; busy is held.
func (k *Cluster) spoil(f *wire.Failure) error {
	k.broken = f
	select {
	case k.alarm <- struct{}{}:
	default:
	}
	return f
}
