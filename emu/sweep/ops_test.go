package sweep

import (
	"fmt"
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
)

// TestNothingToDo: without elements nothing is launched, for every operation
// there is; the answer is right and takes no time.
func TestNothingToDo(t *testing.T) {
	for _, op := range collective.Ops() {
		if op == collective.Barrier || doer(op) == "" {
			continue // a barrier always has its one element
		}
		q := question(op)
		q.MinBytes, q.MaxBytes, q.Algorithm = 0, 0, doer(op)
		var p played
		for _, r := range p.run(t, 1, 8, q) {
			if want := (Cell{Checked: true}); r.OutOfPlace != want || r.InPlace.Time != 0 || r.Run.Iterations != 0 {
				t.Errorf("%s: %+v and %+v after %d iterations, want %+v", op, r.OutOfPlace, r.InPlace, r.Run.Iterations, want)
			}
		}
		if len(p.batches) != 0 {
			t.Errorf("%s: %d batches ran", op, len(p.batches))
		}
		q.Payload = PayloadNone
		if r := p.run(t, 1, 8, q)[0]; r.OutOfPlace.Checked {
			t.Errorf("%s: nothing is real, but the row says it was compared", op)
		}
	}
}

// halves returns the cells of a line that was not chosen by anybody, so that no
// algorithm need do the operation.
func halves(t *testing.T, op collective.Op) (Row, []emu.Batch) {
	t.Helper()
	run := emu.Run{Op: op, Comm: []int{0, 1}, Count: 4, Real: 4, Iterations: 1}
	s := &Sweep{Spec: Spec{Op: op, Check: true}, Cases: []Case{{Run: run, Payload: PayloadFull}}}
	var p played
	return p.table(t, s)[0], p.batches
}

// TestHalves: which operations run in place, and where elements are compared.
func TestHalves(t *testing.T) {
	for _, op := range collective.Ops() {
		r, batches := halves(t, op)
		if !r.OutOfPlace.Checked || r.OutOfPlace.Wrong != 1 || r.OutOfPlace.NA {
			t.Errorf("%s, out of place: %+v", op, r.OutOfPlace)
		}
		switch op {
		case collective.Barrier:
			if len(batches) != 1 || r.InPlace != (Cell{NA: true}) {
				t.Errorf("%s, in place: %+v after %d batches, want not run at all", op, r.InPlace, len(batches))
			}
		case collective.AllToAll, collective.AllToAllV, collective.SendRecv:
			if c := r.InPlace; c.Checked || c.Wrong != 0 || c.NA || c.Time == 0 || !batches[1].Runs[0].InPlace || batches[1].Runs[0].Real != 0 {
				t.Errorf("%s, in place: %+v, want timed but not looked at", op, c)
			}
		default:
			if c := r.InPlace; !c.Checked || c.Wrong != 1 || !batches[1].Runs[0].InPlace || batches[1].Runs[0].Real != 4 {
				t.Errorf("%s, in place: %+v, want a run of its own", op, c)
			}
		}
	}
}

// TestBarrierHasOneLine, whatever the sweep.
func TestBarrierHasOneLine(t *testing.T) {
	q := question(collective.Barrier)
	q.DTypes = []collective.DType{collective.Float32, collective.Int64}
	q.RedOps = []collective.RedOp{collective.Max, collective.Min}
	q.MinBytes, q.MaxBytes = 3, 1
	sizes, err := q.Sizes()
	if err != nil || fmt.Sprint(sizes, q.dtypes(), q.redOps()) != "[4] [float] [sum]" || q.checkSizes() != nil {
		t.Errorf("sizes %v, types %v, reductions %v, %v, %v", sizes, q.dtypes(), q.redOps(), err, q.checkSizes())
	}
	if count, size := Message(collective.Barrier, 4, 4, 8); count != 1 || size != 4 {
		t.Errorf("a barrier has %d elements in %d B, want one", count, size)
	}
}

// TestLargest: every algorithm takes the largest size for every operation, and
// none more. No figure of it leaves 63 bits.
func TestLargest(t *testing.T) {
	f := cluster(t, 2, 8)
	for _, a := range collective.Algorithms() {
		for _, op := range a.Ops {
			if op == collective.Barrier {
				continue
			}
			q := question(op)
			q.MinBytes, q.MaxBytes, q.Payload, q.Algorithm = MaxBytes, MaxBytes, PayloadScaled, a.Name
			s, err := New(f, q)
			if err != nil {
				t.Logf("%s %s: %v", a.Name, op, err) // not legal here
				continue
			}
			c := &s.Cases[0]
			plan, err := c.Run.Build(f.Shape(c.Run.Comm))
			if err != nil {
				t.Fatal(err)
			}
			g := plan.Size(c.Count, c.DType.Size())
			last := int64(1)
			if parted(op) {
				last = 16
			}
			off, n := g.Chunk(int(last)*g.Chunks-1, g.Loops-1)
			if c.Count < 1<<37 || c.Size > MaxBytes || off+n != last*c.Count || n <= 0 || c.Run.Real <= 0 || c.Run.Real >= c.Count {
				t.Errorf("%s %s: %d elements, %d real; the last chunk ends at %d", a.Name, op, c.Count, c.Run.Real, off+n)
			}
			q.MaxBytes++
			if _, err := New(f, q); err == nil {
				t.Errorf("%s %s: more than the largest size is taken", a.Name, op)
			}
		}
	}
}
