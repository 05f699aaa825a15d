package coordinator

import (
	"slices"
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/sweep"
	"github.com/railyard/railyard/internal/wire"
)

// doer returns the first algorithm that does an operation.
func doer(op collective.Op) string {
	all := collective.Algorithms()
	return all[slices.IndexFunc(all, func(a collective.Algorithm) bool { return slices.Contains(a.Ops, op) })].Name
}

// TestSplitLaw: several communicators at once, of unlike sizes and out of
// order, share the ports of every node; the daemons' timeline is still that of
// one kernel, and every element of every communicator is right.
func TestSplitLaw(t *testing.T) {
	t.Parallel()
	spec := single(sweep.Auto)
	spec.Split = sweep.Split{Op: sweep.SplitMod, Value: 3} // groups of 6, 5 and 5
	spec.Order = []int{3, 1, 2, 0, 15, 14, 13, 12, 4, 5, 6, 7, 11, 8, 9, 10}
	for _, test := range []struct {
		contended bool
		spreading
	}{{true, spreading{3, true}}, {false, spreading{8, false}}} {
		c := eight(test.contended)
		r := gather(t, c, test.procs, test.delay)
		r.lawful(spec, foresee(t, c, spec))
	}
}

// TestWrongInOneGroup: wrong elements of a communicator that the line does not
// speak of are counted all the same.
func TestWrongInOneGroup(t *testing.T) {
	t.Parallel()
	spec := single("ring")
	spec.DTypes = []collective.DType{collective.Int32}
	spec.Split = sweep.Split{Op: sweep.SplitDiv, Value: 10} // nodes 0 to 4, and 5 to 7
	got, err := gather(t, eight(false), 8, flip(7)).bench(spec)
	if err != nil {
		t.Fatal(err)
	}
	if row := got.rows[0]; row.OutOfPlace.Wrong == 0 || row.InPlace.Wrong != 0 || len(row.Run.Comm) != 10 {
		t.Errorf("%d elements wrong in the run with a bit turned over in the second group, %d in the next", row.OutOfPlace.Wrong, row.InPlace.Wrong)
	}
}

// TestEveryOperation on daemons, in a communicator that is neither all GPUs nor
// in their order: nothing, fewer elements than ranks, and counts that do not
// divide; every root. Times and timelines are predict's.
func TestEveryOperation(t *testing.T) {
	t.Parallel()
	c := trio()
	r := gather(t, c, 3)
	for _, op := range collective.Ops() {
		for _, size := range []int64{0, 12, 4100} {
			spec := single(doer(op))
			spec.Op, spec.MinBytes, spec.MaxBytes, spec.AllRoots = op, size, size, true
			spec.Order = []int{4, 8, 0, 1, 7}
			want := foresee(t, c, spec)
			got, err := r.bench(spec)
			if err != nil {
				t.Fatalf("%s of %d B: %v", op, size, err)
			}
			if n := len(got.rows); n != 1 && (n != 5 || !sweep.Rooted(op)) {
				t.Errorf("%s of %d B: %d rows", op, size, n)
			}
			r.sameRows(got, want)
		}
	}
}

// TestEveryAlgorithm on daemons, each as far as it is legal there: one server,
// one GPU on each of three, three GPUs on each of three.
func TestEveryAlgorithm(t *testing.T) {
	t.Parallel()
	met := map[string]bool{}
	for _, group := range []emu.Group{{Count: 1, System: "dgx-h100", GPUs: 6}, {Count: 3, System: "dgx-h100", GPUs: 1}, {Count: 3, System: "dgx-h100", GPUs: 3}} {
		c := emu.Cluster{Groups: []emu.Group{group}}
		f, err := fabric.New(c)
		if err != nil {
			t.Fatal(err)
		}
		r := gather(t, c, group.Count)
		for _, a := range collective.Algorithms() {
			for _, op := range a.Ops {
				if a.Check(collective.Use{Op: op}, f.Shape(f.All())) != nil {
					continue
				}
				spec := single(a.Name)
				spec.Op, spec.MinBytes, spec.MaxBytes = op, 36000, 36000
				r.sameRows(must(r.bench(spec)), foresee(t, c, spec))
				met[a.Name+op.String()] = true
			}
		}
	}
	for _, a := range collective.Algorithms() {
		for _, op := range a.Ops {
			if !met[a.Name+op.String()] {
				t.Errorf("%s %s ran nowhere", a.Name, op)
			}
		}
	}
}

func must(got told, err error) told {
	if err != nil {
		panic(err)
	}
	return got
}

// sameRows compares rows with predict's, elements being right wherever somebody
// looks.
func (r *rig) sameRows(got, want told) {
	r.t.Helper()
	for i, row := range got.rows {
		p := &want.rows[i]
		in := row.InPlace.NA || !row.InPlace.Checked && row.Run.Op != collective.AllReduce || right(row.InPlace)
		if !right(row.OutOfPlace) || !in {
			r.t.Errorf("%s of %d B, root %d: %+v, %+v", row.Run.Op, row.Size, row.Root, row.OutOfPlace, row.InPlace)
		}
		if row.OutOfPlace.Time != p.OutOfPlace.Time || row.InPlace.Time != p.InPlace.Time || row.Root != p.Root {
			r.t.Errorf("%s of %d B, root %d: %d and %d ps, predict says %d and %d", row.Run.Op, row.Size, row.Root,
				row.OutOfPlace.Time, row.InPlace.Time, p.OutOfPlace.Time, p.InPlace.Time)
		}
	}
	if err := identical(got.timeline, want.timeline); err != nil {
		r.t.Error(err)
	}
}

// TestRootIsOfItsCommunicator: a root is counted in the communicator, also where
// that does not hold rank 0 of the world, or is out of order.
func TestRootIsOfItsCommunicator(t *testing.T) {
	t.Parallel()
	c := trio()
	r := gather(t, c, 3)
	for _, order := range [][]int{{2, 3}, {3, 2}} {
		spec := single(doer(collective.Broadcast))
		spec.Op, spec.Root, spec.Order = collective.Broadcast, 1, order
		r.lawful(spec, foresee(t, c, spec))
		spec.Root = 2
		if _, err := r.bench(spec); cause(t, err).Cause != wire.Config {
			t.Errorf("a root outside of the communicator: %v", err)
		}
	}
}
