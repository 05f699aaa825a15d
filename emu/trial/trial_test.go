package trial_test

import (
	"slices"
	"testing"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/fault"
	"github.com/railyard/railyard/emu/trial"
	"github.com/railyard/railyard/shaping"
)

const (
	us = shaping.Microsecond
	ms = shaping.Millisecond
)

var bear = emu.Resilience{Control: 100 * us, Watchdog: 10 * ms}

// rig is a trial of one run on four GPUs of two servers, from 1 ms on.
type rig struct {
	*trial.Trial
	fabric *fabric.Fabric
	run    emu.Run
}

func newRig(t *testing.T, faults []emu.Fault, edit func(*emu.Run)) *rig {
	t.Helper()
	r := &rig{run: emu.Run{Comm: []int{0, 1, 2, 3}, Iterations: 1, Launch: 8 * us, Offset: at(1 * ms)}}
	var err error
	if r.fabric, err = fault.Fabric(emu.Cluster{Groups: []emu.Group{{Count: 2, System: "dgx-h100", GPUs: 2}}}, faults); err != nil {
		t.Fatal(err)
	}
	s, err := fault.Compile(r.fabric, faults, 1, 100*ms)
	if err != nil {
		t.Fatal(err)
	}
	if edit != nil {
		edit(&r.run)
	}
	r.Trial = trial.New(r.fabric, emu.Batch{Runs: []emu.Run{r.run}}, s, bear)
	return r
}

func at(d shaping.Duration) shaping.Time { return shaping.Time(0).Add(d) }

func (r *rig) ended(when shaping.Duration, ranks ...int) {
	for _, rank := range ranks {
		r.Note([]emu.End{{Rank: rank, At: at(when)}}, nil)
	}
}

// progress is that of ranks which have entered, those of ended having ended as well.
func progress(ranks int, absent, ended []int) []emu.Progress {
	var all []emu.Progress
	for rank := range ranks {
		p := emu.Progress{Rank: rank, Entered: 1}
		if slices.Contains(absent, rank) {
			p.Entered = 0
		}
		if slices.Contains(ended, rank) {
			p.Finished = 1
		}
		all = append(all, p)
	}
	return all
}

func waits(rank, peer int) emu.Waiter {
	return emu.Waiter{Rank: rank, Channel: 2, Step: 5, Waits: "data", Peer: peer}
}

// TestVerdicts: what a batch is ended for, when, and whom the verdict names.
func TestVerdicts(t *testing.T) {
	for _, test := range []struct {
		name     string
		faults   []emu.Fault
		edit     func(*emu.Run)
		ends     []int
		failures []emu.Failure
		waiting  []emu.Waiter
		absent   []int
		cap      shaping.Duration // when the batch is over; 0: never by itself
		want     emu.Failure
		lost     []int
	}{
		{name: "all is well", ends: []int{0, 1, 2, 3}},
		{name: "a killed process is known after control",
			faults: []emu.Fault{{Type: "kill", Target: "node1", When: emu.When{At: 2 * ms}}},
			cap:    2*ms + 100*us, want: emu.Failure{Cause: emu.PeerLost, Rank: 2, Channel: -1, Step: -1, Peer: -1}, lost: []int{2, 3}},
		{name: "news that is on its way at the start comes when it is due",
			faults: []emu.Fault{{Type: "kill", Target: "node0", When: emu.When{At: 950 * us}}},
			cap:    1*ms + 50*us, want: emu.Failure{Cause: emu.PeerLost, Rank: 0, Channel: -1, Step: -1, Peer: -1}, lost: []int{0, 1}},
		{name: "one of whom all have heard before is known from the start",
			faults: []emu.Fault{{Type: "kill", Target: "node0", When: emu.When{At: 0}}},
			cap:    1 * ms, want: emu.Failure{Cause: emu.PeerLost, Rank: 0, Channel: -1, Step: -1, Peer: -1}, lost: []int{0, 1}},
		{name: "a rank that had ended is missed by nobody",
			faults: []emu.Fault{{Type: "gpu-lost", Target: "node1/gpu1", When: emu.When{At: 2 * ms}}},
			ends:   []int{0, 1, 2, 3}},
		{name: "a lost GPU that others wait for",
			faults:  []emu.Fault{{Type: "gpu-lost", Target: "node1/gpu1", When: emu.When{At: 2 * ms}}},
			waiting: []emu.Waiter{waits(1, 0), waits(0, 3)},
			cap:     2*ms + 100*us, want: emu.Failure{Cause: emu.PeerLost, Rank: 3, Channel: 2, Step: 5, Peer: 0}, lost: []int{3}},
		{name: "the first of several failures, when all have been told",
			failures: []emu.Failure{{Cause: emu.LinkDown, Rank: 3, Peer: 0, Link: "node1/nic1/out", At: at(4 * ms)},
				{Cause: emu.LinkDown, Rank: 2, Peer: 1, Link: "node1/nic0/out", At: at(3 * ms)}},
			cap: 3*ms + 100*us, want: emu.Failure{Cause: emu.LinkDown, Rank: 2, Peer: 1}, lost: []int{2, 3}},
		{name: "hung: one entered and stands still",
			faults:  []emu.Fault{{Type: "gpu-hang", Target: "node0/gpu1", When: emu.When{At: 2 * ms}}},
			waiting: []emu.Waiter{waits(2, 1), waits(3, 2)},
			cap:     11 * ms, want: emu.Failure{Cause: emu.Timeout, Hang: emu.MissingExit, Rank: 1, Channel: 2, Step: 5, Peer: 2}, lost: []int{1}},
		{name: "hung, and only it waits",
			faults: []emu.Fault{{Type: "gpu-hang", Target: "node0/gpu1", When: emu.When{At: 2 * ms}}},
			ends:   []int{0, 2, 3}, waiting: []emu.Waiter{waits(1, 0)},
			cap: 11 * ms, want: emu.Failure{Cause: emu.Timeout, Hang: emu.MissingExit, Rank: 1, Channel: 2, Step: 5, Peer: 0}, lost: []int{1}},
		{name: "one never entered", edit: func(r *emu.Run) { r.Absent = []int{2} },
			waiting: []emu.Waiter{waits(0, 3), waits(3, 2)}, absent: []int{2},
			cap: 11 * ms, want: emu.Failure{Cause: emu.Timeout, Hang: emu.MissingEnter, Rank: 2, Channel: 2, Step: 5, Peer: 3}, lost: []int{2}},
		{name: "nobody stopped, and nothing moves", waiting: []emu.Waiter{waits(0, 1), waits(1, 0)},
			cap: 11 * ms, want: emu.Failure{Cause: emu.Timeout, Hang: emu.AllRanksStuck, Rank: 0, Channel: 2, Step: 5, Peer: 1}},
		{name: "a call that does not match", edit: func(r *emu.Run) { r.Odd = []emu.Odd{{Rank: 1, Says: "5 elements"}} },
			cap: 1*ms + 8*us + 100*us, want: emu.Failure{Cause: emu.Mismatch, Hang: emu.SignatureMismatch, Rank: 1, Channel: -1, Step: -1, Peer: -1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t, test.faults, test.edit)
			r.ended(1500*us, test.ends...)
			r.Note(nil, test.failures)
			if test.cap == 0 {
				if !r.Done() || r.Cap() != shaping.Never || r.Over(at(50*ms)) || !r.Over(shaping.Never) {
					t.Errorf("done %v, cap %v: it should go on until nothing is pending", r.Done(), r.Cap())
				}
			} else if r.Cap() != at(test.cap) || r.Over(at(test.cap)-1) || !r.Over(at(test.cap)) {
				t.Errorf("cap %v, over before it %v; want %v", r.Cap(), r.Over(at(test.cap)-1), test.cap)
			}
			var out emu.Outcome
			r.Verdict(test.waiting, progress(4, test.absent, test.ends), &out)
			r.check(t, out, test.want, test.lost)
		})
	}
}

func (r *rig) check(t *testing.T, out emu.Outcome, want emu.Failure, lost []int) {
	t.Helper()
	f := out.Failure
	if want.Cause == "" {
		if f != nil {
			t.Errorf("failure %+v, want none", f)
		}
		return
	}
	if f == nil || f.Cause != want.Cause || f.Hang != want.Hang || f.Rank != want.Rank || f.Peer != want.Peer || f.Channel != want.Channel || f.Step != want.Step {
		t.Fatalf("failure %+v, want %+v", f, want)
	}
	if !slices.Equal(f.Lost, lost) || f.Text == "" || f.Abort < f.At {
		t.Errorf("failure %+v, want ranks %v lost, and a text", f, lost)
	}
}

// TestPartedHearNothing: news does not pass between the sides of a partition. Who is
// parted from a failure learns of it when the sides are joined again, by a failure on
// its own side, or by the watchdog, whatever comes first.
func TestPartedHearNothing(t *testing.T) {
	for _, test := range []struct {
		name  string
		until shaping.Duration // the partition; 0: for good
		noted shaping.Duration // when rank 0, on the other side, gives up; 0: it does not
		want  shaping.Duration
	}{
		{"for good", 0, 0, 11 * ms},
		{"healed", 4 * ms, 0, 4*ms + 100*us},
		{"it fails there, too", 0, 5 * ms, 5*ms + 100*us},
		{"healed before that", 4 * ms, 5 * ms, 4*ms + 100*us},
		{"over before the failure", 1500 * us, 0, 2*ms + 100*us},
	} {
		r := newRig(t, []emu.Fault{{Type: "partition", Target: "node0 | node1", When: emu.When{Until: test.until}},
			{Type: "gpu-lost", Target: "node1/gpu0", When: emu.When{At: 2 * ms}}}, nil)
		if test.noted > 0 {
			r.Note(nil, []emu.Failure{{Cause: emu.LinkDown, Rank: 0, Peer: 3, Link: "node0/nic0/out", At: at(test.noted)}})
		}
		if r.Cap() != at(test.want) || !r.Over(shaping.Never) {
			t.Errorf("%s: over at %v, want %v", test.name, r.Cap(), test.want)
		}
		var out emu.Outcome
		r.Verdict(nil, progress(4, nil, nil), &out)
		if f := out.Failure; f == nil || f.Cause != emu.PeerLost || f.At != at(2*ms+100*us) || f.Abort != at(test.want) {
			t.Errorf("%s: %+v, want the lost GPU, known at 2.1 ms on its side and at %v to all", test.name, f, test.want)
		}
	}
}

// A port of a GPU cuts off that GPU, one of a NIC all of its server.
func TestWhoIsCutOff(t *testing.T) {
	for link, want := range map[string][]int{"node1/gpu1/nvlink-out": {3}, "node1/nic0/in": {2, 3}} {
		r := newRig(t, nil, nil)
		r.Note(nil, []emu.Failure{{Cause: emu.LinkDown, Rank: 3, Peer: 2, Link: link, At: at(2 * ms)}})
		r.Over(shaping.Never)
		var out emu.Outcome
		r.Verdict(nil, progress(4, nil, nil), &out)
		if !slices.Equal(out.Failure.Lost, want) {
			t.Errorf("%s cuts off %v, want %v", link, out.Failure.Lost, want)
		}
	}
}

// What only a process that is gone could tell decides nothing: it is told by predict,
// and by nobody on daemons.
func TestTheDeadTellNothing(t *testing.T) {
	kill := []emu.Fault{{Type: "kill", Target: "node1", When: emu.When{At: 2 * ms}}}
	verdict := func(waiting []emu.Waiter, p []emu.Progress) emu.Outcome {
		r := newRig(t, kill, nil)
		r.Over(at(3 * ms))
		var out emu.Outcome
		r.Verdict(waiting, p, &out)
		return out
	}
	all := verdict([]emu.Waiter{waits(3, 1), waits(2, 3), waits(0, 2)}, progress(4, nil, nil))
	living := verdict([]emu.Waiter{waits(0, 2)}, progress(2, nil, nil))
	if a, b := all.Failure, living.Failure; a.Rank != b.Rank || a.Peer != b.Peer || a.Text != b.Text || !slices.Equal(all.Progress, living.Progress) {
		t.Errorf("with the dead %+v, without %+v", a, b)
	}
}

// TestPerturbed: a death that no schedule foresaw fails even a run whose ranks have
// all ended, as nobody knows what of it is missing.
func TestPerturbed(t *testing.T) {
	r := newRig(t, nil, nil)
	r.ended(1500*us, 0, 1, 2, 3)
	s, err := fault.Compile(r.fabric, []emu.Fault{{Type: "kill", Target: "node1", When: emu.When{At: 2 * ms}}}, 1, ms)
	if err != nil {
		t.Fatal(err)
	}
	r.Perturb(s)
	if !r.Over(shaping.Never) {
		t.Error("it goes on")
	}
	var out emu.Outcome
	r.Verdict(nil, progress(4, nil, []int{0, 1, 2, 3}), &out)
	r.check(t, out, emu.Failure{Cause: emu.PeerLost, Rank: 2, Channel: -1, Step: -1, Peer: -1}, []int{2, 3})
}

// Without faults a trial never ends a batch, and a halt is a deadlock.
func TestNoFaults(t *testing.T) {
	f, err := fabric.New(emu.Cluster{Groups: []emu.Group{{Count: 1, System: "dgx-h100", GPUs: 2}}})
	if err != nil {
		t.Fatal(err)
	}
	r := trial.New(f, emu.Batch{Runs: []emu.Run{{Comm: []int{0, 1}, Iterations: 1}}}, nil, emu.Resilience{})
	if r.Limit() != 0 || r.Cap() != shaping.Never || r.Over(at(1000*ms)) || !r.Over(shaping.Never) {
		t.Errorf("limit %v, cap %v", r.Limit(), r.Cap())
	}
	var out emu.Outcome
	r.Verdict([]emu.Waiter{waits(0, 1)}, progress(2, nil, nil), &out)
	if out.Failure == nil || out.Failure.Cause != emu.Deadlock {
		t.Errorf("failure %+v, want a deadlock", out.Failure)
	}
}
