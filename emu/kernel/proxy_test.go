package kernel_test

import (
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/shaping"
)

// lanes is a plan in which rank 0 sends n chunks to rank 1 on each of several
// channels.
func lanes(p collective.Plan, channels, n int) *collective.Plan {
	p.Chunks = n
	var from, to []collective.Block
	for c := range channels {
		from = append(from, collective.Block{Channel: c, SendTo: []int{1}, Steps: sends(n)})
		to = append(to, collective.Block{Channel: c, RecvFrom: []int{0}, Steps: recvs(n)})
	}
	return plan(p, from, to)
}

// The proxy of a GPU is one thread: channels whose slices are whole at the same
// instant are posted 1 µs apart, in the order of their blocks.
func TestProxyPostsOneAfterTheOther(t *testing.T) {
	const channels = 5
	r := newRig(t, servers(2, 1))
	r.play(lanes(collective.Plan{Protocol: collective.LL}, channels, 1), 25)
	posted := r.carried("node0/nic0/out")
	if len(posted) != channels {
		t.Fatalf("%d slices on the wire, want %d", len(posted), channels)
	}
	whole := end(r.steps(0, 0)[0])
	for i, p := range posted {
		if want := whole.Add(shaping.Duration(i+1) * us); p.Start != want || p.Channel != int32(i) {
			t.Errorf("channel %d leaves at %d ps, want channel %d at %d", p.Channel, p.Start, i, want)
		}
	}
}

// Two GPUs, each with its own NIC, have two proxies.
func TestProxiesOfTwoGPUsPostAtOnce(t *testing.T) {
	r := newRig(t, servers(2, 2))
	lane := func(c, peer int) []collective.Block {
		return []collective.Block{{Channel: c, SendTo: []int{peer}, Steps: sends(1)}}
	}
	sink := func(c, peer int) []collective.Block {
		return []collective.Block{{Channel: c, RecvFrom: []int{peer}, Steps: recvs(1)}}
	}
	r.play(plan(collective.Plan{Protocol: collective.LL}, lane(0, 2), lane(1, 3), sink(0, 0), sink(1, 1)), 25)
	a, b := r.carried("node0/nic0/out")[0], r.carried("node0/nic1/out")[0]
	if a.Start != b.Start {
		t.Errorf("leave at %d and %d ps, want the same instant", a.Start, b.Start)
	}
}

// A slice is posted when it is whole, ahead of the NIC, which begins with it
// when it is through with the connection's last one: without a rest.
func TestSlicesArePostedAhead(t *testing.T) {
	const n = 4
	c := servers(2, 1)
	c.Fabric.Link = "edr" // a slice of 512 KiB: 13 µs at the SM, 46 at the NIC
	r := newRig(t, c)
	r.play(lanes(collective.Plan{}, 1, n), n*128<<10)
	posted := r.carried("node0/nic0/out")
	if len(posted) != n {
		t.Fatalf("%d slices on the wire, want %d", len(posted), n)
	}
	for i, s := range r.steps(0, 0) {
		want := end(s).Add(1 * us)
		if i > 0 {
			want = max(want, end(posted[i-1]))
		}
		if posted[i].Start != want {
			t.Errorf("slice %d leaves at %d ps, want %d", i, posted[i].Start, want)
		}
	}
	// Four at once keep the NIC busy without a rest, but for the first post.
	r = newRig(t, c)
	r.play(lanes(collective.Plan{}, 4, n), n*128<<10)
	busy, first, final := shaping.Duration(0), shaping.Never, shaping.Time(0)
	for _, p := range r.carried("node0/nic0/out") {
		busy += p.Duration
		first, final = min(first, p.Start), max(final, end(p))
	}
	if span := final.Sub(first); span != busy {
		t.Errorf("the NIC took %d ps for %d ps of bytes", span, busy)
	}
}

// On receipt Simple costs a turn of the proxy and the flush, LL neither.
func TestReceiptBySimpleAndLL(t *testing.T) {
	for p, after := range map[collective.Protocol]shaping.Duration{
		collective.Simple: 1*us + 5*us,
		collective.LL:     300 * ns,
	} {
		r := newRig(t, servers(2, 1))
		r.play(lanes(collective.Plan{Protocol: p}, 1, 1), 1000)
		out, got := r.carried("node0/nic0/out")[0], r.steps(1, 0)[0]
		arrived := end(out).Add(2*745*ns + 305*ns)
		if want := arrived.Add(after); got.Start != want {
			t.Errorf("%v: received at %d ps, want %d", p, got.Start, want)
		}
	}
}

// Slices that arrive together are seen by the receiving proxy one by one.
func TestReceivingProxyIsSerial(t *testing.T) {
	r := newRig(t, servers(2, 2))
	// Ranks 0 and 1 send to rank 2 by NICs of their own, at the same instant.
	lane := func(c int) []collective.Block {
		return []collective.Block{{Channel: c, SendTo: []int{2}, Steps: sends(1)}}
	}
	sink := []collective.Block{
		{Channel: 0, RecvFrom: []int{0}, Steps: recvs(1)},
		{Channel: 1, RecvFrom: []int{1}, Steps: recvs(1)},
	}
	r.play(plan(collective.Plan{}, lane(0), lane(1), sink, nil), 1000)
	a, b := r.steps(2, 0)[0], r.steps(2, 1)[0]
	if in0, in1 := r.carried("node1/nic0/in")[0], r.carried("node1/nic1/in")[0]; in0.Start != in1.Start {
		// Different rails: NIC 1 is one leaf away as well.
		t.Fatalf("the slices do not arrive together: %d and %d ps", in0.Start, in1.Start)
	}
	if got := b.Start.Sub(a.Start); got != 1*us {
		t.Errorf("handed over %d ps apart, want 1 µs", got)
	}
}

// PXN: the GPU that does not own the rail's NIC writes over NVLink into the
// memory of the one that does, whose proxy posts when the slice is whole there.
func TestForwardingToTheRail(t *testing.T) {
	r := newRig(t, emu.Cluster{Groups: []emu.Group{{Count: 2, System: "dgx-h100", GPUs: 2, NICs: 1}}})
	idle := []collective.Block{}
	lane := []collective.Block{{SendTo: []int{2}, Steps: sends(1)}}
	sink := []collective.Block{{RecvFrom: []int{1}, Steps: recvs(1)}}
	r.play(plan(collective.Plan{}, idle, lane, sink, idle), 8000)
	step := r.steps(1, 0)[0]
	in, out := r.carried("node0/gpu0/nvlink-in"), r.carried("node0/nic0/out")
	if len(in) != 1 || len(out) != 1 {
		t.Fatalf("%d transfers into GPU 0 and %d out of its NIC, want one each", len(in), len(out))
	}
	// Stores to a peer's memory take the link's latency alone, 600 ns.
	if want := end(step).Add(600*ns + 1*us); out[0].Start != want {
		t.Errorf("leaves at %d ps, want %d", out[0].Start, want)
	}
}
