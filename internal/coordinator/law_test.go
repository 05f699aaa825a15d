package coordinator

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/sweep"
	"github.com/railyard/railyard/internal/nodesim"
	"github.com/railyard/railyard/shaping"
)

// eight returns a cluster of eight small nodes, in one group or in two that
// share uplinks of a quarter of what their NICs can send.
func eight(contended bool) emu.Cluster {
	c := emu.Cluster{Name: "eight", Groups: []emu.Group{{Count: 8, System: "dgx-h100", GPUs: 2}}}
	if contended {
		half := emu.Group{Count: 4, System: "dgx-h100", GPUs: 2}
		c.Groups, c.Fabric.Oversubscription = []emu.Group{half, half}, 4
	}
	return c
}

// single returns a sweep of one size, which does not divide well among sixteen
// ranks: two runs one after the other, out of place and in place.
func single(algorithm string) sweep.Spec {
	return sweep.Spec{Op: collective.AllReduce, MinBytes: 65_540, MaxBytes: 65_540, Factor: 2, Iterations: 1, Check: true,
		RedOps: []collective.RedOp{collective.Sum}, DTypes: []collective.DType{collective.Float32},
		Algorithm: algorithm, AutoProtocol: true, Channels: 2, Payload: sweep.PayloadFull, Launch: sweep.LaunchPerGPU, Seed: 7}
}

// TestLaw: the timeline of the daemons is that of one kernel, byte for byte,
// over however many processes the nodes are spread and however late frames
// arrive.
func TestLaw(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		contended bool
		spread    []spreading
	}{
		{true, []spreading{{1, false}, {2, true}, {4, false}, {8, true}}},
		{false, []spreading{{4, true}}},
	} {
		c := eight(test.contended)
		var sweeps []sweep.Spec
		var want []told
		for _, algorithm := range []string{"ring", "tree"} {
			sweeps = append(sweeps, single(algorithm))
			want = append(want, foresee(t, c, single(algorithm)))
		}
		pair := foreseePair(t, c)
		for _, s := range test.spread {
			t.Run(fmt.Sprintf("contended %v, %d processes, late %v", test.contended, s.procs, s.late), func(t *testing.T) {
				r := gather(t, c, s.procs, s.delay)
				for i := range sweeps {
					r.lawful(sweeps[i], want[i])
				}
				r.lawfulPair(pair)
			})
		}
	}
}

// TestLawInDomains is TestLaw for trays of NVLink domains: what NVSwitches reduce
// and multicast crosses processes, in one domain whose trays are processes, in one of
// more GPUs than a block of an SM has peers, and between two.
func TestLawInDomains(t *testing.T) {
	trays := func(count, gpus int) emu.Group { return emu.Group{Count: count, System: "gb200-nvl72", GPUs: gpus} }
	for _, test := range []struct {
		name, algorithm string
		groups          []emu.Group
		procs           int
		late            bool
	}{
		{"three trays", "nvls", []emu.Group{trays(3, 3)}, 3, true},
		{"a rack in parts", "nvls", []emu.Group{trays(18, 4)}, 4, false},
		{"two racks", "nvlstree", []emu.Group{trays(2, 3), trays(2, 2)}, 4, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := emu.Cluster{Name: "domains", Groups: test.groups}
			want := foresee(t, c, single(test.algorithm))
			gather(t, c, test.procs, spreading{test.procs, test.late}.delay).lawful(single(test.algorithm), want)
		})
	}
}

// TestLawOverICI: the law on a slice of TPUs. All its links are shared, those of a
// host's board too, and a dark circuit sends messages about it.
func TestLawOverICI(t *testing.T) {
	t.Parallel()
	c := emu.Cluster{Name: "slice", Groups: []emu.Group{{Count: 4, System: "tpu-v4",
		Slice: emu.Slice{Torus: []int{4, 4, 1}, Wrap: "xy", Dark: []string{"x0"}}}}}
	for _, s := range []spreading{{1, false}, {2, true}, {4, true}} {
		t.Run(fmt.Sprintf("%d processes", s.procs), func(t *testing.T) {
			r := gather(t, c, s.procs, s.delay)
			for _, algorithm := range []string{"ring", "tree"} {
				r.lawful(single(algorithm), foresee(t, c, single(algorithm)))
			}
		})
	}
}

// spreading is over how many processes nodes are spread, and whether frames
// between them are held back at random.
type spreading struct {
	procs int
	late  bool
}

func (s spreading) delay(i int, c *nodesim.Config) {
	if s.late {
		hold(uint64(s.procs))(i, c)
	}
}

// lawful compares a sweep on the daemons with predict. A run counts only if it
// ended done, with right answers, and, on several processes, frames crossed.
func (r *rig) lawful(spec sweep.Spec, want told) {
	r.t.Helper()
	got, err := r.bench(spec)
	if err != nil {
		r.t.Fatal(err)
	}
	if len(got.rows) != len(want.rows) || len(want.timeline) == 0 {
		r.t.Fatalf("%s: %d rows, want %d; predict's timeline has %d bytes", spec.Algorithm, len(got.rows), len(want.rows), len(want.timeline))
	}
	for i, row := range got.rows {
		if !right(row.OutOfPlace) || !right(row.InPlace) {
			r.t.Errorf("%s: size %d: %+v, %+v, want all checked and none wrong", spec.Algorithm, row.Size, row.OutOfPlace, row.InPlace)
		}
		if a, b := row.OutOfPlace.Time, want.rows[i].OutOfPlace.Time; a != b {
			r.t.Errorf("%s: size %d takes %d ps, predict says %d", spec.Algorithm, row.Size, a, b)
		}
	}
	r.crossed(got.cost)
	if err := identical(got.timeline, want.timeline); err != nil {
		r.t.Errorf("%s: %v", spec.Algorithm, err)
	}
}

// crossed checks that there was something to get wrong.
func (r *rig) crossed(c Cost) {
	r.t.Helper()
	if len(r.members) > 1 && c.Frames == 0 {
		r.t.Error("no frame crossed between processes: the law was not put to the test")
	}
}

func right(c sweep.Cell) bool { return c.Checked && c.Wrong == 0 }

// pair returns two runs at once, of two communicators that share every node and
// its ports: even GPUs and odd ones.
func pair(f *fabric.Fabric) emu.Batch {
	var b emu.Batch
	for i, algorithm := range []string{"ring", "tree"} {
		r := emu.Run{Op: collective.AllReduce, Algorithm: algorithm, Count: 9001, DType: collective.Int32, RedOp: collective.Sum,
			Options: collective.Options{Channels: 2, Protocol: collective.Protocol(i)}, Real: 9001, Seed: uint64(i), Iterations: 2,
			Launch: sweep.LaunchPerGPU, Offset: shaping.Time(i) * shaping.Time(3*shaping.Microsecond)}
		for g := i; g < f.GPUs(); g += 2 {
			r.Comm = append(r.Comm, g)
		}
		b.Runs = append(b.Runs, r)
	}
	return b
}

// lawfulPair compares two communicators at once with predict.
func (r *rig) lawfulPair(want foreseenPair) {
	r.t.Helper()
	got, res, cost := r.execute(want.batch)
	for i, wrong := range res.Wrong {
		if run := &want.batch.Runs[i]; wrong != 0 || !res.Done(i, run) {
			r.t.Errorf("two at once: run %d: %d elements wrong, ended on every rank: %v", i, wrong, res.Done(i, run))
		}
	}
	r.crossed(cost)
	if res.Events != want.outcome.Events || res.Now != want.outcome.Now || !slices.Equal(res.Ends, want.outcome.Ends) {
		r.t.Errorf("two at once: %d events until %d ps, predict says %d until %d ps", res.Events, res.Now, want.outcome.Events, want.outcome.Now)
	}
	if err := identical(got, want.timeline); err != nil {
		r.t.Errorf("two at once: %v", err)
	}
}

// Where the time went is on the links that nodes share, too: the coordinator owns
// them, and says so as predict does.
func TestSharedPortsAreNamed(t *testing.T) {
	t.Parallel()
	r := gather(t, eight(true), 2, spreading{2, false}.delay)
	got, err := r.bench(single("ring"))
	if err != nil {
		t.Fatal(err)
	}
	for _, where := range got.where {
		if !strings.Contains(where, "unit0/rail") && !strings.Contains(where, "unit1/rail") {
			t.Error(where)
		}
	}
}
