package trial_test

import (
	"strings"
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fault"
	"github.com/railyard/railyard/emu/trial"
)

// call is one of several that processes issue one after the other: who takes part,
// who of them has entered, and which call each of them waits for before it.
type call struct {
	gpus, in []int
	after    []int32
}

// A watchdog that ends calls of several communicators follows who waits for whom: all
// round a circle, or to the call that holds the others up, and to who is missing there.
func TestWhoWaitsForWhom(t *testing.T) {
	for _, c := range []struct {
		name      string
		calls     []call
		hung      string // a GPU that hangs
		cause     emu.Cause
		hang      emu.Hang
		run, rank int
		text      string
	}{
		{"two orders", []call{{[]int{0, 1}, []int{0}, []int32{-1, 1}}, {[]int{0, 1}, []int{1}, []int32{0, -1}}}, "", emu.Deadlock, emu.MissingEnter, 0, 1,
			"1 wait in all_gather, call 0 (GPUs 0) for GPUs 1, 1 wait in all_gather, call 1 (GPUs 1) for GPUs 0"},
		{"a circle of three", []call{{[]int{0, 1}, []int{1}, []int32{2, -1}}, {[]int{1, 2}, []int{2}, []int32{0, -1}}, {[]int{2, 0}, []int{0}, []int32{1, -1}}}, "",
			emu.Deadlock, emu.MissingEnter, 0, 0, "call 0 (GPUs 1) for GPUs 0, 1 wait in all_gather, call 1 (GPUs 2) for GPUs 1, 1 wait in all_gather, call 2 (GPUs 0) for GPUs 2"},
		{"a chain to who is missing", []call{{[]int{0, 1}, []int{0}, []int32{-1, 1}}, {[]int{1, 2}, []int{1}, []int32{-1, -1}}}, "", emu.Timeout, emu.MissingEnter, 1, 1,
			"rank 1 (node1/gpu0) never entered operation 0, which 1 of 2 ranks wait in"},
		{"a chain to who hangs", []call{{[]int{0, 1}, []int{0}, []int32{-1, 1}}, {[]int{1, 2}, []int{1, 2}, []int32{-1, -1}}}, "gpu2", emu.Timeout, emu.MissingExit, 1, 1,
			"rank 1 (node1/gpu0) entered operation 0 and does not go on"},
		{"a call that nothing keeps", []call{{[]int{0, 1}, []int{0}, nil}, {[]int{1, 2}, []int{1}, nil}}, "", emu.Timeout, emu.MissingEnter, 0, 1, "rank 1 (node0/gpu1) never entered"},
	} {
		var faults []emu.Fault
		if c.hung != "" {
			faults = []emu.Fault{{Type: "gpu-hang", Target: c.hung, When: emu.When{At: 2 * ms}}}
		}
		r := newRig(t, faults, nil)
		s, err := fault.Compile(r.fabric, faults, 1, 100*ms)
		if err != nil {
			t.Fatal(err)
		}
		var b emu.Batch
		var progress []emu.Progress
		var waiting []emu.Waiter
		for i, k := range c.calls {
			b.Runs = append(b.Runs, emu.Run{Op: collective.AllGather, Comm: k.gpus, Iterations: 1, Launch: 8 * us, Offset: at(1 * ms), After: k.after})
			for rank, gpu := range k.gpus {
				p := emu.Progress{Run: i, Rank: rank}
				for _, in := range k.in {
					if in == gpu {
						p.Entered = 1
						waiting = append(waiting, emu.Waiter{Run: i, Rank: rank, Peer: 1 - rank})
					}
				}
				progress = append(progress, p)
			}
		}
		tr := trial.New(r.fabric, b, s, bear)
		var out emu.Outcome
		if !tr.Over(tr.Cap()) {
			t.Fatalf("%s: not over at %v", c.name, tr.Cap())
		}
		tr.Verdict(waiting, progress, &out)
		f := out.Failure
		if f == nil || f.Cause != c.cause || f.Hang != c.hang || f.Run != c.run || f.Rank != c.rank || !strings.Contains(f.Text, c.text) {
			t.Errorf("%s: %+v", c.name, f)
		}
	}
}
