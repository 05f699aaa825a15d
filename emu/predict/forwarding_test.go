package predict_test

import (
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/predict"
)

// fileOf builds the cluster of a cluster file, of which nodes and fabric are given.
func fileOf(t *testing.T, nodes, joined string) *fabric.Fabric {
	t.Helper()
	c, err := emu.ParseCluster("report.yaml", []byte("apiVersion: railyard/v1alpha1\nkind: Cluster\nspec:\n  nodes:\n    - {"+nodes+"}\n  fabric: {"+joined+"}\n"))
	if err != nil {
		t.Fatal(err)
	}
	return built(t, c)
}

// Report 19: an all-to-all of 32 GPUs on a rail fabric. Where the spine is free,
// sending by one's own NIC is as good as forwarding to the GPU on the right rail,
// or better, by a hop: round by round (pairwise) that shows, all at once (direct)
// it hides behind the NICs, but for some 24 µs in which what begins at one time
// meets at its receivers. Where the spine is oversubscribed 4:1, forwarding wins,
// since what is forwarded never sees it. A fixed ranking would be wrong.
func TestForwardingPaysWhereTheSpineIsNarrow(t *testing.T) {
	took := func(fabric, algorithm string) int64 {
		f := fileOf(t, "count: 4, system: dgx-h100", fabric)
		return int64(period(t, f, collective.AllToAll, algorithm, collective.Options{Channels: 16}, 128<<20))
	}
	const free, narrow, off = "kind: rail-optimized, unit: 4", "kind: rail-optimized, unit: 4, oversubscription: 4", ", pxn: false"
	for algorithm, most := range map[string]int64{"pairwise": 97, "direct": 102} { // order: does not matter
		forwarded, own := took(free, algorithm), took(free+off, algorithm)
		narrowForwarded, narrowOwn := took(narrow, algorithm), took(narrow+off, algorithm)
		t.Logf("%s: forwarded %d, by own NICs %d ns; at 4:1 %d, %d ns", algorithm, forwarded/1000, own/1000, narrowForwarded/1000, narrowOwn/1000)
		if own*100 > forwarded*most {
			t.Errorf("%s with a free spine: own NICs take %d ps, want at most %d %% of %d", algorithm, own, most, forwarded)
		}
		if narrowForwarded != forwarded {
			t.Errorf("%s: forwarded messages meet the spine: %d ps at 4:1, %d at 1:1", algorithm, narrowForwarded, forwarded)
		}
		if narrowOwn*100 < narrowForwarded*150 {
			t.Errorf("%s at 4:1: own NICs take %d ps, forwarding %d; want half as much again at least", algorithm, narrowOwn, narrowForwarded)
		}
	}
}

// Report 25: two servers with slow NVLink, whose four NICs sit next to pairs of
// GPUs, and a job on GPUs 0, 2, 4 and 6 of each. A ring that leaves by the NIC it
// came by is bound by NVLink, which carries one more hop to get there; one that
// leaves by another NIC has the NICs' full rate. With all eight GPUs there are some
// that no ring ends at, so crossing gains nothing. On rails that nothing joins it
// is refused, and by default not done.
func TestCrossingRails(t *testing.T) {
	bus := func(comm []int, crossing string) int64 {
		f := fileOf(t, "count: 2, system: h800, nics: 4", "kind: fat-tree, link: ndr"+crossing)
		if comm == nil {
			comm = f.All()
		}
		run := allReduce(f, "ring", collective.Options{Channels: 16, Slices: 1}, 256<<20)
		run.Comm = comm
		out := execute(t, predict.New(f, false), run)
		return busbw(256<<20, len(comm), out.Period(0, &run, 0))
	}
	even := []int{0, 2, 4, 6, 8, 10, 12, 14}
	never, always, best := bus(even, ", crossNic: 0"), bus(even, ", crossNic: 1"), bus(even, "")
	all, allBest := bus(nil, ", crossNic: 0"), bus(nil, "")
	t.Logf("GPUs 0,2,4,6: %d MB/s on one rail (159 GB/s are reported), %d crossing, %d by default; all: %d, %d", never, always, best, all, allBest)
	if never < 151_000 || never > 170_000 {
		t.Errorf("%d MB/s with crossing off; the report has 159 GB/s", never)
	}
	nics := int64(4 * 49_000 * 950 / 1000)
	for _, got := range []int64{always, best} {
		if got*100 < nics*95 || got > nics {
			t.Errorf("%d MB/s with crossing; four NICs carry %d", got, nics)
		}
	}
	if all != allBest {
		t.Errorf("all GPUs: %d MB/s, by default %d; nothing is gained by crossing", all, allBest)
	}
	f := fileOf(t, "count: 2, system: h800, nics: 4", "kind: rail-only, link: ndr")
	if got := f.Shape(even).Cross; got != collective.KeepRail {
		t.Errorf("on isolated rails the default crosses: %d", got)
	}
	if _, err := fabric.New(emu.Cluster{Groups: []emu.Group{{Count: 2, System: "h800", NICs: 4}}, Fabric: emu.Fabric{Kind: "rail-only", CrossNIC: emu.CrossAlways}}); err == nil {
		t.Error("crossing isolated rails is not refused")
	}
}
