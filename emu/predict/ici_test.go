package predict_test

import (
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/catalog"
	"github.com/railyard/railyard/emu/predict"
	"github.com/railyard/railyard/shaping"
)

// tpuKnown is what the catalog says of hosts of TPU v4.
func tpuKnown(t *testing.T) emu.Known {
	t.Helper()
	s, err := catalog.LookupSystem("tpu-v4")
	if err != nil {
		t.Fatal(err)
	}
	return emu.Known{Systems: []emu.KnownSystem{{Name: s.Name, GPUs: s.GPUs, NICs: s.NICs, Kind: s.Fabric, Link: s.Link, Pod: emu.Pod{Chips: s.Board.ICI.Chips, Slice: s.Board.ICI.Slice}}}}
}

// sliceOf returns a cluster of one slice of TPU v4.
func sliceOf(hosts int, s emu.Slice) emu.Cluster {
	return emu.Cluster{Groups: []emu.Group{{Count: hosts, System: "tpu-v4", Slice: s}}}
}

const gatherBytes = 128 << 20

// gather returns what an all_gather by rings over all chips takes.
func gather(t *testing.T, c emu.Cluster) (shaping.Duration, int) {
	t.Helper()
	f := built(t, c)
	run := emu.Run{Op: collective.AllGather, Algorithm: "ring", Options: collective.Options{Channels: f.System(0).SM.Channels}, Comm: f.All(),
		Count: gatherBytes / 4 / int64(f.GPUs()), Iterations: 1}
	out := execute(t, predict.New(f, false), run)
	return out.Period(0, &run, 0), f.GPUs()
}

// atLinks returns the time of an all_gather whose n−1 parts come to each chip by so
// many of its links, all busy all the time.
func atLinks(t *testing.T, system string, chips, links int) shaping.Duration {
	t.Helper()
	s, err := catalog.LookupSystem(system)
	if err != nil {
		t.Fatal(err)
	}
	rate := (s.NVLink.Wire / shaping.Rate(s.NVLink.Links) * shaping.Rate(links)).Permille(s.NVLink.Usable).Permille(catalog.Efficiency(collective.Simple))
	return rate.Time(gatherBytes / shaping.Bytes(chips) * shaping.Bytes(chips-1))
}

// near reports whether a time is a bound or up to so many ‰ more: rings have to
// begin and to end.
func near(got, bound shaping.Duration, most int64) bool {
	return got >= bound && got <= bound+bound*shaping.Duration(most)/1000
}

// TestRingsOverICI: an all_gather fills as many links of every chip as rings find,
// six on a torus, within 4 %.
func TestRingsOverICI(t *testing.T) {
	for _, tc := range []struct {
		system string
		hosts  int
		s      emu.Slice
		links  int
	}{
		{"tpu-v4", 1, emu.Slice{}, 2},  // 2×2×1
		{"tpu-v4", 2, emu.Slice{}, 2},  // 2×2×2: three links a chip
		{"tpu-v4", 8, emu.Slice{}, 2},  // 2×4×4: three at the corners
		{"tpu-v4", 16, emu.Slice{}, 6}, // 4×4×4
		{"tpu-v5p", 16, emu.Slice{}, 6},
		{"tpu-ironwood", 16, emu.Slice{}, 6},
		{"tpu-v4", 16, emu.Slice{Wrap: "xy"}, 4},
		{"tpu-v4", 16, emu.Slice{Wrap: "x"}, 4},
		{"tpu-v4", 16, emu.Slice{Wrap: "none"}, 2},
	} {
		c := sliceOf(tc.hosts, tc.s)
		c.Groups[0].System = tc.system
		took, chips := gather(t, c)
		want := atLinks(t, tc.system, chips, tc.links)
		t.Logf("%s, %d chips: %v, %d links carry it in %v", tc.system, chips, took, tc.links, want)
		if !near(took, want, 40) {
			t.Errorf("%s, %d hosts, %+v: %v, want %v for %d links", tc.system, tc.hosts, tc.s, took, want, tc.links)
		}
	}
}

// TestRewiring switches circuits between runs. A circuit goes dark: rings avoid its
// dimension, and four links of six carry what six did. A spare cube takes the place
// of the one at whose face it was: all is as before, to the picosecond. With
// dimension z opened instead, four links again; with no circuits at all, two.
func TestRewiring(t *testing.T) {
	known := tpuKnown(t)
	whole := sliceOf(32, emu.Slice{Torus: []int{4, 4, 8}})
	dark := sliceOf(32, emu.Slice{Torus: []int{4, 4, 8}, Dark: []string{"z9@1"}})
	rewired := func(c emu.Cluster, r emu.Rewiring) emu.Cluster {
		t.Helper()
		to, err := c.Rewired(r, known)
		if err != nil {
			t.Fatal(err)
		}
		return to
	}
	took := func(c emu.Cluster) shaping.Duration { d, _ := gather(t, c); return d }
	six, four := took(whole), took(dark)
	healed := took(rewired(dark, emu.Rewiring{Replace: []emu.Replacement{{Cube: 1, By: 40}}}))
	row, mesh := took(rewired(whole, emu.Rewiring{Wrap: "xy"})), took(rewired(whole, emu.Rewiring{Wrap: "none"}))
	t.Logf("%v; a circuit dark %v, its cube replaced %v; z open %v, no circuits %v", six, four, healed, row, mesh)
	if healed != six {
		t.Errorf("with a spare cube %v, with the first one %v", healed, six)
	}
	for _, tc := range []struct {
		name  string
		took  shaping.Duration
		links int
	}{{"all circuits", six, 6}, {"one dark", four, 4}, {"z open", row, 4}, {"no wrap", mesh, 2}} {
		if want := atLinks(t, "tpu-v4", 128, tc.links); !near(tc.took, want, 40) {
			t.Errorf("%s: %v, want %v for %d links", tc.name, tc.took, want, tc.links)
		}
	}
	less, chips := gather(t, rewired(dark, emu.Rewiring{Torus: []int{4, 4, 4}}))
	if want := atLinks(t, "tpu-v4", 64, 6); chips != 64 || !near(less, want, 40) {
		t.Errorf("without the dark cube: %d chips, %v, want 64, %v", chips, less, want)
	}
}

// TestSharedLinksOfATorus: chips that send through one link share it. Along a row
// of eight all to the last, the link before it carries seven messages.
func TestSharedLinksOfATorus(t *testing.T) {
	c := sliceOf(8, emu.Slice{Torus: []int{8, 2, 2}, Wrap: "none"})
	f := built(t, c)
	const bytes = 16 << 20
	// Chips with y = z = 0: the first two of hosts 0 to 3.
	comm := []int{0, 1, 4, 5, 8, 9, 12, 13}
	run := emu.Run{Op: collective.Gather, Algorithm: "direct", Options: collective.Options{Channels: 1, Root: 7}, Comm: comm,
		Count: bytes / 4, Iterations: 1}
	out := execute(t, predict.New(f, false), run)
	took := out.Period(0, &run, 0)
	want := f.Port(f.Route(0, 1, 0, collective.Simple).Wire.Ports[1]).Rate.Permille(catalog.Efficiency(collective.Simple)).Time(7 * bytes)
	t.Logf("%v, the last link carries it in %v", took, want)
	if !near(took, want, 50) {
		t.Errorf("%v, want %v", took, want)
	}
}
