package nodesim

import (
	"errors"
	"fmt"
	"os"
	"time"

	"go.uber.org/zap"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/fault"
	"github.com/railyard/railyard/emu/kernel"
	"github.com/railyard/railyard/emu/payload"
	"github.com/railyard/railyard/emu/transit"
	"github.com/railyard/railyard/emu/wiring"
	"github.com/railyard/railyard/internal/wire"
	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
)

// event is one thing that reaches the actor.
type event struct {
	request *railyardv1.SessionRequest
	frames  []wire.Frame
	from    int    // participant that sent the frames
	batch   uint32 // of runs, that they belong to
	at      int64  // when a request or frames came, on the node's clock
	wake    bool   // the paced clock has something to do
	peer    *peer  // its stream is open
	closed  bool   // the coordinator has closed the session
	err     error  // a stream broke: the end
	lost    *peer  // whose it was, if a peer's
}

// actor owns the kernel, the payload and everything else that changes during a
// session. Its methods run on one goroutine, that of the Session handler.
type actor struct {
	node   *node
	log    *zap.Logger
	stream railyardv1.NodeService_SessionServer
	inbox  *mailbox[event]

	session uint64
	lasting bool // another session may follow this one
	self    int
	owners  transit.Owners
	fabric  *fabric.Fabric
	names   []string // of the participants
	peers   []*peer  // by participant; nil for this one
	missing int      // peers whose streams are not open yet
	dialed  []func()
	ready   bool  // the coordinator knows
	failed  error // what the coordinator was told went wrong
	severed bool  // gossip was cut off from others in this session

	cluster emu.Cluster
	faults  *fault.Schedule // nil: none
	bear    emu.Resilience
	live    bool               // faults may change while the session lasts
	blind   bool               // elements are followed no more in this batch: somebody has died
	ending  *railyardv1.Finish // waits for frames

	kernel   *kernel.Kernel
	batch    uint32
	runs     []emu.Run
	wirings  []*wiring.Wiring
	machines []*payload.Machine // nil where a run moves headers only
	earlier  []*payload.Machine // of the batch before

	taken []uint64 // frames from each participant since batch 0
	sent  []uint64 // frames to each participant since batch 0
	grant *railyardv1.Grant
	paced *paced        // nil under the virtual clock
	said  time.Time     // when the coordinator was told anything last
	over  chan struct{} // closed when the session is
}

func newActor(n *node, stream railyardv1.NodeService_SessionServer) *actor {
	return &actor{node: n, log: n.log.Named("actor"), stream: stream, inbox: newMailbox[event](), over: make(chan struct{})}
}

// run handles events until the session ends. nil: the coordinator closed it, and
// nothing was wrong here.
func (a *actor) run() error {
	defer a.hangUp()
	var events []event
	for {
		events, _ = a.inbox.take(events)
		if a.paced != nil {
			a.paced.thaw()
		}
		over, err := a.handleAll(events)
		if over {
			return err
		}
		if a.paced != nil && a.failed == nil {
			if over, err := a.paced.step(); over {
				return err
			}
		}
	}
}

// handleAll handles events, and reports whether the session is over with them.
func (a *actor) handleAll(events []event) (over bool, err error) {
	for i := range events {
		e := &events[i]
		switch {
		case e.closed:
			return true, a.blameless()
		case errors.Is(e.err, ErrOrphaned):
			return true, e.err
		case a.failed == nil:
			if err := a.handle(e); err != nil {
				a.fail(err)
			}
		}
	}
	return false, nil
}

// blameless returns why the session failed, but not if that was a peer that
// hung up. When a session is closed peers hang up in any order, often before
// this process hears of it; and when one has died, the coordinator judges.
func (a *actor) blameless() error {
	var f *wire.Failure
	if errors.As(a.failed, &f) && f.Cause == wire.PeerLost {
		return nil
	}
	return a.failed
}

func (a *actor) handle(e *event) error {
	switch {
	case e.err != nil && a.mourned(e):
		if a.ending != nil {
			return a.maybeFinish()
		}
		return a.maybeRun()
	case e.err != nil && e.lost != nil && a.ready && a.wirings == nil:
		e.lost.broke = e.err // whether that matters the next batch tells
		return nil
	case e.err != nil:
		return e.err
	case e.peer != nil:
		return a.connected(e.peer)
	case e.wake:
		return nil // for what follows every event
	case e.frames != nil && a.paced != nil:
		return a.paced.arrived(e)
	case e.frames != nil:
		return a.arrived(e)
	case e.request.GetSetup() != nil:
		return a.setUp(e.request.GetSetup())
	case a.fabric == nil:
		return wire.Failf(wire.Mismatch, "the session must begin with Setup")
	case e.request.GetBegin() != nil:
		return a.begin(e.request.GetBegin())
	case e.request.GetGrant() != nil:
		return a.granted(e.request.GetGrant())
	case e.request.GetVerify() != nil:
		a.restPace()
		return a.verify(e.request.GetVerify())
	case e.request.GetFinish() != nil:
		a.restPace()
		a.ending = e.request.GetFinish()
		return a.maybeFinish()
	case e.request.GetStrike() != nil:
		return a.strike(e.request.GetStrike())
	case e.request.GetSever() != nil:
		return a.sever(e.request.GetSever())
	case e.request.GetAbort() != nil:
		return wire.DecodeFailure(e.request.GetAbort().GetReason())
	case e.request.GetClockProbe() != nil:
		return a.tellTime(e.request.GetClockProbe())
	case e.request.GetPace() != nil || e.request.GetRelay() != nil:
		return a.onPace(e)
	default:
		return wire.Failf(wire.Mismatch, "a request this version (%s) does not know", a.node.config.Version)
	}
}

// fail tells the coordinator what is wrong, if it still listens. It then closes
// the session; a process that ended by itself would look like the culprit.
func (a *actor) fail(err error) {
	a.failed = err
	f := wire.FromStatus(wire.ToStatus(err))
	f.Member = a.node.config.Name
	a.log.Debug("session failed", zap.Error(err))
	_ = a.stream.Send(&railyardv1.SessionResponse{Response: &railyardv1.SessionResponse_Failure{Failure: wire.EncodeFailure(f)}})
}

// setUp builds the hardware and opens the streams to the peers.
func (a *actor) setUp(m *railyardv1.Setup) error {
	if a.fabric != nil {
		return wire.Failf(wire.Mismatch, "a second Setup in one session")
	}
	if v := m.GetProtocolVersion(); v != wire.ProtocolVersion {
		return wire.Failf(wire.Mismatch, "protocol version %d: this nodesim speaks %d; use binaries of one build", v, wire.ProtocolVersion)
	}
	cluster, err := wire.DecodeCluster(m.GetCluster())
	if err != nil {
		return wire.Failf(wire.Config, "%v", err)
	}
	if alter := a.node.config.Alter; alter != nil {
		alter(&cluster)
	}
	a.cluster = cluster
	if a.fabric, err = fabric.New(cluster); err != nil {
		return wire.Failf(wire.Config, "%v", err)
	}
	a.session, a.self, a.lasting = m.GetSession(), int(m.GetSelf()), m.GetLasting()
	if err := a.place(m); err != nil {
		return err
	}
	a.node.lobby.admit(!a.lasting)
	return a.connect(m.GetParticipants())
}

// place notes which participant hosts which node, and checks that this process
// is who the coordinator takes it for.
func (a *actor) place(m *railyardv1.Setup) error {
	parts := m.GetParticipants()
	if a.self >= len(parts) {
		return wire.Failf(wire.Mismatch, "participant %d of %d", a.self, len(parts))
	}
	host := make([]int, a.fabric.Nodes())
	for i := range host {
		host[i] = -1
	}
	for i, p := range parts {
		a.names = append(a.names, p.GetMember())
		for _, n := range p.GetNodes() {
			if int(n) >= len(host) {
				return wire.Failf(wire.Mismatch, "node %d of participant %d: the cluster has nodes 0 to %d", n, i, len(host)-1)
			}
			host[n] = i
		}
	}
	for n, p := range host {
		if p < 0 {
			return wire.Failf(wire.Mismatch, "node %d has no host", n)
		}
		if (p == a.self) != a.node.config.Nodes.Contains(n) {
			return wire.Failf(wire.Mismatch, "node %d: the coordinator and this nodesim, which hosts %s, disagree on who hosts it", n, a.node.config.Nodes)
		}
	}
	a.owners = transit.Owners{Node: host, Shared: len(parts)}
	return nil
}

// patience bounds how long a peer may take to answer, or to be set up.
const patience = 20 * time.Second

// connect dials the peers with higher numbers; those with lower ones dial here.
// Their addresses are the coordinator's, for it knows which process of a name is
// the one: our own roster may not have heard yet that another took its place.
func (a *actor) connect(parts []*railyardv1.Participant) (err error) {
	a.peers, a.missing = make([]*peer, len(parts)), len(parts)-1
	for p := a.self + 1; p < len(parts); p++ {
		if a.peers[p], err = a.dial(p, parts[p].GetAddress()); err != nil {
			return err
		}
		a.missing--
	}
	return a.maybeReady()
}

// connected notes that the stream of a peer is open.
func (a *actor) connected(p *peer) error {
	if a.peers[p.index] != nil {
		return wire.Failf(wire.Mismatch, "%s opened a second stream", p.name)
	}
	a.peers[p.index] = p
	a.missing--
	return a.maybeReady()
}

// maybeReady says Ready, once, when all streams are open.
func (a *actor) maybeReady() error {
	if a.missing > 0 || a.ready {
		return nil
	}
	a.ready = true
	gpus := 0
	for n, p := range a.owners.Node {
		if p == a.self {
			_, g := a.fabric.GPURange(n)
			gpus += g
		}
	}
	return a.say(&railyardv1.SessionResponse{Response: &railyardv1.SessionResponse_Ready{Ready: &railyardv1.Ready{
		Version: a.node.config.Version, ProtocolVersion: wire.ProtocolVersion, Gpus: uint32(gpus), Pid: int64(os.Getpid())}}})
}

func (a *actor) say(m *railyardv1.SessionResponse) error {
	a.said = time.Now()
	if err := a.stream.Send(m); err != nil {
		return fmt.Errorf("%w: %w", ErrOrphaned, err)
	}
	return nil
}

// hangUp closes the streams to the peers.
func (a *actor) hangUp() {
	close(a.over)
	a.mend()
	a.endPace()
	a.inbox.close()
	for _, p := range a.peers {
		if p != nil {
			p.out.close()
		}
	}
	for _, end := range a.dialed {
		end()
	}
}
