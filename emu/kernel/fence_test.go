package kernel_test

import (
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu/catalog"
	"github.com/railyard/railyard/shaping"
)

// However many channels share a GPU's links: these carry a slice of each, and idle
// for one fence. Of LL and LL128 each word says that it has arrived.
func TestLinksIdleForAFence(t *testing.T) {
	const slices, chunk = 20, 256 << 10
	sys, err := catalog.LookupSystem("dgx-h100")
	if err != nil {
		t.Fatal(err)
	}
	fence := sys.NVLink.Fence
	for _, channels := range []int{1, 2, 3, 8, 16} {
		for _, p := range []collective.Protocol{collective.Simple, collective.LL128} {
			var from, to []collective.Block
			for c := range channels {
				from = append(from, collective.Block{Channel: c, SendTo: []int{1}, Steps: sends(slices)})
				to = append(to, collective.Block{Channel: c, RecvFrom: []int{0}, Steps: recvs(slices)})
			}
			r := newRig(t, servers(1, 2))
			r.play(plan(collective.Plan{Protocol: p, Chunks: slices}, from, to), slices*chunk/4)
			carried := r.carried("node0/gpu0/nvlink-out")
			var idle shaping.Duration
			for i := range carried[1:] {
				idle += carried[i+1].Start.Sub(end(carried[i]))
			}
			least, most := shaping.Duration(0), fence // the last slices of all
			if p == collective.Simple {
				least = fence * shaping.Duration(slices*channels-1) / shaping.Duration(channels)
				most += least
			}
			if channels < 16 {
				most = shaping.Second // fewer SMs are slower than the links
			}
			if idle < least*99/100 || idle > most {
				t.Errorf("%d channels, %s: the links idle for %v, want %v to %v", channels, p, idle, least, most)
			}
		}
	}
}

// An SM that has sent a chunk to each head waits once, before it goes on.
func TestSMsWaitForSwitches(t *testing.T) {
	r := newRig(t, servers(1, 5))
	r.run(allReduce("nvls", collective.Options{Channels: 1}, r.fabric.All(), 20<<10))
	scatter := r.steps(0, 0)
	sys, err := catalog.LookupSystem("dgx-h100")
	if err != nil {
		t.Fatal(err)
	}
	moved := sys.SM.Rate.Time(4 << 10)
	if took, want := end(scatter[4]).Sub(scatter[0].Start), 5*moved+sys.NVLink.NVLS.Fence; took != want {
		t.Errorf("five chunks take %v, want %v", took, want)
	}
	// The switch adds up a head's part when the head has sent all of its own.
	for _, x := range r.steps(0, 1) {
		if x.Start < end(scatter[4]) {
			t.Errorf("a sum begins at %v, rank 0 scatters until %v", x.Start, end(scatter[4]))
		}
	}
}

// What an SM moves in LL is a figure of its own.
func TestSMsAreSlowerWithLL(t *testing.T) {
	r := newRig(t, servers(1, 2))
	r.play(flow(collective.Plan{Protocol: collective.LL}, 1), 1<<10)
	sys, err := catalog.LookupSystem("dgx-h100")
	if err != nil {
		t.Fatal(err)
	}
	want := sys.SM.Rate.Time(4 << 10 * shaping.Bytes(sys.SM.Rate) / shaping.Bytes(sys.SM.LL))
	if got := r.steps(0, 0)[0].Duration; got < want || got > want+shaping.Nanosecond {
		t.Errorf("4 KiB take %v, want %v", got, want)
	}
}
