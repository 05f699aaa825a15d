package kernel_test

import (
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/fault"
	"github.com/railyard/railyard/emu/kernel"
	"github.com/railyard/railyard/emu/transit"
	"github.com/railyard/railyard/shaping"
)

// struck is a rig of two servers of one GPU whose sending NIC is down for a while.
func struck(t *testing.T, down [][2]shaping.Time, bear emu.Resilience) *rig {
	t.Helper()
	r := newRig(t, servers(2, 1))
	s := fault.New(1)
	for _, d := range down {
		s.Touch(r.fabric.NICEgress(0, 0)).Change(d[0], d[1], func(st *fault.State) { st.Down = true })
	}
	r.kernel = kernel.New(kernel.Config{Fabric: r.fabric, Owners: transit.Owners{Node: make([]int, 2)}, Record: true, Faults: s, Bear: bear})
	return r
}

// sends runs a broadcast from one server to the other and returns when the NIC began
// with each frame, and what the kernel gave up on.
func (r *rig) sends(count, buffer int64) (starts []shaping.Time, failures []emu.Failure) {
	r.t.Helper()
	b := emu.Batch{Runs: []emu.Run{{Op: collective.Broadcast, Algorithm: "ring", Comm: []int{0, 1}, Count: count, DType: collective.Float32, Iterations: 1,
		Options: collective.Options{Channels: 1, Protocol: collective.Simple, BufferBytes: buffer}}}}
	w, err := kernel.Lay(r.fabric, b, func(int) bool { return true })
	if err != nil {
		r.t.Fatal(err)
	}
	r.kernel.Begin(b, w)
	for r.kernel.Next() != shaping.Never {
		r.kernel.Run(shaping.Never, 0)
	}
	e := r.kernel.Effects()
	for _, rec := range e.Records {
		if rec.Kind == emu.Carry && rec.Port == r.fabric.NICEgress(0, 0) {
			starts = append(starts, rec.Start)
		}
	}
	r.outcome.Ends = e.Ends
	return starts, e.Failures
}

// trip is the latency from NIC to NIC.
func (r *rig) trip() shaping.Duration {
	route := r.fabric.Route(0, 1, 0, collective.Simple)
	return route.Wire.Trip()
}

// TestLostTailCostsOneTimeout: the last frame of a connection is lost, and nothing
// behind it tells. It goes again 4.096 µs × 2^n after it left, and once more as long
// after that.
func TestLostTailCostsOneTimeout(t *testing.T) {
	const count = 1000 // one slice
	sound, _ := struck(t, nil, emu.Resilience{}).sends(count, 0)
	if len(sound) != 1 {
		t.Fatalf("%d frames, want one", len(sound))
	}
	from := sound[0]
	for _, test := range []struct {
		exponent, tries int
	}{{1, 1}, {3, 1}, {3, 2}, {20, 1}} {
		bear := emu.Resilience{IBTimeout: test.exponent, IBRetry: 7}
		try := bear.Try()
		if want := 4096 * ns << test.exponent; try != want {
			t.Fatalf("a try lasts %v, want %v", try, want)
		}
		// Down until shortly before the try that is to get through.
		r := struck(t, [][2]shaping.Time{{from, from.Add(shaping.Duration(test.tries)*try - us)}}, bear)
		wire := r.fabric.Port(r.fabric.NICEgress(0, 0)).Rate.Time(4 * count)
		got, failures := r.sends(count, 0)
		if len(failures) > 0 || len(got) != test.tries+1 {
			t.Fatalf("exponent %d: frames at %v, failures %+v", test.exponent, got, failures)
		}
		for i := 1; i < len(got); i++ {
			if d := got[i].Sub(got[i-1]); d < try+wire || d > try+wire+us {
				t.Errorf("exponent %d: try %d comes %v after the one before; a try is %v, and the frame took %v", test.exponent, i, d, try, wire)
			}
		}
	}
}

// TestGapCostsANakAndARoundTrip: a frame is lost, the one behind it gets through, and
// the sender goes back to the first as soon as the NAK is there.
func TestGapCostsANakAndARoundTrip(t *testing.T) {
	const count = 4000 // two slices, behind which nothing comes
	sound, _ := struck(t, nil, emu.Resilience{}).sends(count, 64<<10)
	if len(sound) != 2 {
		t.Fatalf("%d frames, want two", len(sound))
	}
	// Down for the first frame alone.
	r := struck(t, [][2]shaping.Time{{sound[0], sound[0] + 1}}, emu.Resilience{IBTimeout: 20, IBRetry: 7})
	got, failures := r.sends(count, 64<<10)
	if len(failures) > 0 || len(r.outcome.Ends) != 2 || len(got) != 4 {
		t.Fatalf("frames at %v, failures %+v, ends %v", got, failures, r.outcome.Ends)
	}
	if got[0] != sound[0] || got[1] != sound[1] {
		t.Fatalf("the first two begin at %v, without faults at %v", got[:2], sound[:2])
	}
	// The second one's head there, and the NAK back.
	if want := got[1].Add(2 * r.trip()); got[2] != want {
		t.Errorf("the first goes again at %v, %v after the second began; want %v", got[2], got[2].Sub(got[1]), want)
	}
	if r.kernel.Redone() == 0 {
		t.Error("nothing was sent again")
	}
}

// TestRetriesRunOut: with a try of 8 µs and no retry any longer stall kills the
// operation; with the defaults the same stall costs time alone (report 05).
func TestRetriesRunOut(t *testing.T) {
	const count = 1000
	sound, _ := struck(t, nil, emu.Resilience{}).sends(count, 0)
	stall := [][2]shaping.Time{{sound[0], sound[0].Add(50 * us)}}
	r := struck(t, stall, emu.Resilience{IBTimeout: 1, IBRetry: 0})
	got, failures := r.sends(count, 0)
	if len(failures) != 1 || len(r.outcome.Ends) == 2 {
		t.Fatalf("failures %+v, ends %v: want one failure", failures, r.outcome.Ends)
	}
	f := failures[0]
	wire := r.fabric.Port(r.fabric.NICEgress(0, 0)).Rate.Time(4 * count)
	left := got[0].Add(wire)
	if f.Cause != emu.LinkDown || f.Rank != 0 || f.Peer != 1 || f.Link != "node0/nic0/out" || f.At < left.Add(8192*ns) || f.At > left.Add(8192*ns+us) {
		t.Errorf("%+v, want a dead node0/nic0/out 8.192 µs after %v", f, left)
	}
	r = struck(t, stall, emu.Resilience{IBTimeout: 20, IBRetry: 7})
	if _, failures := r.sends(count, 0); len(failures) > 0 || len(r.outcome.Ends) != 2 {
		t.Errorf("with the defaults: failures %+v, ends %v", failures, r.outcome.Ends)
	}
	// Never up again: the whole budget, then the end.
	for _, retries := range []int{0, 1, 7} {
		bear := emu.Resilience{IBTimeout: 2, IBRetry: retries}
		r = struck(t, [][2]shaping.Time{{sound[0], shaping.Never}}, bear)
		got, failures := r.sends(count, 0)
		if len(failures) != 1 || len(got) != retries+1 {
			t.Errorf("%d retries: %d frames, failures %+v", retries, len(got), failures)
		}
	}
}

// TestFailoverTakesTheOtherNIC: a dead NIC costs the probe, and from then on what its
// channels send goes by the other one; without another there is nothing to go by.
func TestFailoverTakesTheOtherNIC(t *testing.T) {
	for _, nics := range []int{2, 1} {
		f := build(t, emu.Cluster{Groups: []emu.Group{{Count: 2, System: "dgx-h100", GPUs: 2, NICs: nics}}})
		s := fault.New(1)
		s.Touch(f.NICEgress(0, 0)).Change(0, shaping.Never, func(st *fault.State) { st.Down = true })
		r := newRigOn(t, f)
		bear := emu.Resilience{IBTimeout: 1, IBRetry: 1, Failover: true, Probe: 30 * us}
		r.kernel = kernel.New(kernel.Config{Fabric: f, Owners: transit.Owners{Node: make([]int, 2)}, Record: true, Faults: s, Bear: bear})
		b := emu.Batch{Runs: []emu.Run{{Op: collective.AllReduce, Algorithm: "ring", Comm: f.All(), Count: 1 << 20, DType: collective.Float32, Iterations: 1,
			Options: collective.Options{Channels: 2, Protocol: collective.Simple}}}}
		w, err := kernel.Lay(f, b, func(int) bool { return true })
		if err != nil {
			t.Fatal(err)
		}
		r.kernel.Begin(b, w)
		for r.kernel.Next() != shaping.Never {
			r.kernel.Run(shaping.Never, 0)
		}
		e := r.kernel.Effects()
		carried := map[fabric.PortID]shaping.Bytes{}
		for _, rec := range e.Records {
			if rec.Kind == emu.Carry {
				carried[rec.Port] += rec.Bytes
			}
		}
		if nics == 1 {
			if len(e.Failures) == 0 || len(e.Ends) > 0 {
				t.Errorf("one NIC: failures %v, ends %v", e.Failures, e.Ends)
			}
			continue
		}
		if len(e.Failures) > 0 || len(e.Ends) != 4 {
			t.Fatalf("two NICs: failures %+v, ends %v", e.Failures, e.Ends)
		}
		// Node 1 sends by both rails; node 0 all by the second.
		if a, b := carried[f.NICEgress(0, 1)], carried[f.NICEgress(1, 0)]+carried[f.NICEgress(1, 1)]; a < b {
			t.Errorf("node 0 sent %v by its second NIC, node 1 %v by both", a, b)
		}
	}
}

// TestNothingGetsThrough: where every packet is lost no receiver asks for any, however
// many a frame has: only timers tell, and the retries run out.
func TestNothingGetsThrough(t *testing.T) {
	for _, count := range []int64{2, 1000, 16 << 10, 1 << 20} {
		r := newRig(t, servers(2, 1))
		s := fault.New(1)
		s.Touch(r.fabric.NICIngress(1, 0)).Change(0, shaping.Never, func(st *fault.State) { st.Loss = fault.Certain })
		r.kernel = kernel.New(kernel.Config{Fabric: r.fabric, Owners: transit.Owners{Node: make([]int, 2)}, Record: true, Faults: s,
			Bear: emu.Resilience{IBTimeout: 5, IBRetry: 3}})
		got, failures := r.sends(count, 0)
		if len(failures) != 1 || failures[0].Cause != emu.LinkDown {
			t.Errorf("%d elements: failures %+v, want a dead link", count, failures)
		}
		const slots = 8 // all of which may be on the wire for each of the four tries
		if len(got) < 4 || len(got) > 4*slots {
			t.Errorf("%d elements: %d frames for four tries", count, len(got))
		}
	}
}
