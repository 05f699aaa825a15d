package tuner

import (
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/shaping"
)

// The formulas of the published model, worked out by hand for 4 × 8 GPUs.
func TestEstimatesByHand(t *testing.T) {
	c := Communicator{Ranks: 32, Nodes: 4, NICs: 8, Channels: 16}
	for _, tc := range []struct {
		algorithm string
		protocol  collective.Protocol
		bytes     shaping.Bytes
		want      shaping.Duration
	}{
		// 6.6 + 56 × max(0.6, 1.0) + 6 × 2.7 = 78.8 µs, and no bytes.
		{"ring", collective.LL, 0, 78800 * shaping.Nanosecond},
		// 8.4 + 56 × 3.4 + 6 × 14 = 282.8 µs
		{"ring", collective.Simple, 0, 282800 * shaping.Nanosecond},
		// 6.8 + 2 × (7 × 0.6 + 2 × 5) = 35.2 µs
		{"tree", collective.LL, 0, 35200 * shaping.Nanosecond},
		// 8.4 + 2 × (7 × 4 + 2 × 14) = 120.4 µs
		{"tree", collective.Simple, 0, 120400 * shaping.Nanosecond},
		// 282.8 × 1.4 µs + 1 GiB × 62/32 at 360 GB/s
		{"ring", collective.Simple, shaping.GiB, 395_920*shaping.Nanosecond + (360*shaping.GBps).Time(shaping.GiB)*62/32},
	} {
		got := find(t, Estimates(collective.AllReduce, c, tc.bytes), tc.algorithm, tc.protocol)
		if got != tc.want {
			t.Errorf("%s %s %d B: %d ps, want %d", tc.algorithm, tc.protocol, tc.bytes, got, tc.want)
		}
	}
}

func find(t *testing.T, all []Estimate, algorithm string, p collective.Protocol) shaping.Duration {
	t.Helper()
	for _, e := range all {
		if e.Algorithm == algorithm && e.Protocol == p {
			return e.Time
		}
	}
	t.Fatalf("no estimate for %s %s", algorithm, p)
	return 0
}

func TestChoiceCrossesOver(t *testing.T) {
	c := Communicator{Ranks: 32, Nodes: 4, NICs: 8, Channels: 16}
	any := func(Estimate) bool { return true }
	for _, tc := range []struct {
		bytes shaping.Bytes
		want  string
	}{{16, "tree ll"}, {shaping.GiB, "ring simple"}} {
		e, ok := Choose(Estimates(collective.AllReduce, c, tc.bytes), any)
		if got := e.Algorithm + " " + e.Protocol.String(); !ok || got != tc.want {
			t.Errorf("%d B: %s, want %s", tc.bytes, got, tc.want)
		}
	}
	if _, ok := Choose(nil, any); ok {
		t.Error("a choice from nothing")
	}
}

func TestChannelsFollowSize(t *testing.T) {
	c := Communicator{Ranks: 32, Nodes: 4, NICs: 8, Channels: 16}
	for _, tc := range []struct {
		algorithm string
		protocol  collective.Protocol
		bytes     int64
		want      int
	}{
		{"ring", collective.LL, 16, 1},
		{"ring", collective.LL, 4 * 128 << 10, 4}, // 512 threads × 8 B × 32 ranks = 128 KiB a channel
		{"ring", collective.Simple, 1 << 30, 16},
		{"tree", collective.Simple, 3 * 32 << 10, 3}, // 512 × 64 B = 32 KiB
	} {
		if got := c.Worth(tc.algorithm, tc.protocol, tc.bytes); got != tc.want {
			t.Errorf("%s %s %d B: %d channels, want %d", tc.algorithm, tc.protocol, tc.bytes, got, tc.want)
		}
	}
}
