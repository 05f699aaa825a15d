package transit_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/transit"
	"github.com/railyard/railyard/shaping"
)

const ns = shaping.Time(shaping.Nanosecond)

// TestInjectBooksUpToTheEgress follows ten bytes over two slots of 2 GB/s and a
// NIC of 1 GB/s: all three are booked at once, for 20 ns on, when the proxy will
// be through, and the frame is due at the next port a latency later.
func TestInjectBooksUpToTheEgress(t *testing.T) {
	r := newRig(t, true, 2*shaping.GBps, 2*shaping.GBps, shaping.GBps, shaping.GBps)
	p := fabric.Path{Ports: r.ports, Latency: []shaping.Duration{0, 0, 5000, 0}, Inject: 3}
	end := r.Inject(transit.Frame{Source: 1, Seq: 1, Bytes: 10}, &p, 20*ns, 20*ns)
	if end != 30*ns {
		t.Errorf("the egress is through at %v, want 30ns", end)
	}
	want := []emu.Record{
		{Start: 20 * ns, Duration: 5000, Port: 0, Bytes: 10},
		{Start: 20 * ns, Duration: 5000, Port: 1, Bytes: 10},
		{Start: 20 * ns, Duration: 10_000, Port: 2, Bytes: 10},
	}
	for i, x := range r.Records {
		if i >= len(want) || x.Start != want[i].Start || x.Duration != want[i].Duration || x.Port != want[i].Port || x.Bytes != 10 {
			t.Errorf("record %d: %+v", i, x)
		}
	}
	if r.Next() != 35*ns {
		t.Errorf("due at the next port at %v, want 35ns", r.Next())
	}
	k, i := r.Pop()
	if f := r.Frame(i); f.Head != 25*ns || f.Tail != 35*ns || k.Kind() != transit.Arrive {
		t.Errorf("arrives as %v with head %v and tail %v, want head 25ns and tail 35ns", k, f.Head, f.Tail)
	}
	if !r.Step(k.Kind(), i) || r.Now() != 35*ns {
		t.Errorf("not at its end at %v, though the last port was idle while it came", r.Now())
	}
}

// tangle draws connections that share ports in the middle of their paths, with
// messages from nothing to a megabyte.
func tangle(t *testing.T, rng *rand.Rand) *rig {
	n, middle := 2+rng.IntN(6), 3
	rates := make([]shaping.Rate, middle+n)
	for i := range rates {
		rates[i] = shaping.Rate(1+rng.IntN(50))*shaping.GBps + shaping.Rate(rng.IntN(1000))
	}
	r := newRig(t, true, rates...)
	for i := range n {
		ports := []int{middle + i}
		latency := []shaping.Duration{shaping.Duration(rng.IntN(3000)) * shaping.Nanosecond}
		for p := range middle {
			if rng.IntN(3) > 0 {
				ports = append(ports, p)
				latency = append(latency, shaping.Duration(rng.IntN(3)*1000)*shaping.Nanosecond)
			}
		}
		var list []message
		at := shaping.Time(0)
		for range 30 {
			at += shaping.Time(rng.IntN(60)) * shaping.Time(shaping.Microsecond)
			list = append(list, message{at: at, bytes: []shaping.Bytes{0, 8, 4096, shaping.Bytes(rng.IntN(1 << 20))}[rng.IntN(4)]})
		}
		r.connect(1+rng.IntN(8), shaping.Duration(rng.IntN(5))*shaping.Microsecond, ports, latency...).each(list...)
	}
	return r
}

// TestDeliveriesKeepOrder: whatever shares its ports, a connection delivers all
// it sent, in the order in which it sent it.
func TestDeliveriesKeepOrder(t *testing.T) {
	for seed := range uint64(60) {
		r := tangle(t, rand.New(rand.NewPCG(seed, 7)))
		r.run(shaping.Never)
		for i, c := range r.conns {
			if len(c.delivered) != 30 || len(c.sent) > 0 {
				t.Fatalf("seed %d: connection %d delivered %d messages of 30", seed, i, len(c.delivered))
			}
			for j, d := range c.delivered[1:] {
				if before := c.delivered[j]; d.seq < before.seq || d.at < before.at {
					t.Fatalf("seed %d: connection %d delivers message %d at %v after message %d at %v",
						seed, i, d.seq, d.at, before.seq, before.at)
				}
			}
		}
	}
}

// TestPortsCarryWhatTheyCan adds up the records: every port carries all of each
// message that crosses it, one thing at a time, never more than rate × time.
func TestPortsCarryWhatTheyCan(t *testing.T) {
	for seed := range uint64(60) {
		r := tangle(t, rand.New(rand.NewPCG(seed, 8)))
		r.run(shaping.Never)
		for p := range r.ports {
			checkPort(t, seed, r, p)
		}
	}
}

func checkPort(t *testing.T, seed uint64, r *rig, port int) {
	t.Helper()
	var want, bytes shaping.Bytes
	for _, c := range r.conns {
		for _, d := range c.delivered {
			if slices.Contains(c.path.Ports, r.ports[port]) {
				want += d.bytes
			}
		}
	}
	var busy shaping.Duration
	mine := slices.DeleteFunc(slices.Clone(r.Records), func(x emu.Record) bool { return x.Port != r.ports[port] })
	slices.SortFunc(mine, func(a, b emu.Record) int { return int(a.Start - b.Start) })
	for i, x := range mine {
		if i > 0 && x.Start < mine[i-1].Start.Add(mine[i-1].Duration) {
			t.Fatalf("seed %d: port %d is held twice: %+v and %+v", seed, port, mine[i-1], x)
		}
		if most := r.rates[port].Carries(x.Duration) + 1; x.Bytes > most { // pieces may be cut within a byte
			t.Fatalf("seed %d: port %d: %d B in a piece in which %d fit: %+v", seed, port, x.Bytes, most, x)
		}
		bytes += x.Bytes
		busy += x.Duration
	}
	gotBytes, gotBusy := r.Use(r.ports[port])
	if bytes != want || gotBytes != want || gotBusy != busy {
		t.Fatalf("seed %d: port %d: %d B crossed it; records say %d B in %d ps, the calendar %d B in %d ps",
			seed, port, want, bytes, busy, gotBytes, gotBusy)
	}
	if most := r.rates[port].Carries(busy); bytes > most {
		t.Fatalf("seed %d: port %d carried %d B in %d ps, in which %d fit", seed, port, bytes, busy, most)
	}
}

// pair returns the transits of two participants, each of which hosts one node.
func pair(t *testing.T) (*fabric.Fabric, [2]*transit.Transit) {
	t.Helper()
	f, err := fabric.New(emu.Cluster{Groups: []emu.Group{{Count: 2, System: "dgx-h100", GPUs: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	o := transit.Owners{Node: []int{0, 1}}
	return f, [2]*transit.Transit{transit.New(f, o, 0, false), transit.New(f, o, 1, false)}
}

// TestFrameIsHandedOn: a frame whose next port belongs to another participant
// leaves with all that decides its time there, as soon as it is injected.
func TestFrameIsHandedOn(t *testing.T) {
	f, part := pair(t)
	route := f.Route(0, 1, 0, 0)
	sent := transit.Frame{Conn: 3, Source: 4, Seq: 5, Leg: transit.Wire, Payload: true, From: 0, To: 1, Bytes: 4900}
	end := part[0].Inject(sent, &route.Wire, 7*ns, 7*ns)
	if part[0].Next() != shaping.Never || len(part[0].Left) != 1 {
		t.Fatalf("next %v, and %d frames left", part[0].Next(), len(part[0].Left))
	}
	e := part[0].Left[0]
	// 4900 B at 49 GB/s are 100 ns; then two NICs and a switch, 1795 ns.
	want := transit.Header{Conn: 3, Source: 4, Seq: 5, Payload: true, At: 3, Head: 1802 * ns, Tail: 1902 * ns, Bytes: 4900, To: 1}
	if e.To != 1 || e.Header != want || end != 107*ns {
		t.Fatalf("to %d, egress through at %v: %+v,\nwant to 1, 107ns: %+v", e.To, end, e.Header, want)
	}
	part[1].Accept(e.Header, &route.Wire, 9)
	k, i := part[1].Pop()
	if !part[1].Step(k.Kind(), i) {
		t.Fatal("did not get through the idle ports of the other node at once")
	}
	if got := part[1].Frame(i); part[1].Now() != want.Tail || got.Local != 9 || got.Conn != 3 || got.Seq != 5 || !got.Payload || got.Leg != transit.Wire {
		t.Errorf("at %v: %+v", part[1].Now(), got)
	}
	if b, _ := part[0].Use(route.Wire.Ports[3]); part[0].Owns(route.Wire.Ports[3]) || b != 0 {
		t.Errorf("the sender booked %d B on a port that is not its own", b)
	}
}

func TestTransitPanicsOnBugs(t *testing.T) {
	for _, tc := range []struct {
		name string
		do   func(f *fabric.Fabric, part [2]*transit.Transit)
		want string
	}{
		{"a path without an egress", func(f *fabric.Fabric, part [2]*transit.Transit) {
			part[0].Inject(transit.Frame{}, &fabric.Path{}, 0, 0)
		}, "without an egress"},
		{"no latency between participants", func(f *fabric.Fabric, part [2]*transit.Transit) {
			r := f.Route(0, 1, 0, 0)
			p := fabric.Path{Ports: []fabric.PortID{r.Wire.Ports[0], r.Wire.Ports[1], r.Wire.Ports[3]},
				Latency: []shaping.Duration{1000, 0, 0}, Inject: 1}
			part[0].Inject(transit.Frame{Bytes: 1}, &p, 0, 0)
			k, i := part[0].Pop()
			part[0].Step(k.Kind(), i)
		}, "no latency between two participants"},
		{"a frame from the past", func(f *fabric.Fabric, part [2]*transit.Transit) {
			r := f.Route(0, 1, 0, 0)
			part[1].Accept(transit.Header{Source: 1, At: 3, Head: 9, Tail: 9}, &r.Wire, 0)
			part[1].Pop()
			part[1].Accept(transit.Header{Source: 2, At: 3, Head: 8, Tail: 8}, &r.Wire, 0)
		}, "pushed after"},
	} {
		f, part := pair(t)
		if got := panics(func() { tc.do(f, part) }); !strings.Contains(got, tc.want) {
			t.Errorf("%s: panic %q, want %q", tc.name, got, tc.want)
		}
	}
}

// TestEmptyMessageThatWaited: nothing, sent behind messages that have the first
// shared port for 64 ms, reaches the next one when its turn has come. What the
// next port is told must not lie 64 ms back, where it has forgotten.
func TestEmptyMessageThatWaited(t *testing.T) {
	r := newRig(t, false, shaping.GBps, 48*shaping.GBps, 48*shaping.GBps, 48*shaping.GBps)
	list := append(slices.Repeat([]message{{bytes: 1_000_000}}, 64), message{})
	r.connect(len(list), 0, []int{2, 0, 1}, 1000, 1000, 0).each(list...)
	r.connect(1, 0, []int{3, 1}, 1000, 0).each(message{bytes: 8}, message{at: 50_000 * us, bytes: 8})
	r.run(shaping.Never)
	d := r.conns[0].delivered
	if len(d) != 65 || d[64].at != d[63].at || d[64].at < 64_000*us {
		t.Errorf("the last of %d delivered: %+v, want it with the one before", len(d), d[63:])
	}
}

// TestTransitDoesNotAllocate: frames, turns and events are reused.
func TestTransitDoesNotAllocate(t *testing.T) {
	r := newRig(t, false, shaping.GBps, 48*shaping.GBps, 48*shaping.GBps)
	var paths [2]fabric.Path
	for i := range paths {
		paths[i] = fabric.Path{Ports: []fabric.PortID{r.ports[1+i], r.ports[0]}, Latency: []shaping.Duration{1000, 0}, Inject: 1}
	}
	seq := uint32(0)
	turn := func() {
		for range 50 {
			seq++
			for i := range paths {
				f := transit.Frame{Source: uint32(i), Conn: uint32(i), Seq: seq, Bytes: 100_000}
				r.Inject(f, &paths[i], r.Now(), r.Now())
			}
			for r.Next() != shaping.Never {
				if k, i := r.Pop(); r.Step(k.Kind(), i) {
					r.Release(i)
				}
			}
		}
	}
	turn()
	if n := testing.AllocsPerRun(10, turn); n != 0 {
		t.Errorf("%v allocations for 100 frames over a contended port", n)
	}
}

// A switch has no egress: what it sends books nothing at the source and reaches
// the first port a latency later. What goes to a switch ends there, with whoever
// hosts it, when no port is left on its way.
func TestFramesOfSwitches(t *testing.T) {
	f, part := pair(t)
	from, to := part[0], part[1]
	in := f.Route(0, 1, 0, 0).Wire.Ports[3] // ingress of node 1's NIC

	down := fabric.Path{Ports: []fabric.PortID{in}, Latency: []shaping.Duration{0}, Lead: 7000}
	if end := from.Inject(transit.Frame{Source: 1, Bytes: 4096}, &down, 100, 200); end != 200 {
		t.Errorf("the source is busy until %d ps, want 200: it books nothing", int64(end))
	}
	if len(from.Left) != 1 || from.Left[0].To != 1 || from.Left[0].At != 0 || from.Left[0].Head != 7100 || from.Left[0].Tail != 7200 {
		t.Fatalf("handed on: %+v", from.Left)
	}
	from.Left = nil

	up := fabric.Path{Ports: f.Route(0, 1, 0, 0).Wire.Ports[:3], Latency: []shaping.Duration{0, 0, 5000}, Inject: 3, InSwitch: true, Node: 1}
	end := from.Inject(transit.Frame{Source: 1, Seq: 1, Bytes: 4096}, &up, 300, 300)
	if len(from.Left) != 1 || from.Left[0].To != 1 || from.Left[0].At != 3 || from.Left[0].Tail != end.Add(5000) {
		t.Fatalf("booked up to %d ps, handed on: %+v", int64(end), from.Left)
	}
	to.Accept(from.Left[0].Header, &up, 0)
	k, i := to.Pop()
	if k.At != end.Add(5000) || !to.Step(k.Kind(), i) {
		t.Errorf("the frame has not arrived at %d ps", int64(k.At))
	}
}
