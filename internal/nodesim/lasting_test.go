package nodesim

import (
	"errors"
	"testing"

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
