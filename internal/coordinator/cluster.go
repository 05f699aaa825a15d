package coordinator

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/transit"
	"github.com/railyard/railyard/internal/gossip"
	"github.com/railyard/railyard/internal/wallclock"
	"github.com/railyard/railyard/internal/wire"
	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
)

// Cluster is an assembled cluster: every declared node has a nodesim, and every
// nodesim a session.
type Cluster struct {
	config    Config
	log       *zap.Logger
	fabric    *fabric.Fabric
	roster    *gossip.Roster
	processes []*process
	members   []*member // by participant
	owners    transit.Owners
	answers   chan answer
	aside     []answer // that came before their time; answers is read after them
	// bereft, when set, sees to a member that has died, and returns an error only if
	// nothing can go on.
	bereft  func(i int, how *wire.Failure) error
	cancel  context.CancelFunc
	ctx     context.Context    // of the cluster
	streams context.Context    // of the sessions
	hangUp  context.CancelFunc // drops them
	vigils  sync.WaitGroup
	parting parting       // in gossip
	alarm   chan struct{} // holds a token once a session has broken off
	broken  *wire.Failure // why it can't be used any more; guarded by Server.busy
	clock   wallclock.Clock
	unclock func() // lets go of it
	heard   int64  // when the answer that was heard last came, on clock
}

// Start gathers a cluster: it starts nodesims if told to, waits until every
// declared node is there, and sets up a session with each. On an error nothing
// of it is left.
func Start(ctx context.Context, c Config) (*Cluster, error) {
	f, err := fabric.New(c.Cluster)
	if err != nil {
		return nil, wire.Failf(wire.Config, "%v", err)
	}
	if err := c.complete(f.Nodes()); err != nil {
		return nil, wire.Failf(wire.Config, "%v", err)
	}
	k := &Cluster{config: c, log: c.Logger.Named("coordinator"), fabric: f, answers: make(chan answer, 64),
		roster: c.roster, alarm: make(chan struct{}, 1), parting: parting{turn: make(chan struct{}, 1)}}
	if k.clock, k.unclock = c.Clock, func() {}; k.clock == nil {
		if k.clock, k.unclock, err = wallclock.Host(); err != nil {
			return nil, fmt.Errorf("clock: %w", err)
		}
	}
	k.ctx, k.cancel = context.WithCancel(context.Background())
	k.streams, k.hangUp = context.WithCancel(k.ctx)
	if err := k.start(ctx); err != nil {
		k.Close()
		return nil, err
	}
	return k, nil
}

func (k *Cluster) start(ctx context.Context) error {
	binary := ""
	if k.config.Spawn {
		var err error
		if binary, err = findNodesim(k.config.Nodesim); err != nil {
			return err
		}
	}
	id := cmp.Or(k.config.ClusterID, randomID())
	if k.roster == nil {
		var err error
		if k.roster, err = enter(ctx, &k.config, id); err != nil {
			return err
		}
	}
	if k.config.gathering != nil {
		k.config.gathering(k)
	}
	if k.config.Entered != nil {
		k.config.Entered(k.roster.Addr())
	}
	if k.config.Spawn {
		if err := k.spawnAll(binary, id); err != nil {
			return err
		}
	}
	hosts, err := k.assemble(ctx, id)
	if err != nil {
		return err
	}
	return k.setUp(ctx, hosts)
}

// enter makes the coordinator the first member.
func enter(ctx context.Context, c *Config, id string) (*gossip.Roster, error) {
	g := c.Gossip
	g.Name, g.Logger = "coordinator", c.Logger
	g.Meta = gossip.Member{Role: gossip.Coordinator, Cluster: id, Version: c.Version}
	roster, err := gossip.Start(ctx, g)
	if err != nil {
		return nil, wire.Failf(wire.Config, "--gossip: %v", err)
	}
	return roster, nil
}

// Join returns the address at which nodesims join.
func (k *Cluster) Join() string { return k.roster.Addr() }

func (k *Cluster) spawnAll(binary, id string) error {
	debug := k.log.Core().Enabled(zap.DebugLevel)
	for _, nodes := range spread(k.fabric.Nodes(), k.config.Procs) {
		p, err := spawn(binary, nodes, k.roster.Addr(), id, debug, k.config.NodeLog)
		if err != nil {
			return err
		}
		k.processes = append(k.processes, p)
	}
	return nil
}

// assemble waits for the declared nodes, and not for one whose process has
// ended already.
func (k *Cluster) assemble(ctx context.Context, id string) (gossip.Assembly, error) {
	limited, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	for _, p := range k.processes {
		go func() {
			if how, ok := p.ended(limited, k.config.Assembly); ok {
				cancel(p.stillborn(how))
			}
		}()
	}
	a, err := k.roster.Await(limited, gossip.Expect{Nodes: k.fabric.Nodes(), Cluster: id,
		Version: k.config.Version, Lost: k.config.lost.has, Deadline: k.config.Assembly})
	if err == nil {
		return a, nil
	}
	var f *wire.Failure
	if errors.As(context.Cause(limited), &f) {
		return a, f
	}
	if ctx.Err() != nil {
		return a, ctx.Err()
	}
	if gossip.Usage(err) {
		return a, wire.Failf(wire.Config, "%v", err)
	}
	return a, wire.Failf(wire.Timeout, "%v", err)
}

// retry bounds how long members may take to answer where another attempt
// follows: one of them may be a process whose death nobody has noticed yet.
const retry = 10 * time.Second

// setUp opens a session with every member and waits until all are ready.
func (k *Cluster) setUp(ctx context.Context, a gossip.Assembly) error {
	k.place(a)
	m := &railyardv1.Setup{Session: binary.LittleEndian.Uint64(randomBytes(8)), ProtocolVersion: wire.ProtocolVersion,
		Cluster: wire.EncodeCluster(&k.fabric.Cluster)}
	for _, p := range k.members {
		out := &railyardv1.Participant{Member: p.Name, Address: p.GRPC}
		for n := range p.Nodes.All() {
			out.Nodes = append(out.Nodes, uint32(n))
		}
		m.Participants = append(m.Participants, out)
	}
	within := min(k.config.Assembly, DefaultAssembly)
	if k.config.lost != nil {
		within = min(within, retry)
	}
	attempt, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	// gRPC begins a stream anew whose server ended before it had read anything, and
	// waits for that server; whoever sends, or closes the stream, waits with it.
	giveUp := context.AfterFunc(attempt, k.hangUp)
	for i, p := range k.members {
		if err := k.open(attempt, p); err != nil {
			return cmp.Or(ctx.Err(), err)
		}
		own := &railyardv1.Setup{Session: m.Session, ProtocolVersion: m.ProtocolVersion, Cluster: m.Cluster,
			Self: uint32(i), Participants: m.Participants, Lasting: k.config.lost != nil}
		p.say(&railyardv1.SessionRequest{Request: &railyardv1.SessionRequest_Setup{Setup: own}})
	}
	if !giveUp() {
		return cmp.Or(ctx.Err(), error(wire.Failf(wire.Timeout, "the members have not taken up their sessions within %v", within)))
	}
	k.vigils.Go(k.vigil)
	k.vigils.Go(k.warden)
	err := k.each(ctx, func(i int, r *railyardv1.SessionResponse) (bool, error) {
		if r.GetReady() == nil {
			return false, nil
		}
		k.members[i].pid = r.GetReady().GetPid()
		return true, nil
	})
	if err != nil {
		k.hangUp()
	}
	return err
}

// place makes a participant of every process, in the order of its first node.
func (k *Cluster) place(a gossip.Assembly) {
	k.owners.Node = make([]int, k.fabric.Nodes())
	index := map[string]int{}
	for n := range k.owners.Node {
		host := a.ByNode[n]
		i, ok := index[host.Name]
		if !ok {
			i = len(k.members)
			index[host.Name] = i
			m := &member{Member: host, index: i}
			for _, p := range k.processes {
				if p.name == host.Name {
					m.process = p
				}
			}
			k.members = append(k.members, m)
		}
		k.owners.Node[n] = i
	}
	k.owners.Shared = len(k.members)
}

// closing bounds how long members may take to end their sessions.
const closing = 500 * time.Millisecond

// Close ends the sessions, and every process it started, within two seconds.
func (k *Cluster) Close() {
	deadline := time.After(grace)
	for _, m := range k.members {
		if m.stream != nil {
			m.close()
		}
	}
	own := k.roster != nil && k.config.roster == nil
	if own {
		k.roster.Leave(closing)
	}
	stop(k.processes, deadline)
	k.breakOff()
	if own {
		k.roster.Close()
	}
}

// breakOff drops the sessions as they are.
func (k *Cluster) breakOff() {
	defer k.unclock()
	k.cancel()
	k.vigils.Wait()
	for _, m := range k.members {
		if m.conn != nil {
			_ = m.conn.Close()
		}
	}
	if len(k.processes) == 0 {
		return
	}
	stop(k.processes, time.After(grace))
	// Others will be started; the roster may have these for a while yet.
	for _, m := range k.members {
		k.config.lost.add(m.Member)
	}
}

func randomBytes(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails: crypto/rand ends the process instead
	return b
}

// randomID names a cluster, so that a stray process of another is known as one.
func randomID() string { return hex.EncodeToString(randomBytes(6)) }
