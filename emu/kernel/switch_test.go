package kernel_test

import (
	"strings"
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/kernel"
	"github.com/railyard/railyard/shaping"
)

// through is a plan in which rank 0 sends n chunks to a switch's block of its
// own, which hands them to the last rank.
func through(u collective.Unit, ranks, n int) *collective.Plan {
	blocks := make([][]collective.Block, ranks)
	cast := make([]collective.Step, n)
	for i := range cast {
		cast[i] = collective.Step{Kind: collective.Forward, Src: collective.Ref{Index: i}, Recv: 1, Send: 1}
	}
	blocks[0] = []collective.Block{
		{SendTo: []int{0}, ToUnits: []collective.Unit{u}, Steps: sends(n)},
		{Unit: u, RecvFrom: []int{0}, SendTo: []int{ranks - 1}, Steps: cast},
	}
	blocks[ranks-1] = append(blocks[ranks-1],
		collective.Block{RecvFrom: []int{0}, FromUnits: []collective.Unit{u}, Steps: recvs(n)})
	return plan(collective.Plan{Chunks: n, SHARP: u == collective.SHARP}, blocks...)
}

// A switch's engine is one for all channels, and it, not the SM, decides how fast
// a long row of chunks gets through: SHARP at 40 GB/s of results where the NIC
// has 49, of which 95 % are data.
func TestSwitchesHaveEngines(t *testing.T) {
	r := newRig(t, servers(2, 1))
	const n, chunk = 64, 256 << 10
	r.play(through(collective.SHARP, 2, n), n*chunk/4)
	cast := r.steps(0, 1)
	if len(cast) != n {
		t.Fatalf("%d forwards, want %d", len(cast), n)
	}
	const each = chunk * 1000 / 40 // ps at 40 GB/s
	for i, x := range cast {
		if x.Duration != each || r.fabric.PortName(x.Port) != "fabric/rail0/sharp0" {
			t.Fatalf("forward %d takes %d ps on %s, want %d on the tree", i, int64(x.Duration), r.fabric.PortName(x.Port), each)
		}
		if i > 0 && x.Start < end(cast[i-1]) {
			t.Fatalf("forward %d begins at %d ps, within the one before", i, int64(x.Start))
		}
	}
}

// What enters or leaves a switch's engine crosses the ports of the GPUs at either
// end, and nothing else of the rank that the block belongs to.
func TestSwitchBlocksUseNoPortsOfTheirRank(t *testing.T) {
	r := newRig(t, servers(1, 3))
	p := plan(collective.Plan{Chunks: 1},
		[]collective.Block{{SendTo: []int{1}, ToUnits: []collective.Unit{collective.NVSwitch}, Steps: sends(1)}},
		[]collective.Block{{Unit: collective.NVSwitch, RecvFrom: []int{0}, SendTo: []int{2},
			Steps: []collective.Step{{Kind: collective.Forward, Recv: 1, Send: 1}}}},
		[]collective.Block{{RecvFrom: []int{1}, FromUnits: []collective.Unit{collective.NVSwitch}, Steps: recvs(1)}})
	r.play(p, 1<<10)
	for port, want := range map[string]int{"node0/gpu0/nvlink-out": 1, "node0/gpu2/nvlink-in": 1,
		"node0/gpu1/nvlink-in": 0, "node0/gpu1/nvlink-out": 0, "node0/gpu0/nvlink-in": 0} {
		if got := len(r.carried(port)); got != want {
			t.Errorf("%s carried %d frames, want %d", port, got, want)
		}
	}
	if at := r.fabric.PortName(r.steps(1, 0)[0].Port); at != "node0/nvswitch/reduce" {
		t.Errorf("the switch's step is on %s", at)
	}
}

// Who waits in a switch, or for one, is named so.
func TestStuckSwitchesAreNamed(t *testing.T) {
	r := newRig(t, servers(1, 2))
	p := plan(collective.Plan{Chunks: 1},
		[]collective.Block{
			{RecvFrom: []int{1}, SendTo: []int{0}, ToUnits: []collective.Unit{collective.Multicast},
				Steps: append(recvs(1), sends(1)...)},
			{Unit: collective.Multicast, RecvFrom: []int{0}, SendTo: []int{1},
				Steps: []collective.Step{{Kind: collective.Forward, Recv: 1, Send: 1}}},
		},
		[]collective.Block{{RecvFrom: []int{0}, FromUnits: []collective.Unit{collective.Multicast}, SendTo: []int{0},
			Steps: append(recvs(1), sends(1)...)}})
	r.play(p, 64)
	var got []string
	for _, s := range r.kernel.Stuck() {
		got = append(got, s.Who()+" waits for "+s.Waits+" of "+s.Whom())
	}
	want := "rank 0 waits for data of rank 1; rank 0's Multicast waits for data of rank 0; rank 1 waits for data of rank 0's Multicast"
	if text := strings.Join(got, "; "); text != want {
		t.Errorf("%s\nwant %s", text, want)
	}
}

// A switch that is not there, or not between the two, is the user's error.
func TestUnjoinedSwitchesAreRefused(t *testing.T) {
	for _, tc := range []struct {
		link string
		unit collective.Unit
		want string
	}{
		{"ndr", collective.NVSwitch, "plan test: rank 0 sends to rank 1 on channel 0: GPU 1 of node 1 is not behind the NVSwitch of node 0"},
		{"edr", collective.SHARP, "plan test: rank 0 sends to rank 0 on channel 0: the switches of a rail-optimized fabric of edr do not reduce (SHARP)"},
	} {
		c := servers(2, 1)
		c.Fabric.Link = tc.link
		f := build(t, c)
		run := emu.Run{Plan: through(tc.unit, 2, 1), Comm: f.All(), Count: 4, Iterations: 1}
		_, err := kernel.Lay(f, emu.Batch{Runs: []emu.Run{run}}, func(int) bool { return true })
		if err == nil || err.Error() != tc.want {
			t.Errorf("%s on %s: %v, want %s", tc.unit, tc.link, err, tc.want)
		}
	}
}

// A frame for a switch's block comes to the end of its way or not at all, and
// only where the block is.
func TestHeadersForSwitchesAreChecked(t *testing.T) {
	s := newSpread(t, servers(2, 1), []int{0, 1})
	s.begin(emu.Batch{Runs: []emu.Run{allReduce("collnetchain", one, []int{0, 1}, 4096)}})
	seen := 0
	s.emitted = func(from int, e *kernel.Emission) {
		if e.Credit || e.Header.To != 0 || from != 1 {
			return
		}
		seen++
		at := e.At
		for bad := range int32(6) {
			h := e.Header
			h.At = bad
			if err := s.kernels[0].Check(&h); (err == nil) != (bad == at) {
				t.Errorf("for port %d of its way, where it is to enter at %d: %v", bad, at, err)
			}
		}
		if err := s.kernels[1].Check(&e.Header); err == nil {
			t.Error("the kernel that sent it would take it")
		}
	}
	s.run()
	if seen == 0 {
		t.Fatal("rank 1 sent nothing to the switch")
	}
}

// In a batch with blocks in the fabric's switches what a message may cause comes
// sooner by one NIC's latency; in other batches windows are as long as before.
func TestOnlySHARPShortensWindows(t *testing.T) {
	induced := func(algorithm string) shaping.Duration {
		s := newSpread(t, servers(2, 1), []int{0, 1})
		s.begin(emu.Batch{Runs: []emu.Run{allReduce(algorithm, one, []int{0, 1}, 4096), allReduce("ring", one, []int{0, 1}, 4096)}})
		least := shaping.Duration(shaping.Never)
		s.emitted = func(_ int, e *kernel.Emission) {
			if e.Run == 1 && !e.Credit {
				least = min(least, e.Induced.Sub(e.Tail))
			}
		}
		s.run()
		return least
	}
	ring, tree, sharp := induced("ring"), induced("tree"), induced("collnetdirect")
	if nic := 745 * ns; tree != ring || ring-sharp != nic {
		t.Errorf("a message may cause something after %v beside a ring, %v beside a tree, %v beside CollNet: want one NIC's %v less", ring, tree, sharp, nic)
	}
}
