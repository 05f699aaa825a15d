package nodesim

import (
	"errors"
	"runtime"
	"slices"
	"testing"
	"time"

	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/railyard/railyard/internal/gossip"
	"github.com/railyard/railyard/internal/wire"
	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
)

// lasting is setup for a session that others may follow.
func lasting(session uint64) *railyardv1.SessionRequest {
	m := setup()
	m.Session, m.Lasting = session, true
	return request(m)
}

// TestNextSession: when a session that others may follow breaks off, in the
// middle of a batch, the nodesim is there for the next. What was sent for the
// one does not reach the other.
func TestNextSession(t *testing.T) {
	s := enter(t, nil)
	old := s.open()
	old.say(lasting(id))
	s.peer(id, 0)
	old.hear()
	old.say(begin(0, nil))
	old.hear()
	old.cancel()
	x := s.open()
	x.say(lasting(id + 1))
	stray, p := s.peer(id, 0), s.peer(id+1, 0)
	if r := x.hear(); r.GetReady() == nil {
		t.Fatalf("response %v, want ready", r)
	}
	x.say(begin(0, nil))
	if r := x.hear(); r.GetBegun() == nil {
		t.Fatalf("response %v, want begun", r)
	}
	// A session that is closed is the last in any case.
	if err := x.stream.CloseSend(); err != nil {
		t.Fatal(err)
	}
	if err := s.wait(); err != nil {
		t.Errorf("after a session that was closed: %v", err)
	}
	for _, stream := range []railyardv1.ExchangeService_ExchangeClient{stray, p} {
		var b wire.Batch
		if stream.RecvMsg(&b) == nil {
			t.Error("a stream outlives the process")
		}
	}
}

// TestNoNextSession: the coordinator has ended, and with it the session; there
// is nobody to wait for, whatever might have followed.
func TestNoNextSession(t *testing.T) {
	s := enter(t, nil)
	x := s.open()
	x.say(lasting(id))
	s.peer(id, 0)
	x.hear()
	s.coordinator.Close()
	x.cancel()
	if err := s.wait(); !errors.Is(err, ErrOrphaned) {
		t.Errorf("ended with %v, want orphaned", err)
	}
}

func sever(m *railyardv1.Sever) *railyardv1.SessionRequest {
	return &railyardv1.SessionRequest{Request: &railyardv1.SessionRequest_Sever{Sever: m}}
}

// apart waits until the nodesim's gossip has the coordinator for dead, or has it
// back.
func (s *stage) apart(want bool) {
	s.t.Helper()
	for late := time.Now().Add(bound); ; {
		m, err := railyardv1.NewNodeServiceClient(s.conn).Hears(s.t.Context(), &railyardv1.HearsRequest{})
		if err != nil {
			s.t.Fatal(err)
		}
		if slices.Contains(m.GetMembers(), "coordinator") != want {
			return
		}
		if time.Now().After(late) {
			s.t.Fatalf("it hears %v, cut off: %v", m.GetMembers(), want)
		}
		runtime.Gosched()
	}
}

// idle waits until the nodesim has no session.
func (s *stage) idle() {
	s.t.Helper()
	for late := time.Now().Add(bound); ; {
		r, err := healthpb.NewHealthClient(s.conn).Check(s.t.Context(), &healthpb.HealthCheckRequest{Service: inSession})
		if err != nil {
			s.t.Fatal(err)
		}
		if r.GetStatus() == healthpb.HealthCheckResponse_NOT_SERVING {
			return
		}
		if time.Now().After(late) {
			s.t.Fatal("the session does not end")
		}
	}
}

// TestSevered: a nodesim whose gossip is cut off from the coordinator keeps its
// session. When that breaks off the cut is over; and if the coordinator has ended,
// although gossip could not tell, so does the nodesim.
func TestSevered(t *testing.T) {
	s := enter(t, nil)
	x := s.open()
	x.say(lasting(id))
	s.peer(id, 0)
	x.hear()
	cut := sever(&railyardv1.Sever{Nodes: []uint32{0}, Coordinator: true})
	x.say(cut)
	s.coordinator.Cut(gossip.Beyond{Nodes: gossip.List(1)})
	s.apart(true)
	x.say(begin(0, nil))
	if r := x.hear(); r.GetBegun() == nil {
		t.Fatalf("response %v, want begun", r)
	}
	x.cancel()
	s.coordinator.Cut(gossip.Beyond{})
	s.apart(false)
	x = s.open()
	x.say(lasting(id + 1))
	s.peer(id+1, 0)
	x.hear()
	x.say(cut)
	s.coordinator.Cut(gossip.Beyond{Nodes: gossip.List(1)})
	s.apart(true)
	x.cancel() // the coordinator is there, and keeps its side of the cut
	s.idle()
	s.coordinator.Close()
	if err := s.wait(); !errors.Is(err, ErrOrphaned) {
		t.Errorf("ended with %v, want orphaned", err)
	}
}

// TestSeveredFromNobody: a node that there is not is the coordinator's mistake.
func TestSeveredFromNobody(t *testing.T) {
	s := enter(t, nil)
	x, _ := s.ready()
	x.say(sever(&railyardv1.Sever{Nodes: []uint32{7}}))
	if r := x.hear(); r.GetFailure().GetCause() != railyardv1.Cause_CAUSE_MISMATCH {
		t.Errorf("response %v", r)
	}
}
