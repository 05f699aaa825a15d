package predict_test

import (
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/predict"
	"github.com/railyard/railyard/shaping"
)

// period runs an operation several times and returns the time of one iteration.
// bytes are those of the larger buffer.
func period(t *testing.T, f *fabric.Fabric, op collective.Op, algorithm string, o collective.Options, bytes int64) shaping.Duration {
	t.Helper()
	in, out := op.Parts(f.GPUs())
	run := emu.Run{Op: op, Algorithm: algorithm, Options: o, Comm: f.All(), Count: bytes / 4 / int64(max(in, out)), Iterations: 3}
	ended := execute(t, predict.New(f, false), run)
	return ended.Period(0, &run, 1)
}

// Of what a rank sends in an all-to-all, (n−g)/n leaves its node: busbw cannot
// be more than n−1 over n−g of the NIC bandwidth a rank has, N/(N−1) of it for
// many. Direct and pairwise come near; so does the two-step form, for which
// nothing crosses twice.
func TestAllToAllIsBoundByTheNICs(t *testing.T) {
	for _, nodes := range []int{2, 4} {
		f := servers(t, nodes, 8)
		n, nic := int64(f.GPUs()), int64(f.Port(f.NICEgress(0, 0)).Rate)/1_000_000 // MB/s; one a rank
		bound := nic * (n - 1) / (n - 8)
		for _, tc := range []struct {
			algorithm string
			op        collective.Op
			least     int64 // per cent of the bound
		}{
			{"direct", collective.AllToAll, 80}, {"pairwise", collective.AllToAll, 30}, {"hierarchical", collective.AllToAll, 60},
		} {
			const bytes = 64 << 20
			took := period(t, f, tc.op, tc.algorithm, collective.Options{Channels: 16}, bytes)
			bus := algbw(bytes, took) * (n - 1) / n
			t.Logf("%d × 8, %s %v: busbw %d MB/s of %d", nodes, tc.algorithm, tc.op, bus, bound)
			if bus > bound || bus < bound*tc.least/100 {
				t.Errorf("%d × 8, %s %v: busbw %d MB/s, want from %d %% of %d up to that", nodes, tc.algorithm, tc.op, bus, tc.least, bound)
			}
		}
	}
}

// A direct all-reduce on a switch sends as much as a ring: neither beats
// 2(n−1)/n × S over the rate of a rank's port. What direct has is fewer steps,
// which short messages show. (A simulator that counts a port once for each peer
// has it twice as fast.)
func TestDirectWinsByLatencyOnly(t *testing.T) {
	f := servers(t, 1, 8)
	port := f.Port(0)
	if port.Name != "node0/gpu0/nvlink-out" {
		t.Fatalf("port 0 is %s", port.Name)
	}
	const bytes = 100 << 20
	least := port.Rate.Time(shaping.Bytes(bytes * 2 * 7 / 8))
	for _, algorithm := range []string{"direct", "ring"} {
		took := period(t, f, collective.AllReduce, algorithm, collective.Options{Channels: 16}, bytes)
		t.Logf("%s: %d MiB in %d ps; the port alone needs %d", algorithm, bytes>>20, took, least)
		if took < least || took > 2*least {
			t.Errorf("%s: %d MiB in %d ps; the port alone needs %d", algorithm, bytes>>20, took, least)
		}
	}
	o := collective.Options{Channels: 2, Protocol: collective.LL}
	direct, ring := period(t, f, collective.AllReduce, "direct", o, 4096), period(t, f, collective.AllReduce, "ring", o, 4096)
	t.Logf("4 KiB: direct %d ps, ring %d ps", direct, ring)
	if direct*2 > ring {
		t.Errorf("4 KiB: direct %d ps, ring %d ps; two steps against 14", direct, ring)
	}
}

// What hierarchical has over a ring is fewer steps between nodes, at the same
// bytes on every NIC.
func TestHierarchicalTakesFewerSteps(t *testing.T) {
	f := servers(t, 4, 8)
	o := collective.Options{Channels: 8, Protocol: collective.LL}
	deep, flat := period(t, f, collective.AllReduce, "hierarchical", o, 4096), period(t, f, collective.AllReduce, "ring", o, 4096)
	t.Logf("4 KiB: hierarchical %d ps, ring %d ps", deep, flat)
	if deep*2 > flat {
		t.Errorf("4 KiB: hierarchical %d ps, ring %d ps; 8 steps against 62", deep, flat)
	}
	nic := f.Port(f.NICEgress(0, 0)).Rate
	const bytes = 64 << 20
	took := period(t, f, collective.AllReduce, "hierarchical", collective.Options{Channels: 16}, bytes)
	least := nic.Time(shaping.Bytes(bytes * 2 * 3 / 4 / 8)) // each of 8 NICs
	t.Logf("64 MiB: hierarchical %d ps; the NICs alone need %d", took, least)
	if took < least || took > 3*least {
		t.Errorf("64 MiB: %d ps; the NICs alone need %d", took, least)
	}
}

// An all-to-all between servers keeps every NIC busy alike: a message leaves by
// the rail of its receiver.
func TestDirectSpreadsOverRails(t *testing.T) {
	f := servers(t, 2, 8)
	s := predict.New(f, false)
	run := emu.Run{Op: collective.AllToAll, Algorithm: "direct", Options: collective.Options{Channels: 8}, Comm: f.All(), Count: 1 << 18, Iterations: 1}
	execute(t, s, run)
	busy := map[fabric.PortID]shaping.Duration{}
	for _, u := range s.Kernel().Ports() {
		busy[u.Port] = u.Busy
	}
	first := busy[f.NICEgress(0, 0)]
	for node := range 2 {
		for nic := range 8 {
			if got := busy[f.NICEgress(node, nic)]; got != first || got == 0 {
				t.Errorf("NIC %d of node %d sends for %d ps, NIC 0 of node 0 for %d", nic, node, got, first)
			}
		}
	}
}
