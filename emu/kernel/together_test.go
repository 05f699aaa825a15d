package kernel_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/simtest"
	"github.com/railyard/railyard/shaping"
)

// twoByTwo are two servers with two GPUs and one NIC each: communicators {0, 2}
// and {1, 3} both span the servers and share the NICs.
func twoByTwo() emu.Cluster {
	return emu.Cluster{Groups: []emu.Group{{Count: 2, System: "dgx-h100", GPUs: 2, NICs: 1}}}
}

// Two communicators that share the NICs share their rate, evenly; ports carry
// no more than they can.
func TestTwoRunsShareTheNICs(t *testing.T) {
	o := collective.Options{Channels: 4}
	alone := func(comm ...int) (shaping.Duration, shaping.Bytes) {
		r := newRig(t, twoByTwo())
		r.run(allReduce("ring", o, comm, 64<<20))
		return r.last(0).Sub(0), r.bytes("node0/nic0/out")
	}
	first, a := alone(0, 2)
	second, b := alone(1, 3)

	r := newRig(t, twoByTwo())
	r.run(allReduce("ring", o, []int{0, 2}, 64<<20), allReduce("ring", o, []int{1, 3}, 64<<20))
	if err := simtest.Capacity(r.fabric, r.records); err != nil {
		t.Error(err)
	}
	if got := r.bytes("node0/nic0/out"); got != a+b {
		t.Errorf("the NIC carried %d bytes, want %d + %d", got, a, b)
	}
	x, y := r.last(0).Sub(0), r.last(1).Sub(0)
	if sum := first + second; max(x, y) < sum*95/100 || max(x, y) > sum*105/100 {
		t.Errorf("alone they take %d and %d ps, together %d and %d: the NIC is not shared", first, second, x, y)
	}
	if max(x, y)*95/100 > min(x, y) {
		t.Errorf("together they take %d and %d ps: one has more than its share", x, y)
	}
}

// bytes returns what a port carried.
func (r *rig) bytes(port string) shaping.Bytes {
	var sum shaping.Bytes
	for _, x := range r.carried(port) {
		sum += x.Bytes
	}
	return sum
}

// Two blocks of two runs on one (GPU, channel) share its SM.
func TestTwoRunsShareAnSM(t *testing.T) {
	r := newRig(t, servers(1, 1))
	run := allReduce("ring", collective.Options{Channels: 1, Slices: 1}, []int{0}, 400_000)
	r.run(run, run)
	pass := (40 * shaping.GBps).Time(400_000)
	if a, b := r.last(0), r.last(1); a != shaping.Time(5*us).Add(pass) || b != a.Add(pass) {
		t.Errorf("end at %d and %d ps, want one pass of %d after the other", a, b, pass)
	}
}

// Runs that share nothing do not notice each other.
func TestRunsApartAreAlone(t *testing.T) {
	o := collective.Options{Channels: 2, Protocol: collective.LL}
	alone := newRig(t, servers(2, 2))
	alone.run(allReduce("ring", o, []int{0, 1}, 1<<20))
	both := newRig(t, servers(2, 2))
	both.run(allReduce("ring", o, []int{0, 1}, 1<<20), allReduce("ring", o, []int{2, 3}, 1<<20))
	if a, x, y := alone.last(0), both.last(0), both.last(1); x != a || y != a {
		t.Errorf("alone %d ps, together %d and %d", a, x, y)
	}
}

// A run later in the session is the same run, later.
func TestOffsetShiftsTheTimeline(t *testing.T) {
	for _, algorithm := range []string{"ring", "tree"} {
		run := allReduce(algorithm, collective.Options{Channels: 3}, nil, 300_000)
		run.Iterations = 2
		at := func(offset shaping.Time) []emu.Record {
			r := newRig(t, twoByTwo())
			run.Comm, run.Offset = r.fabric.All(), offset
			r.run(run)
			return r.records
		}
		const offset = 12_345_678_901
		want := at(0)
		for i := range want {
			want[i].At, want[i].Start = want[i].At+offset, want[i].Start+offset
		}
		if !slices.Equal(at(offset), want) {
			t.Errorf("%s: offset %d ps: not the same timeline, shifted", algorithm, offset)
		}
	}
}

// A batch leaves nothing behind on an idle cluster: the same run, begun where
// the outcome of the last says, takes the same time.
func TestBatchesFollowOneAnother(t *testing.T) {
	r := newRig(t, twoByTwo())
	run := allReduce("tree", collective.Options{Channels: 2}, r.fabric.All(), 300_000)
	r.run(run)
	first := r.last(0).Sub(run.Offset)
	for range 3 {
		run.Offset = r.outcome.Next()
		r.run(run)
		if got := r.last(0).Sub(run.Offset); got != first {
			t.Errorf("offset %d ps: takes %d ps, the first took %d", run.Offset, got, first)
		}
	}
}

// In place saves the copies of the rank's own part, and changes nothing else.
func TestInPlaceSavesCopiesAlone(t *testing.T) {
	for _, tc := range []struct {
		op     collective.Op
		algo   string
		gpus   int
		copies bool
	}{
		{collective.AllReduce, "ring", 1, true},
		{collective.AllReduce, "tree", 1, true},
		{collective.AllGather, "ring", 1, true},
		{collective.ReduceScatter, "ring", 1, true},
		{collective.AllReduce, "ring", 4, false},
		{collective.AllReduce, "tree", 4, false},
		{collective.AllGather, "ring", 4, true},
		{collective.ReduceScatter, "ring", 4, false},
	} {
		t.Run(fmt.Sprintf("%v %s on %d", tc.op, tc.algo, tc.gpus), func(t *testing.T) {
			r := newRig(t, servers(1, tc.gpus))
			run := allReduce(tc.algo, collective.Options{Channels: 1}, r.fabric.All(), 1<<20)
			run.Op = tc.op
			r.run(run)
			out := r.records
			r = newRig(t, servers(1, tc.gpus))
			run.InPlace = true
			r.run(run)
			for _, x := range r.records {
				if emu.RecordKind(collective.Copy) == x.Kind && x.Duration != 0 {
					t.Errorf("in place, rank %d copies onto itself for %d ps", x.Rank, x.Duration)
				}
			}
			if same := slices.Equal(out, r.records); same == tc.copies {
				t.Errorf("in place and out of place have the same timeline: %v", same)
			}
			if n, m := len(out), len(r.records); n != m {
				t.Errorf("%d records out of place, %d in place", n, m)
			}
		})
	}
}
