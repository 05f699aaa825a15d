package sweep

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/shaping"
)

// doer returns the first algorithm that does an operation; empty: none does.
func doer(op collective.Op) string {
	for _, a := range collective.Algorithms() {
		if slices.Contains(a.Ops, op) {
			return a.Name
		}
	}
	return ""
}

func TestWorld(t *testing.T) {
	q := question(collective.AllReduce)
	q.MinBytes, q.MaxBytes = 64, 64
	q.Order, q.Split = []int{7, 0, 5, 2, 3}, Split{Op: SplitMod, Value: 2}
	s, err := New(cluster(t, 2, 4), q)
	if err != nil {
		t.Fatal(err)
	}
	if want := []Rank{{7, 0}, {0, 1}, {5, 0}, {2, 1}, {3, 0}}; !reflect.DeepEqual(s.World, want) {
		t.Errorf("the world is %v, want %v", s.World, want)
	}
	runs := s.Cases[0].Runs()
	if len(runs) != 2 || !slices.Equal(runs[0].Comm, []int{7, 5, 3}) || !slices.Equal(runs[1].Comm, []int{0, 2}) {
		t.Fatalf("communicators are %+v", runs)
	}
	if runs[0].Seed == runs[1].Seed {
		t.Error("both communicators have the same data: what leaks from one into the other would go unseen")
	}
}

// TestTuningIsByCommunicator: one whose ranks share a node is tuned as such,
// however many nodes the cluster has.
func TestTuningIsByCommunicator(t *testing.T) {
	alone := question(collective.AllReduce)
	split := alone
	split.Split = Split{Op: SplitDiv, Value: 8}
	a, err := New(cluster(t, 1, 8), alone)
	if err != nil {
		t.Fatal(err)
	}
	b, err := New(cluster(t, 4, 8), split)
	if err != nil {
		t.Fatal(err)
	}
	for i := range a.Cases {
		if got, want := &b.Cases[i], &a.Cases[i]; got.Chosen != want.Chosen || got.Channels != want.Channels {
			t.Errorf("%d B: %+v on %d channels, in a cluster of that node alone %+v on %d", got.Size, got.Chosen, got.Channels, want.Chosen, want.Channels)
		}
	}
}

func TestRoots(t *testing.T) {
	f := cluster(t, 1, 5)
	for _, c := range []struct {
		op    collective.Op
		root  int
		all   bool
		split Split
		want  []int
	}{
		{collective.AllReduce, 99, false, Split{}, []int{-1}}, // nccl-tests does not look at -r either
		{collective.AllToAll, 0, true, Split{}, []int{-1}},
		{collective.Broadcast, 3, false, Split{}, []int{3}},
		{collective.Gather, 0, true, Split{}, []int{0, 1, 2, 3, 4}},
		{collective.Scatter, 0, true, Split{Op: SplitMod, Value: 2}, []int{0, 1}}, // groups of three and two
		{collective.Reduce, 1, false, Split{Op: SplitMod, Value: 2}, []int{1}},
	} {
		s := Spec{Op: c.op, Root: c.root, AllRoots: c.all, Split: c.split}
		_, groups, err := s.world(f)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := s.roots(groups); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s, root %d, all %v, split %q: %v, %v; want %v", c.op, c.root, c.all, c.split, got, err, c.want)
		}
	}
}

// TestRootsStandBetweenReductionsAndSizes, as nccl-tests prints them.
func TestRootsStandBetweenReductionsAndSizes(t *testing.T) {
	q := question(collective.Reduce)
	if q.Algorithm = doer(collective.Reduce); q.Algorithm == "" {
		t.Skip("no algorithm does reduce")
	}
	q.MinBytes, q.MaxBytes, q.AllRoots = 64, 256, true
	q.RedOps = []collective.RedOp{collective.Sum, collective.Max}
	s, err := New(cluster(t, 1, 2), q)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range s.Cases {
		c := &s.Cases[i]
		got = append(got, fmt.Sprintf("%s/%d/%d", c.RedOp, c.Root, c.Size))
		if c.Run.Options.Root != c.Root {
			t.Errorf("the line says root %d, the run %d", c.Root, c.Run.Options.Root)
		}
	}
	if want := "sum/0/64 sum/0/256 sum/1/64 sum/1/256 max/0/64 max/0/256 max/1/64 max/1/256"; strings.Join(got, " ") != want {
		t.Errorf("%v, want %s", got, want)
	}
}

// played is an executor that gives every run its own time, in microseconds, and
// one wrong element.
type played struct{ batches []emu.Batch }

func (p *played) execute(_ *Case, b emu.Batch) (Result, error) {
	p.batches = append(p.batches, b)
	var res Result
	for i := range b.Runs {
		r := &b.Runs[i]
		res.Wrong = append(res.Wrong, 1)
		for rank := range r.Comm {
			for it := range r.Iterations {
				at := r.Offset.Add(shaping.Duration((it+1)*(20+10*i)) * shaping.Microsecond)
				res.Ends = append(res.Ends, emu.End{Run: i, Rank: rank, Iteration: it, At: at})
				res.Now = max(res.Now, at)
			}
		}
	}
	return res, nil
}

// run fills in the table of a spec.
func (p *played) run(t *testing.T, nodes, gpus int, q Spec) []Row {
	t.Helper()
	s, err := New(cluster(t, nodes, gpus), q)
	if err != nil {
		t.Fatal(err)
	}
	return p.table(t, s)
}

func (p *played) table(t *testing.T, s *Sweep) (rows []Row) {
	t.Helper()
	if err := s.Run(p.execute, func(r Row) error { rows = append(rows, r); return nil }); err != nil {
		t.Fatal(err)
	}
	return rows
}

// TestCommunicatorsRunAtOnce: one batch a cell; time is a mean over all ranks,
// wrong elements a sum, and the line's figures are those of rank 0's group.
func TestCommunicatorsRunAtOnce(t *testing.T) {
	q := question(collective.AllGather)
	q.MinBytes, q.MaxBytes, q.Split = 1<<10, 1<<10, Split{Op: SplitDiv, Value: 6} // six ranks and two
	var p played
	rows := p.run(t, 2, 4, q)
	if len(rows) != 1 || len(p.batches) != 2 {
		t.Fatalf("%d rows from %d batches", len(rows), len(p.batches))
	}
	for _, b := range p.batches {
		if len(b.Runs) != 2 || b.Runs[0].Offset != b.Runs[1].Offset {
			t.Fatalf("not at once: %+v", b)
		}
		// Each group cuts the size into parts of its own: 170 → 168, rounded to 16 B, and 128.
		if a, b := b.Runs[0].Count, b.Runs[1].Count; a != 40 || b != 128 {
			t.Errorf("counts %d and %d, want 40 and 128", a, b)
		}
	}
	want := Cell{Time: (6*20 + 2*30) * shaping.Microsecond / 8, Wrong: 2, Checked: true}
	if r := rows[0]; r.OutOfPlace != want || r.Count != 40 || r.Size != 960 {
		t.Errorf("%+v of %d elements, %d B; want %+v, 40, 960", r.OutOfPlace, r.Count, r.Size, want)
	}
}

// TestGroupWithoutElements is not launched, and takes part in the mean with
// nothing; all-gathers of 64 B on 6 ranks have no elements, on 2 they have 8.
func TestGroupWithoutElements(t *testing.T) {
	q := question(collective.AllGather)
	q.MinBytes, q.MaxBytes, q.Split = 64, 64, Split{Op: SplitDiv, Value: 6}
	var p played
	rows := p.run(t, 2, 4, q)
	if b := p.batches[0]; len(b.Runs) != 1 || b.Runs[0].Count != 8 || rows[0].Count != 0 {
		t.Fatalf("batch %+v, row of %d elements", b, rows[0].Count)
	}
	if want := 20 * shaping.Microsecond * 2 / 8; rows[0].OutOfPlace.Time != want {
		t.Errorf("time %d, want %d", rows[0].OutOfPlace.Time, want)
	}
}

// TestMeanOfLongTimes: the sum over ranks would leave 63 bits.
func TestMeanOfLongTimes(t *testing.T) {
	const long = shaping.Duration(1) << 60
	run := emu.Run{Comm: make([]int, 9), Iterations: 1, Launch: long}
	c := Case{Run: run, Others: []emu.Run{run}}
	if got := c.Mean(&Result{}, emu.Batch{Runs: c.Runs()}); got != long {
		t.Errorf("the mean of equal times is %d, want %d", got, long)
	}
}
