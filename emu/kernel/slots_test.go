package kernel_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/kernel"
	"github.com/railyard/railyard/shaping"
)

// exchange is a plan in which two ranks send n chunks each before they receive
// any.
func exchange(n int) *collective.Plan {
	block := func(peer int) []collective.Block {
		return []collective.Block{{SendTo: []int{peer}, RecvFrom: []int{peer}, Steps: append(sends(n), recvs(n)...)}}
	}
	return plan(collective.Plan{Chunks: n}, block(1), block(0))
}

// A connection has 8 slots. Who sends 8 messages before receiving ends; who
// sends 9 waits for ever, and is told for whom. Not a special case: a slot is
// freed by consumption alone.
func TestMoreSendsThanSlotsDeadlock(t *testing.T) {
	for _, c := range []emu.Cluster{servers(1, 2), servers(2, 1)} {
		r := newRig(t, c)
		r.play(exchange(8), 800)
		if s := r.kernel.Stuck(); len(s) > 0 || len(r.outcome.Ends) != 2 {
			t.Errorf("%d nodes: 8 sends before a receive: stuck %+v, ends %v", r.fabric.Nodes(), s, r.outcome.Ends)
		}
		r = newRig(t, c)
		r.play(exchange(9), 900)
		want := []kernel.Stuck{{Rank: 0, Step: 8, Waits: "slot", Peer: 1}, {Rank: 1, Step: 8, Waits: "slot", Peer: 0}}
		if got := r.kernel.Stuck(); !slices.Equal(got, want) {
			t.Errorf("%d nodes: 9 sends before a receive: stuck %+v, want %+v", r.fabric.Nodes(), got, want)
		}
		if len(r.outcome.Ends) > 0 {
			t.Errorf("%d nodes: a rank that is stuck has ended: %v", r.fabric.Nodes(), r.outcome.Ends)
		}
	}
}

// A ring's chunk takes at most half of the slots. With as many slots as a chunk
// takes, every rank fills its connection in the first step and waits in the
// second: as Check proves, and the kernel finds.
func TestRingNeedsTwiceTheSlotsOfAChunk(t *testing.T) {
	for ranks := 2; ranks <= 5; ranks++ {
		for _, slots := range []int{4, 8} {
			p, err := collective.Build("ring", collective.AllReduce, collective.Uniform(1, ranks), collective.Options{Channels: 1})
			if err != nil {
				t.Fatal(err)
			}
			tight := *p
			tight.Slots = slots
			r := newRig(t, servers(1, ranks))
			r.play(&tight, int64(ranks)<<18) // a chunk of 1 MiB: both slices are there
			stuck := r.kernel.Stuck()
			var proof *collective.CheckError
			deadlock := errors.As(collective.Check(&tight), &proof) && proof.Problem == collective.Deadlock
			if deadlock != (len(stuck) > 0) {
				t.Errorf("%d ranks, %d slots: Check says deadlock %v, the kernel has stuck %+v", ranks, slots, deadlock, stuck)
			}
			if slots == 8 {
				if len(stuck) > 0 {
					t.Errorf("%d ranks: stuck with half of the slots to a chunk: %+v", ranks, stuck)
				}
				continue
			}
			if len(stuck) != ranks {
				t.Fatalf("%d ranks, a chunk takes all slots: stuck %+v, want every rank", ranks, stuck)
			}
			for i, s := range stuck {
				if want := (kernel.Stuck{Rank: i, Step: 1, Waits: "slot", Peer: (i + 1) % ranks}); s != want {
					t.Errorf("%d ranks: stuck %+v, want %+v", ranks, s, want)
				}
			}
		}
	}
}

// What a block waits for is said in the words of the plan: a message that
// nobody sends, and a step that never ends because of it.
func TestStuckSaysWhatForAndForWhom(t *testing.T) {
	block := collective.Block{RecvFrom: []int{0}, Steps: recvs(2)}
	after := collective.Block{Channel: 1, Steps: []collective.Step{
		{Kind: collective.Copy, Dst: collective.Ref{Buffer: collective.Output}, Deps: []collective.Dep{{Block: 0, Step: 1}}}}}
	r := newRig(t, servers(1, 2))
	r.play(plan(collective.Plan{Chunks: 2}, []collective.Block{{SendTo: []int{1}, Steps: sends(1)}},
		[]collective.Block{block, after}), 2000)
	want := []kernel.Stuck{
		{Rank: 1, Channel: 0, Block: 0, Step: 1, Waits: "data", Peer: 0},
		{Rank: 1, Channel: 1, Block: 1, Step: 0, Waits: "step", Peer: 1},
	}
	if got := r.kernel.Stuck(); !slices.Equal(got, want) {
		t.Errorf("stuck %+v, want %+v", got, want)
	}
}

// A sender that has used its slots goes on at the end of the consumption that
// frees one, plus the way of the news: a flag over NVLink, or a post of the
// proxy and the way from NIC to NIC.
func TestSlotIsFreeAfterConsumptionAndLatency(t *testing.T) {
	const steps, slots = 12, 2
	for _, c := range []struct {
		cluster emu.Cluster
		credit  shaping.Duration
	}{
		{servers(1, 2), 600 * ns},
		{servers(2, 1), 1*us + 2*745*ns + 305*ns}, // one leaf
	} {
		for _, p := range []collective.Protocol{collective.Simple, collective.LL} {
			t.Run(fmt.Sprintf("%d nodes %v", c.cluster.Nodes(), p), func(t *testing.T) {
				r := newRig(t, c.cluster)
				r.play(flow(collective.Plan{Protocol: p, Slots: slots}, steps), steps*100)
				sent, got := r.steps(0, 0), r.steps(1, 0)
				if len(sent) != steps || len(got) != steps {
					t.Fatalf("%d sends and %d receives, want %d each", len(sent), len(got), steps)
				}
				for i := slots; i < steps; i++ {
					if want := end(got[i-slots]).Add(c.credit); sent[i].Start != want {
						t.Errorf("send %d at %d ps, want %d: its slot was consumed by %d", i, sent[i].Start, want, end(got[i-slots]))
					}
				}
			})
		}
	}
}

// A slice that takes several slots waits for all of them.
func TestWideSliceTakesItsSlots(t *testing.T) {
	for _, tc := range []struct{ slots, slice, ahead int }{{8, 1, 8}, {8, 2, 4}, {8, 4, 2}, {8, 3, 2}, {5, 2, 2}} {
		const steps = 10
		r := newRig(t, servers(1, 2))
		r.play(flow(collective.Plan{Protocol: collective.LL128, Slots: tc.slots, ChunkSteps: tc.slice, SliceSteps: tc.slice}, steps), steps*100)
		first := r.steps(1, 0)[0]
		ahead := 0
		for _, s := range r.steps(0, 0) {
			if s.Start < end(first) {
				ahead++
			}
		}
		if ahead != tc.ahead {
			t.Errorf("%d slots, %d a slice: %d sends before the first is consumed, want %d", tc.slots, tc.slice, ahead, tc.ahead)
		}
	}
}
