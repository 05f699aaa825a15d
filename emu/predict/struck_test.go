package predict_test

import (
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fault"
	"github.com/railyard/railyard/emu/predict"
	"github.com/railyard/railyard/shaping"
)

// struck runs a ring all-reduce over a cluster that faults strike from its start,
// and returns how long it took.
func struck(t *testing.T, c emu.Cluster, faults ...emu.Fault) shaping.Time {
	t.Helper()
	f, err := fault.Fabric(c, faults)
	if err != nil {
		t.Fatal(err)
	}
	s, err := fault.Compile(f, faults, 1, shaping.Second)
	if err != nil {
		t.Fatal(err)
	}
	out, err := predict.NewFaulty(f, false, s, emu.DefaultResilience()).Execute(emu.Batch{Runs: []emu.Run{{Op: collective.AllReduce, Algorithm: "ring",
		Options: collective.Options{Channels: 24}, Comm: f.All(), Count: 64 << 20, Iterations: 1}}})
	if err != nil || out.Failure != nil {
		t.Fatalf("%v %+v", err, out.Failure)
	}
	return last(out, 1)[0]
}

// TestFaultsCostTheirShare: where a part is the limit, a ring takes longer by what
// the part has lost; where it is not, a fault on it costs nothing.
func TestFaultsCostTheirShare(t *testing.T) {
	server := emu.Cluster{Groups: []emu.Group{{Count: 1, System: "dgx-h100"}}}
	pair := emu.Cluster{Groups: []emu.Group{{Count: 2, System: "dgx-h100", GPUs: 1}}}
	tree := emu.Cluster{Groups: []emu.Group{{Count: 20, System: "dgx-h100", GPUs: 1}},
		Fabric: emu.Fabric{Kind: "fat-tree", Routing: "adaptive", HostsPerSwitch: 1}}
	for _, tc := range []struct {
		name  string
		c     emu.Cluster
		fault emu.Fault
		// The time grows by num/den, to a hundredth of it, but for what the links idle
		// in so many fences.
		num, den, fences int64
	}{
		{"one of 18 NVLinks", server, emu.Fault{Type: "nvlink-down", Target: "gpu3"}, 18, 17, 28},
		{"one of 4 NVSwitches, with 4 of 18 links", server, emu.Fault{Type: "nvswitch-down", Target: "node0/nvswitch0"}, 18, 14, 28},
		{"half of a rail", pair, emu.Fault{Type: "congestion", Target: "node0/nic0"}, 2, 1, 0},
		{"a GPU's slot that NICs do not fill", server, emu.Fault{Type: "pcie-degraded", Target: "gpu3", Gen: 4}, 1, 1, 0},
		{"half of the links up", tree, emu.Fault{Type: "rate", Target: "link:leaf0-spine0", Share: fault.Whole / 2}, 2, 1, 0},
	} {
		sound, got := struck(t, tc.c), struck(t, tc.c, tc.fault)
		idle := tc.fences * int64(3400*shaping.Nanosecond)
		if want := (int64(sound)-idle)*tc.num/tc.den + idle; int64(got) < want*99/100 || int64(got) > want*101/100 {
			t.Errorf("%s: %v, sound %v, want %v", tc.name, got, sound, shaping.Time(want))
		}
	}
}
