package nodesim

import (
	"testing"

	"github.com/railyard/railyard/emu/transit"
	"github.com/railyard/railyard/internal/wire"
	"github.com/railyard/railyard/shaping"
)

// TestStray: a stream that does not belong to the session is turned away and
// does it no harm, whether it comes before the session is set up or after.
func TestStray(t *testing.T) {
	for _, test := range []struct {
		name    string
		session uint64
		from    uint32
		words   string
	}{
		{"of another session", id + 1, 0, "part of another"},
		{"of no lower participant", id, 1, "only those below it"},
		{"of a participant that is not there", id, 1 << 31, "only those below it"},
	} {
		for _, early := range []bool{true, false} {
			t.Run(test.name, func(t *testing.T) {
				t.Parallel()
				s := enter(t, nil)
				x := s.open()
				setUp := func() { x.say(request(setup())) }
				if !early {
					setUp()
				}
				stray := s.peer(test.session, test.from)
				if early {
					setUp()
				}
				var b wire.Batch
				err := stray.RecvMsg(&b)
				if err == nil {
					t.Fatal("the stray was let in")
				}
				says(t, wire.FromStatus(err), wire.Mismatch, test.words)
				s.peer(id, 0)
				if r := x.hear(); r.GetReady() == nil {
					t.Errorf("response %v, want ready: the stray did harm", r)
				}
			})
		}
	}
}

// TestFrames: frames that come from a peer at the wrong time, or for something
// else, end the session with a cause that names the peer.
func TestFrames(t *testing.T) {
	credit := wire.Frame{Header: transit.Header{Conn: 1, Credit: true, Tail: shaping.Time(shaping.Millisecond)}}
	with := func(f wire.Frame, payload []byte) wire.Frame {
		f.Credit, f.Payload = false, true
		f.Give(payload)
		return f
	}
	for _, test := range []struct {
		name  string
		begun bool
		batch wire.Batch
		words []string
	}{
		{"before the first batch", false, wire.Batch{Session: id, Frames: []wire.Frame{credit}}, []string{"node0 sends frames of batch 0"}},
		{"of another batch", true, wire.Batch{Session: id, Number: 1, Frames: []wire.Frame{credit}}, []string{"node0 sends frames of batch 1"}},
		{"of another session", true, wire.Batch{Session: id + 1, Frames: []wire.Frame{credit}}, []string{"stream of node0"}},
		{"of another participant", true, wire.Batch{Session: id, From: 1, Frames: []wire.Frame{credit}}, []string{"participant 1", "stream of node0"}},
		{"on a connection that is not there", true, wire.Batch{Session: id, Frames: []wire.Frame{{Header: transit.Header{Conn: 1 << 20, Credit: true}}}}, []string{"node0 sends", "connection 1048576"}},
		{"with elements for nobody", true, wire.Batch{Session: id, Frames: []wire.Frame{with(credit, []byte{1})}}, []string{"node0 sends"}},
		{"without frames", true, wire.Batch{Session: id}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := enter(t, nil)
			x, p := s.ready()
			if test.begun {
				x.say(begin(0, nil))
				if r := x.hear(); r.GetBegun() == nil {
					t.Fatalf("response %v, want begun", r)
				}
			}
			if err := wire.Send(p, &test.batch); err != nil {
				t.Fatal(err)
			}
			says(t, x.refused(), wire.Mismatch, test.words...)
		})
	}
}

// TestLateFrames: what arrives after a batch is finished belongs to none.
func TestLateFrames(t *testing.T) {
	s := enter(t, nil)
	x, p := s.ready()
	x.say(begin(0, nil))
	x.hear()
	x.say(finish())
	x.hear()
	b := wire.Batch{Session: id, Frames: []wire.Frame{{Header: transit.Header{Conn: 1, Credit: true}}}}
	if err := wire.Send(p, &b); err != nil {
		t.Fatal(err)
	}
	says(t, x.refused(), wire.Mismatch, "node0 sends frames of batch 0")
}
