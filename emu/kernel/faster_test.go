package kernel_test

import (
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/shaping"
)

// flows are shapes of one flow that nothing contends with.
var flows = []struct {
	plan  collective.Plan
	steps int
	count int64
}{
	{collective.Plan{}, 1, 1},
	{collective.Plan{}, 3, 100_000},
	{collective.Plan{}, 20, 777_777},
	{collective.Plan{ChunkSteps: 4, SliceSteps: 1}, 5, 1 << 20},
	{collective.Plan{ChunkSteps: 4, SliceSteps: 2, Slots: 4}, 9, 3<<20 + 1},
	{collective.Plan{Protocol: collective.LL}, 1, 3},
	{collective.Plan{Protocol: collective.LL}, 20, 50_001},
	{collective.Plan{Protocol: collective.LL, Slots: 1}, 6, 9000},
}

// A faster link never makes an uncontended flow slower. With contention it may:
// who comes first decides, and there is no telling.
func TestFasterLinkIsNeverSlower(t *testing.T) {
	for i, f := range flows {
		before, name := shaping.Never, ""
		for _, link := range []string{"edr", "hdr", "ndr", "xdr"} {
			c := servers(2, 1)
			c.Fabric.Link = link
			r := newRig(t, c)
			r.play(flow(f.plan, f.steps), f.count)
			if got := r.last(0); got > before {
				t.Errorf("flow %d: %d ps over %s, %d over %s", i, got, link, before, name)
			} else {
				before, name = got, link
			}
		}
	}
}

// Nor does any faster port on its way, inside a node or between two; but for
// rounding: where a frame comes in faster than it goes out it is booked in
// pieces of 64 KiB, each rounded up to a picosecond.
func TestFasterPortIsNeverSlower(t *testing.T) {
	for _, c := range []emu.Cluster{servers(1, 2), servers(2, 1), twoByTwo(), {
		Groups: []emu.Group{{Count: 1, System: "dgx-h100", GPUs: 1}, {Count: 1, System: "dgx-h100", GPUs: 1}},
		Fabric: emu.Fabric{Oversubscription: 3},
	}} {
		for i, f := range flows {
			slow := newRig(t, c)
			slow.play(flow(f.plan, f.steps), f.count)
			used := slow.kernel.Ports()
			if len(used) < 2 {
				t.Fatalf("flow %d crosses %d ports", i, len(used))
			}
			for _, u := range used {
				quick := build(t, c)
				quick.SetRate(u.Port, 3*quick.Port(u.Port).Rate)
				fast := newRigOn(t, quick)
				fast.play(flow(f.plan, f.steps), f.count)
				rounding := shaping.Duration(u.Bytes/(64*shaping.KiB)) + shaping.Duration(f.steps)*8
				if a, b := slow.last(0), fast.last(0); b > a.Add(rounding) {
					t.Errorf("flow %d: %d ps, and %d when %s is three times as fast", i, a, b, fast.fabric.PortName(u.Port))
				}
			}
		}
	}
}
