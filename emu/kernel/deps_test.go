package kernel_test

import (
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/shaping"
)

func copyStep(chunk int, deps ...collective.Dep) collective.Step {
	return collective.Step{Kind: collective.Copy, Src: collective.Ref{Index: chunk},
		Dst: collective.Ref{Buffer: collective.Output, Index: chunk}, Deps: deps}
}

// A dependency waits for the end of the whole step, all slices of it, and not
// for the next step of the same block.
func TestDependencyWaitsForTheEndOfTheStep(t *testing.T) {
	r := newRig(t, servers(1, 1))
	p := plan(collective.Plan{Chunks: 3, ChunkSteps: 4, SliceSteps: 2}, []collective.Block{
		{Channel: 0, Steps: []collective.Step{copyStep(0), copyStep(1)}},
		{Channel: 1, Steps: []collective.Step{copyStep(2, collective.Dep{Block: 0, Step: 0})}},
	})
	r.play(p, 3*64<<10)
	first, second := r.steps(0, 0), r.steps(0, 1)
	if len(first) != 4 || len(second) != 2 {
		t.Fatalf("%d and %d slices, want 4 and 2", len(first), len(second))
	}
	if got, want := second[0].Start, end(first[1]); got != want {
		t.Errorf("begins at %d ps, want %d: the end of the step's last slice", got, want)
	}
	if second[0].Start != first[2].Start {
		t.Errorf("the next step of the block begins at %d ps, the step that waited at %d: the two run at once", first[2].Start, second[0].Start)
	}
}

// The end of a step that sends is when the last byte has left the GPU, which on
// a slow egress is long after the SM is through with it.
func TestDependencyOnASendWaitsForTheEgress(t *testing.T) {
	r := newRig(t, servers(1, 2))
	// 16 blocks fill the egress: 16 × 40 GB/s of SMs against 396 GB/s.
	var blocks, peer []collective.Block
	const flows = 16
	for c := range flows {
		blocks = append(blocks, collective.Block{Channel: c, SendTo: []int{1}, Steps: sends(1)})
		peer = append(peer, collective.Block{Channel: c, RecvFrom: []int{0}, Steps: recvs(1)})
	}
	last := flows - 1
	blocks = append(blocks, collective.Block{Channel: flows, Steps: []collective.Step{copyStep(0, collective.Dep{Block: last})}})
	r.play(plan(collective.Plan{}, blocks, peer), 64<<10)
	send := r.steps(0, int32(last))[0]
	sm := shaping.Rate(40 * shaping.GBps).Time(256 << 10)
	if send.Duration <= sm {
		t.Fatalf("the egress is not slow: the send takes %d ps, the SM alone %d", send.Duration, sm)
	}
	if got := r.steps(0, flows)[0].Start; got != end(send) {
		t.Errorf("begins at %d ps, want %d", got, end(send))
	}
}

// A dependency means the same loop: block 1 follows block 0 from loop to loop
// and from iteration to iteration, never ahead of it and never a loop behind.
func TestDependencyIsOfTheSameLoop(t *testing.T) {
	p := plan(collective.Plan{Chunks: 2}, []collective.Block{
		{Channel: 0, Steps: []collective.Step{copyStep(0)}},
		{Channel: 1, Steps: []collective.Step{copyStep(1, collective.Dep{Block: 0, Step: 0})}},
	})
	r := newRig(t, servers(1, 1))
	// A loop holds two chunks of 512 KiB.
	const loops, iterations = 3, 2
	run := allReduce("test", collective.Options{}, nil, loops<<20)
	run.Iterations = iterations
	r.playRun(p, run)
	lead, follow := r.steps(0, 0), r.steps(0, 1)
	if len(lead) != loops*iterations || len(follow) != len(lead) {
		t.Fatalf("%d and %d slices, want %d each", len(lead), len(follow), loops*iterations)
	}
	for i := range lead {
		if follow[i].Start != end(lead[i]) {
			t.Errorf("loop %d: begins at %d ps, want %d", i, follow[i].Start, end(lead[i]))
		}
	}
}

// A dependency reaches through a step that does nothing, and costs nothing when
// what it names was over before.
func TestDependencyChain(t *testing.T) {
	nop := collective.Step{Kind: collective.Nop, Deps: []collective.Dep{{Block: 0, Step: 0}}}
	r := newRig(t, servers(1, 1))
	r.play(plan(collective.Plan{Chunks: 3}, []collective.Block{
		{Channel: 0, Steps: []collective.Step{copyStep(0)}},
		{Channel: 1, Steps: []collective.Step{nop}},
		{Channel: 2, Steps: []collective.Step{copyStep(1, collective.Dep{Block: 1, Step: 0})}},
		{Channel: 2, Steps: []collective.Step{copyStep(2), copyStep(0, collective.Dep{Block: 0, Step: 0})}},
	}), 3*30_000)
	head := r.steps(0, 0)[0]
	if got := r.steps(0, 1)[0]; got.Start != end(head) || got.Duration != 0 {
		t.Errorf("nop at %d ps for %d, want %d for 0", got.Start, got.Duration, end(head))
	}
	third := r.steps(0, 3)
	// Block 2 shares its SM with block 3, and takes none of it while it waits.
	if third[0].Start != head.Start || end(third[0]) != end(head) {
		t.Errorf("block 3 ran from %d to %d ps, want %d to %d", third[0].Start, end(third[0]), head.Start, end(head))
	}
	if second := r.steps(0, 2)[0]; second.Start != end(head) {
		t.Errorf("block 2 began at %d ps, want %d", second.Start, end(head))
	}
	if third[1].Start != end(head) {
		t.Errorf("block 3 went on at %d ps, want %d: what it depends on was over", third[1].Start, end(head))
	}
}
