package predict_test

import (
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/predict"
)

// TestCloudsReachWhatIsMeasured holds instances of clouds against public tables of
// two servers: in MB/s of bus bandwidth what long messages reach, in µs what 8 B
// take.
func TestCloudsReachWhatIsMeasured(t *testing.T) {
	for _, tc := range []struct {
		system, algorithm string
		op                collective.Op
		protocol          collective.Protocol
		bytes, measured   int64
		percent           int64
	}{
		{"aws-p4d", "ring", collective.AllReduce, collective.Simple, 1 << 30, 42_480, 8},
		{"aws-p5", "nvlstree", collective.AllReduce, collective.Simple, 4 << 30, 465_870, 10},
		{"gcp-a3-mega", "ring", collective.AllGather, collective.Simple, 4 << 30, 187_890, 3},
		{"aws-p4d", "tree", collective.AllReduce, collective.Simple, 8, 177, 5},
		{"aws-p5", "tree", collective.AllReduce, collective.LL, 8, 69, 5},
	} {
		f := built(t, emu.Cluster{Groups: []emu.Group{some(2, tc.system)}})
		in, out := tc.op.Parts(f.GPUs())
		run := emu.Run{Op: tc.op, Algorithm: tc.algorithm, Comm: f.All(), Count: tc.bytes / 4 / int64(max(in, out)), Iterations: 2,
			Options: collective.Options{Channels: f.System(0).SM.Channels, Protocol: tc.protocol, BufferBytes: 8 << 20}}
		if tc.bytes == 8 {
			run.Options.Channels, run.Options.BufferBytes = 1, 0
		}
		ended := execute(t, predict.New(f, false), run)
		took := ended.Period(0, &run, 1)
		got := int64(took) / 1_000_000
		if tc.bytes > 8 {
			got = algbw(tc.bytes, took) * int64(f.GPUs()-1) / int64(f.GPUs())
			if tc.op == collective.AllReduce {
				got *= 2
			}
		}
		off := (got - tc.measured) * 1000 / tc.measured
		t.Logf("%s %s, %d B: %d, measured are %d: %+d ‰", tc.system, tc.op, tc.bytes, got, tc.measured, off)
		if max(off, -off) > tc.percent*10 {
			t.Errorf("%s %s, %d B: %d, measured are %d", tc.system, tc.op, tc.bytes, got, tc.measured)
		}
	}
}

// TestCloudsAreNotDGX: what a ring between two instances reaches is what their NICs
// carry, 95 % of it data, where a DGX with the same GPUs has others: half as many,
// of half the rate, in P4d; a quarter of the bandwidth in A3 High; P5's four EFA
// cards a GPU carry what one NDR does but for headers.
func TestCloudsAreNotDGX(t *testing.T) {
	long := func(system string) int64 {
		const bytes = 1 << 30
		f := built(t, emu.Cluster{Groups: []emu.Group{some(2, system)}})
		return busbw(bytes, f.GPUs(), period(t, f, collective.AllReduce, "ring", collective.Options{Channels: f.System(0).SM.Channels, BufferBytes: 8 << 20}, bytes))
	}
	for _, tc := range []struct {
		system, bare string
		nics         int64 // MB/s that all of a server's carry
		least, most  int64 // % of the bare server's
	}{
		{"aws-p4d", "dgx-a100", 4 * 12_000, 20, 28}, {"aws-p5", "dgx-h100", 8 * 48_000, 94, 104},
		{"gcp-a3-high", "dgx-h100", 4 * 21_250, 20, 26}, {"gcp-a3-mega", "dgx-h100", 8 * 24_825, 45, 56}, {"gcp-a4", "dgx-b200", 8 * 48_000, 94, 100},
	} {
		cloud, bare := long(tc.system), long(tc.bare)
		t.Logf("%s %d MB/s, %s %d", tc.system, cloud, tc.bare, bare)
		if carried := tc.nics * 950 / 1000; cloud > carried || cloud*100 < carried*93 {
			t.Errorf("%s: %d MB/s, its NICs carry %d", tc.system, cloud, carried)
		}
		if share := cloud * 100 / bare; share < tc.least || share > tc.most {
			t.Errorf("%s: %d MB/s, %d %% of %s, want %d to %d", tc.system, cloud, share, tc.bare, tc.least, tc.most)
		}
	}
}
