package nodesim

import (
	"errors"
	"strings"
	"testing"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/internal/wire"
	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
	"github.com/railyard/railyard/shaping"
)

// says reports whether a failure has a cause and says some words in one line.
func says(t *testing.T, f *wire.Failure, cause wire.Cause, words ...string) {
	t.Helper()
	if f.Cause != cause {
		t.Errorf("cause %v, want %v: %v", f.Cause, cause, f)
	}
	for _, w := range words {
		if !strings.Contains(f.Text, w) || strings.Contains(f.Text, "\n") {
			t.Errorf("%q does not say %q in one line", f.Text, w)
		}
	}
}

// TestSetup: what a nodesim can't be part of it refuses, with what is wrong.
// Then it waits until the coordinator has taken note, and ends with the same.
func TestSetup(t *testing.T) {
	spoilt := func(edit func(*railyardv1.Setup)) []*railyardv1.SessionRequest {
		m := setup()
		edit(m)
		return []*railyardv1.SessionRequest{request(m)}
	}
	for _, test := range []struct {
		name  string
		said  []*railyardv1.SessionRequest
		cause wire.Cause
		words []string
	}{
		{"another protocol version", spoilt(func(m *railyardv1.Setup) { m.ProtocolVersion = 99 }), wire.Mismatch,
			[]string{"protocol version 99", "use binaries of one build"}},
		{"no cluster", spoilt(func(m *railyardv1.Setup) { m.Cluster = nil }), wire.Config, nil},
		{"unknown system", spoilt(func(m *railyardv1.Setup) { m.Cluster.Groups[0].System = "abacus" }), wire.Config, []string{"abacus"}},
		{"no such participant", spoilt(func(m *railyardv1.Setup) { m.Self = 2 }), wire.Mismatch, []string{"participant 2 of 2"}},
		{"a node without a host", spoilt(func(m *railyardv1.Setup) { m.Participants[0].Nodes = nil }), wire.Mismatch, []string{"node 0 has no host"}},
		{"a node too many", spoilt(func(m *railyardv1.Setup) { m.Participants[0].Nodes = []uint32{0, 2} }), wire.Mismatch, []string{"node 2"}},
		{"somebody else's node", spoilt(func(m *railyardv1.Setup) { m.Self = 0 }), wire.Mismatch, []string{"node 0", "disagree"}},
		{"a batch first", []*railyardv1.SessionRequest{begin(0, nil)}, wire.Mismatch, []string{"must begin with Setup"}},
		{"nothing", []*railyardv1.SessionRequest{{}}, wire.Mismatch, []string{"must begin with Setup"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := enter(t, nil)
			x := s.open()
			for _, m := range test.said {
				x.say(m)
			}
			f := x.refused()
			says(t, f, test.cause, test.words...)
			if f.Member != "node1" {
				t.Errorf("the failure is that of %q", f.Member)
			}
			if err := x.stream.CloseSend(); err != nil {
				t.Fatal(err)
			}
			says(t, failure(t, s.wait()), test.cause, test.words...)
		})
	}
}

// TestRefused: what goes wrong after Setup.
func TestRefused(t *testing.T) {
	grant := &railyardv1.SessionRequest{Request: &railyardv1.SessionRequest_Grant{
		Grant: &railyardv1.Grant{UntilPs: 1, FabricFrames: []*railyardv1.FrameHeader{
			{ConnId: 1 << 30, Kind: railyardv1.FrameKind_FRAME_KIND_DATA, Protocol: railyardv1.Protocol_PROTOCOL_SIMPLE}}}}}
	paced := begin(0, nil)
	paced.GetBegin().Paced = true
	pace := func(dilation uint64) *railyardv1.SessionRequest {
		return &railyardv1.SessionRequest{Request: &railyardv1.SessionRequest_Pace{Pace: &railyardv1.Pace{Dilation: dilation}}}
	}
	for _, test := range []struct {
		name  string
		good  []*railyardv1.SessionRequest // answered well
		bad   *railyardv1.SessionRequest
		cause wire.Cause
		words []string
	}{
		{"a second setup", nil, request(setup()), wire.Mismatch, []string{"second Setup"}},
		{"a GPU that is not there", nil, begin(0, func(r *emu.Run) { r.Comm[1] = 2 }), wire.Config, []string{"GPU 2", "0 to 1"}},
		{"an unknown algorithm", nil, begin(0, func(r *emu.Run) { r.Algorithm = "magic" }), wire.Config, []string{"magic"}},
		{"a batch without the first", nil, begin(1, nil), wire.Mismatch, []string{"batch 1 without a batch 0"}},
		{"a grant without a batch", nil, grant, wire.Mismatch, []string{"without a batch"}},
		{"a frame of the fabric from nowhere", []*railyardv1.SessionRequest{begin(0, nil)}, grant, wire.Mismatch, []string{"the fabric hands on", "connection 1073741824"}},
		{"a pace that stands still", []*railyardv1.SessionRequest{paced}, pace(0), wire.Mismatch, []string{"dilation 0"}},
		{"a pace without a batch that goes by it", []*railyardv1.SessionRequest{begin(0, nil)}, pace(5), wire.Mismatch, []string{"no batch goes by it"}},
		{"a grant under the paced clock", []*railyardv1.SessionRequest{paced}, grant, wire.Mismatch, []string{"under the paced clock"}},
		{"nothing", []*railyardv1.SessionRequest{begin(0, nil), finish()}, &railyardv1.SessionRequest{}, wire.Mismatch, []string{"does not know"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := enter(t, nil)
			x, _ := s.ready()
			for _, m := range test.good {
				x.say(m)
				if r := x.hear(); r.GetFailure() != nil {
					t.Fatalf("%v: %v", m, r)
				}
			}
			x.say(test.bad)
			says(t, x.refused(), test.cause, test.words...)
		})
	}
}

// TestSecondSession: a nodesim has one session in its life. Another coordinator
// is refused, and the first one goes on.
func TestSecondSession(t *testing.T) {
	s := enter(t, nil)
	x, _ := s.ready()
	_, err := s.open().stream.Recv()
	if err == nil {
		t.Fatal("a second session was opened")
	}
	says(t, wire.FromStatus(err), wire.Mismatch, "has a session already")
	x.say(begin(0, nil))
	if r := x.hear(); r.GetBegun() == nil || r.GetBegun().GetNextPs() == int64(shaping.Never) {
		t.Fatalf("response %v, want a batch with something to do", r)
	}
	if err := x.stream.CloseSend(); err != nil {
		t.Fatal(err)
	}
	if err := s.wait(); err != nil {
		t.Errorf("after a session that was closed: %v", err)
	}
}

// TestFarewell: a peer that hangs up is the coordinator's to judge. The nodesim
// says so when a batch needs it, and stays; if the session is then closed, all is
// well.
func TestFarewell(t *testing.T) {
	s := enter(t, nil)
	x, p := s.ready()
	if err := p.CloseSend(); err != nil {
		t.Fatal(err)
	}
	x.say(begin(0, nil))
	r := x.hear()
	if r.GetBegun() != nil { // before it was heard that the peer hung up
		r = x.hear()
	}
	says(t, wire.DecodeFailure(r.GetFailure()), wire.PeerLost, "node0")
	select {
	case <-s.done:
		t.Fatalf("it ended by itself, with %v, and looks like the culprit", s.err)
	default:
	}
	if err := x.stream.CloseSend(); err != nil {
		t.Fatal(err)
	}
	if err := s.wait(); err != nil {
		t.Errorf("after a session that was closed: %v", err)
	}
}

// TestAborted: an abort ends the session with the coordinator's reason.
func TestAborted(t *testing.T) {
	s := enter(t, nil)
	x, _ := s.ready()
	reason := wire.Failf(wire.Timeout, "enough")
	x.say(&railyardv1.SessionRequest{Request: &railyardv1.SessionRequest_Abort{
		Abort: &railyardv1.Abort{Reason: wire.EncodeFailure(reason)}}})
	says(t, x.refused(), wire.Timeout, "enough")
	s.conn.Close()
	if err := s.wait(); !errors.Is(err, ErrOrphaned) {
		t.Errorf("ended with %v, want orphaned", err)
	}
}
