//go:build !race

package coordinator

import (
	"context"
	"fmt"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"google.golang.org/grpc/test/bufconn"

	"github.com/railyard/railyard/internal/gossip"
	"github.com/railyard/railyard/internal/gossip/memnet"
	"github.com/railyard/railyard/internal/nodesim"
	"github.com/railyard/railyard/internal/wallclock"
	"github.com/railyard/railyard/shaping/pacer"
)

// bubble is a cluster under testing/synctest: real daemons, real gRPC, streams
// and gossip in memory. Time passes only while everybody waits, so nobody is ever
// late unless a test makes it so.
type bubble struct {
	*Cluster
	t     *testing.T
	clock wallclock.Clock
}

// inBubble brings up a cluster of one nodesim a node, runs f, and ends it all.
func inBubble(t *testing.T, config Config, f func(*bubble), changes ...change) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := pacer.NewTimers()
		defer p.Close()
		b := &bubble{t: t, clock: wallclock.Of(p, "here")}
		nodes := b.start(config, changes)
		f(b)
		b.Close()
		for i, d := range nodes {
			if err := d.wait(t); err != nil && !t.Failed() {
				t.Errorf("nodesim %d, after a session that was closed: %v", i, err)
			}
		}
		time.Sleep(memnet.Drain)
	})
}

func (b *bubble) start(config Config, changes []change) (nodes []*daemon) {
	b.t.Helper()
	streams, members := &memory{at: map[string]*bufconn.Listener{}}, memnet.New()
	config.Version, config.ClusterID, config.Logger = version, "bubble", zap.NewNop()
	config.Clock, config.Network = b.clock, streams
	config.Gossip = gossip.Loopback()
	config.Gossip.Transport = members.Listen()
	config.Entered = func(join string) {
		for i := range config.Cluster.Nodes() {
			c := nodesim.Config{Nodes: gossip.List(i), Join: []string{join}, Cluster: config.ClusterID, Version: version,
				Listen: "127.0.0.1:0", Gossip: gossip.Loopback(), Clock: b.clock, Network: streams}
			c.Gossip.Transport = members.Listen()
			for _, change := range changes {
				change(i, &c)
			}
			ctx, stop := context.WithCancel(context.Background())
			d := &daemon{stop: stop, done: make(chan struct{})}
			nodes = append(nodes, d)
			go func() {
				defer close(d.done)
				d.err = nodesim.Run(ctx, c)
			}()
		}
	}
	k, err := Start(b.t.Context(), config)
	if err != nil {
		b.t.Fatal(err)
	}
	b.Cluster = k
	return nodes
}

// memory is a network of pipes.
type memory struct {
	mu sync.Mutex
	at map[string]*bufconn.Listener
}

// pipe is how many bytes a stream of it holds.
const pipe = 1 << 20

func (m *memory) Listen(context.Context, string) (net.Listener, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := &listener{bufconn.Listen(pipe), len(m.at) + 1}
	m.at[l.Addr().String()] = l.Listener
	return l, nil
}

func (m *memory) Dial(ctx context.Context, addr string) (net.Conn, error) {
	m.mu.Lock()
	l := m.at[addr]
	m.mu.Unlock()
	if l == nil {
		return nil, fmt.Errorf("nobody listens at %s", addr)
	}
	return l.DialContext(ctx)
}

// listener has an address that can be advertised.
type listener struct {
	*bufconn.Listener
	port int
}

func (l *listener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: l.port} }
