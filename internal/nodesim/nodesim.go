package nodesim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection"

	"github.com/railyard/railyard/internal/gossip"
	"github.com/railyard/railyard/internal/wallclock"
	"github.com/railyard/railyard/internal/wire"
	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
)

// ErrOrphaned says that the process ended because its coordinator did, or never
// came.
var ErrOrphaned = errors.New("the coordinator is gone")

// Run serves until the session ends, the parent goes away or ctx is done. The
// end of a session is a good end; so is that of ctx.
func Run(ctx context.Context, c Config) error {
	if err := c.validate(); err != nil {
		return wire.Failf(wire.Config, "%v", err)
	}
	if c.Clock == nil {
		clock, release, err := wallclock.Host()
		if err != nil {
			return fmt.Errorf("clock: %w", err)
		}
		defer release()
		c.Clock = clock
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	lis, err := wire.Listen(ctx, c.Network, c.Listen)
	if err != nil {
		return wire.Failf(wire.Config, "--listen %s: %v; choose another address, or port 0 for any free one", c.Listen, err)
	}
	if c.Lifeline != nil {
		go follow(c.Lifeline, end)
	}
	// The sockets serve before the roster tells anybody of them.
	n := &node{config: c, end: end, ready: make(chan struct{}), lobby: newLobby(), log: c.Logger.Named("nodesim")}
	srv := n.server()
	served := make(chan error, 1)
	go func() { served <- srv.Serve(lis) }()
	defer func() {
		srv.Stop()
		<-served
	}()
	roster, err := n.join(ctx, lis.Addr())
	if err != nil && ctx.Err() != nil {
		return verdict(ctx)
	}
	if err != nil {
		return err
	}
	defer roster.Close()
	n.roster = roster
	return n.wait(ctx)
}

// node is the daemon: what the handlers share.
type node struct {
	config Config
	log    *zap.Logger
	roster *gossip.Roster
	ready  chan struct{}                 // closed when roster and orphan are set
	life   context.Context               // of the process
	head   atomic.Pointer[gossip.Member] // the coordinator that was seen last
	end    context.CancelCauseFunc
	lobby  *lobby
	orphan *time.Timer // fires when there was no session for too long
	health *health.Server
}

func (n *node) server() *grpc.Server {
	srv := grpc.NewServer(wire.ServerOptions()...)
	railyardv1.RegisterNodeServiceServer(srv, &service{node: n})
	railyardv1.RegisterExchangeServiceServer(srv, &exchange{node: n})
	h := health.NewServer()
	n.health = h
	h.SetServingStatus(railyardv1.NodeService_ServiceDesc.ServiceName, healthpb.HealthCheckResponse_SERVING)
	healthpb.RegisterHealthServer(srv, h)
	reflection.Register(srv)
	return srv
}

// join enters the cluster and advertises where this process serves.
func (n *node) join(ctx context.Context, addr net.Addr) (*gossip.Roster, error) {
	c := n.config
	g := c.Gossip
	g.Name, g.Join, g.Logger = c.Name, c.Join, c.Logger
	host, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return nil, fmt.Errorf("listening address %s: %w", addr, err)
	}
	if c.Advertise != "" {
		host = c.Advertise
	} else if ip := net.ParseIP(host); ip == nil || ip.IsUnspecified() {
		if host, err = outward(c.Join[0]); err != nil {
			return nil, wire.Failf(wire.Config, "--advertise: missing, and no way to %s: %v", c.Join[0], err)
		}
	}
	g.Meta = gossip.Member{Role: gossip.Nodesim, Cluster: c.Cluster, Version: c.Version,
		GRPC: net.JoinHostPort(host, port), Nodes: c.Nodes}
	n.log.Debug("joining", zap.Strings("join", c.Join), zap.String("grpc", g.Meta.GRPC))
	roster, err := gossip.Start(ctx, g)
	if err != nil {
		return nil, unjoined(err)
	}
	return roster, nil
}

// unjoined gives a cause to what the roster has to complain of.
func unjoined(err error) error {
	if gossip.Usage(err) {
		return wire.Failf(wire.Config, "%v", err)
	}
	return wire.Failf(wire.PeerLost, "%v", err)
}

// outward returns this host's address on the way to another. Nothing is sent.
func outward(to string) (string, error) {
	conn, err := net.Dial("udp", to)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	host, _, err := net.SplitHostPort(conn.LocalAddr().String())
	return host, err
}

// wait returns when the process has no more to do.
func (n *node) wait(ctx context.Context) error {
	n.orphan = time.AfterFunc(n.config.Orphan, n.alone)
	defer n.orphan.Stop()
	n.life = ctx
	close(n.ready)
	go n.watch(ctx)
	go n.usurped(ctx)
	<-ctx.Done()
	n.log.Info("ending", zap.Error(context.Cause(ctx)))
	return verdict(ctx)
}

// alone ends the process when there was no session for too long. One that had a
// session waits for the next as long as there is a coordinator.
func (n *node) alone() {
	if n.lobby.entered() {
		return
	}
	for _, m := range n.roster.Members() {
		if m.Role == gossip.Coordinator && n.lobby.used() {
			n.orphan.Reset(n.config.Orphan)
			return
		}
	}
	n.end(fmt.Errorf("%w: no session within %v", ErrOrphaned, n.config.Orphan))
}

// verdict returns what is wrong about the end of ctx: nothing, if the session
// was closed or somebody told this process to end.
func verdict(ctx context.Context) error {
	err := context.Cause(ctx)
	if errors.Is(err, errFinished) || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// watch ends the process when the coordinator has left or ended while there is
// no session. While there is one, its stream tells sooner. A coordinator that
// merely does not answer may be cut off, and is waited for as long as one that
// never came.
func (n *node) watch(ctx context.Context) {
	for e := range n.roster.Watch(ctx) {
		switch e.Kind {
		case gossip.Died:
			n.log.Info("lost", zap.String("member", e.Member.Name), zap.String("by", "gossip"), zap.Duration("silent", e.Silent))
		case gossip.Left:
			n.log.Info("left", zap.String("member", e.Member.Name))
		case gossip.Joined:
			n.log.Info("joined", zap.String("member", e.Member.Name))
			if e.Member.Role == gossip.Coordinator {
				n.head.Store(&e.Member)
			}
			continue
		default:
			continue
		}
		if e.Member.Role != gossip.Coordinator {
			continue
		}
		if e.Kind == gossip.Left && !n.lobby.entered() {
			n.end(fmt.Errorf("%w: %s", ErrOrphaned, e.Member))
		}
		go n.mourn(ctx, e.Member)
	}
}

// mourn looks, while there is no session, whether a coordinator that is not in
// the roster any more has ended: it may be about to, or be cut off.
func (n *node) mourn(ctx context.Context, m gossip.Member) {
	for again := time.NewTicker(looking); ; {
		if _, back := n.roster.Lookup(m.Name); back || n.lobby.entered() {
			return
		}
		if n.ended(ctx, m) {
			n.end(fmt.Errorf("%w: %s", ErrOrphaned, m))
			return
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return
		}
	}
}

// ended reports whether a coordinator's process is certainly no more.
func (n *node) ended(ctx context.Context, m gossip.Member) bool {
	ctx, cancel := context.WithTimeout(ctx, asking)
	defer cancel()
	return gossip.Ended(ctx, m)
}

// bereft decides what follows a session that broke off: the end, if the
// coordinator has ended, or else another session. The roster need not have the
// coordinator: it may have been cut off, and is then waited for.
func (n *node) bereft() {
	n.orphan.Reset(n.config.Orphan)
	m := n.head.Load()
	if m == nil {
		return
	}
	if n.ended(n.life, *m) {
		n.end(fmt.Errorf("%w: %s", ErrOrphaned, m))
		return
	}
	n.mourn(n.life, *m)
}

// follow reads the lifeline to its end.
func follow(lifeline io.Reader, end context.CancelCauseFunc) {
	_, _ = io.Copy(io.Discard, lifeline)
	end(fmt.Errorf("%w: its process has ended", ErrOrphaned))
}
