package transit_test

import (
	"strings"
	"testing"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/transit"
	"github.com/railyard/railyard/shaping"
)

const us = shaping.Time(shaping.Microsecond)

// newUplinks returns the fabric participant of two nodes that share an uplink
// each way, of 64 KiB a microsecond.
func newUplinks(t *testing.T) *transit.Shared {
	t.Helper()
	f, err := fabric.New(emu.Cluster{Groups: []emu.Group{{Count: 1, System: "dgx-h100"}, {Count: 1, System: "dgx-h100"}},
		Fabric: emu.Fabric{Oversubscription: 4}})
	if err != nil {
		t.Fatal(err)
	}
	for id := range int32(f.Ports()) {
		if f.Port(id).Node == fabric.Shared {
			f.SetRate(id, 65_536*shaping.MBps)
		}
	}
	return transit.NewShared(f, transit.Owners{Node: []int{0, 1}, Shared: 2}, true)
}

// up is a header from GPU 0 of node 0 to GPU 0 of node 1, about to go up.
func up(seq uint32, tail shaping.Time, b shaping.Bytes) transit.Header {
	return transit.Header{Conn: 7, Source: 7, Seq: seq, At: 3, Head: tail - 1*us, Tail: tail, Bytes: b, From: 0, To: 8}
}

// forward runs the fabric and notes what it hands on.
func forward(s *transit.Shared, until shaping.Time) (got []transit.Emission, induced []shaping.Time, horizon shaping.Time) {
	horizon = s.Forward(until, func(e transit.Emission, at shaping.Time) {
		got = append(got, e)
		induced = append(induced, at)
	})
	return got, induced, horizon
}

// reaction is what a receiver of 64 KiB on the wire needs before it can answer:
// a post of 1 µs, the flush of 5 µs, 62259 B of data at the SM's 40 GB/s, and
// then a post, a NIC and a switch to the next port that is not its own.
const reaction = shaping.Duration(1000+5000)*shaping.Nanosecond + 1_556_475 + shaping.Duration(1000+745+305)*shaping.Nanosecond

// TestSharedHandsOn follows 64 KiB up and down, by hand: they come with their
// tail at 2 µs, an idle port lets them through, a switch hop of 305 ns later the
// other does, and a hop and a NIC later, 1050 ns, they are at the receiver's NIC.
func TestSharedHandsOn(t *testing.T) {
	s := newUplinks(t)
	s.Accept(up(1, 2*us, 64*shaping.KiB))
	if got, _, horizon := forward(s, 2*us); len(got) > 0 || horizon != 2*us || s.Popped() != 0 {
		t.Fatalf("horizon %v, %d events: what lies at the horizon is not before it", horizon, s.Popped())
	}
	if want := 2*us + 1050*ns; s.Bound() != want {
		t.Errorf("bound %v, want the next event, a hop and a NIC: %v", s.Bound(), want)
	}
	if got, _, _ := forward(s, 2*us+1); len(got) > 0 || s.Next() != 2305*ns {
		t.Fatalf("handed on %v; next %v, want at the other port, 2305ns", got, s.Next())
	}
	got, induced, horizon := forward(s, 100*us)
	want := transit.Header{Conn: 7, Source: 7, Seq: 1, Hop: 2, At: 5, Head: 2355 * ns, Tail: 3355 * ns, Bytes: 64 * shaping.KiB, To: 8}
	if len(got) != 1 || got[0].To != 1 || got[0].Header != want {
		t.Fatalf("handed on %+v,\nwant to 1 %+v", got, want)
	}
	if at := want.Tail.Add(reaction); induced[0] != at || horizon != at {
		t.Errorf("may be answered at %v, horizon %v; want both %v", induced[0], horizon, at)
	}
	if s.Bound() != shaping.Never || s.Next() != shaping.Never {
		t.Errorf("bound %v, next %v with nothing pending", s.Bound(), s.Next())
	}
}

// TestSharedLowersItsOwnHorizon: what a frame may cause bounds how far the
// fabric itself may run in the same round.
func TestSharedLowersItsOwnHorizon(t *testing.T) {
	s := newUplinks(t)
	s.Accept(up(2, 50*us, 64*shaping.KiB))
	s.Accept(up(1, 2*us, 64*shaping.KiB))
	got, _, horizon := forward(s, shaping.Never)
	if len(got) != 1 || got[0].Seq != 1 || horizon != (3355*ns).Add(reaction) || s.Next() != 50*us {
		t.Fatalf("handed on %+v, horizon %v, next %v", got, horizon, s.Next())
	}
	if got, _, horizon = forward(s, 60*us); len(got) != 1 || got[0].Seq != 2 || horizon != 60*us {
		t.Errorf("then %+v, horizon %v: an answer after the horizon does not move it", got, horizon)
	}
}

// TestSharedKeepsTheOrderOfEvents: headers may reach the fabric in any order;
// at one instant the source decides, not who came first.
func TestSharedKeepsTheOrderOfEvents(t *testing.T) {
	for _, order := range [][]uint32{{1, 2, 3}, {3, 1, 2}, {2, 3, 1}} {
		s := newUplinks(t)
		for _, n := range order {
			h := up(1, 2*us, 64*shaping.KiB)
			h.Conn, h.Source = n, n
			s.Accept(h)
		}
		got, _, _ := forward(s, 9*us)
		for i, e := range got {
			if e.Source != uint32(i+1) || e.Tail != 3355*ns+shaping.Time(i)*us {
				t.Errorf("accepted in the order %v: number %d is of source %d at %v", order, i, e.Source, e.Tail)
			}
		}
		if len(got) != 3 {
			t.Errorf("accepted in the order %v: handed on %d of 3", order, len(got))
		}
	}
}

func TestSharedRecords(t *testing.T) {
	s := newUplinks(t)
	s.Accept(up(1, 2*us, 64*shaping.KiB))
	forward(s, 100*us)
	r := s.TakeRecords()
	if len(r) != 2 || r[0].Kind != emu.Carry || r[0].Start != 1*us || r[1].Start != 1305*ns || r[1].Bytes != 64*shaping.KiB {
		t.Errorf("records %+v", r)
	}
	if again := s.TakeRecords(); len(again) != 0 {
		t.Errorf("%d records twice", len(again))
	}
}

func TestSharedPanicsOnAFrameThatEnds(t *testing.T) {
	s := newUplinks(t)
	h := up(1, 2*us, 8)
	h.At = 8 // behind the last port of the path
	s.Accept(h)
	if why := panics(func() { forward(s, 3*us) }); !strings.Contains(why, "ends at a shared port") {
		t.Errorf("panic %q", why)
	}
}

// TestSharedChecksHeaders: a node's word is not taken for what would be a panic,
// or for a frame larger than calendars remember.
func TestSharedChecksHeaders(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(h *transit.Header)
		want   string
	}{
		{"nothing wrong", func(h *transit.Header) {}, ""},
		{"now", func(h *transit.Header) { h.Head, h.Tail = 5*us, 5*us }, ""},
		{"the largest", func(h *transit.Header) { h.Bytes = transit.MaxFrame }, ""},
		{"from nowhere", func(h *transit.Header) { h.From = -1 }, "from GPU -1 to GPU 8; there are 16"},
		{"to nowhere", func(h *transit.Header) { h.To = 16 }, "from GPU 0 to GPU 16; there are 16"},
		{"from the past", func(h *transit.Header) { h.Head, h.Tail = 4*us, 5*us-1 }, "when it is 5000000 ps"},
		{"its head behind its tail", func(h *transit.Header) { h.Head = h.Tail + 1 }, "stamped"},
		{"too large", func(h *transit.Header) { h.Bytes = transit.MaxFrame + 1 }, "8388609 bytes"},
		{"less than nothing", func(h *transit.Header) { h.Bytes = -1 }, "-1 bytes"},
		{"a credit", func(h *transit.Header) { h.Credit = true }, "connection 7"},
		{"for a port of a node", func(h *transit.Header) { h.At = 2 }, "port 2 of its way, which is not shared"},
		{"behind its way", func(h *transit.Header) { h.At = 8 }, "port 8 of its way"},
		{"before its way", func(h *transit.Header) { h.At = -1 }, "port -1 of its way"},
		{"on a way that is not shared", func(h *transit.Header) { h.To = 1 }, "port 3 of its way"},
	} {
		s := newUplinks(t)
		s.Accept(up(1, 5*us, 8))
		forward(s, 5*us+1)
		h := up(2, 6*us, 8)
		tc.change(&h)
		err := s.Check(&h)
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.want)
		}
	}
}
