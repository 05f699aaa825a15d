package coordinator

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/kernel"
	"github.com/railyard/railyard/emu/predict"
	"github.com/railyard/railyard/emu/sweep"
	"github.com/railyard/railyard/emu/timeline"
	"github.com/railyard/railyard/internal/nodesim"
	"github.com/railyard/railyard/internal/wire"
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
	return sweep.Spec{Op: collective.AllReduce, MinBytes: 291_604, MaxBytes: 291_604, Factor: 2, Iterations: 1, Warmup: 1, Check: true,
		RedOps: []collective.RedOp{collective.Sum}, DTypes: []collective.DType{collective.Float32},
		Algorithm: algorithm, AutoProtocol: true, Channels: 2, Payload: sweep.PayloadFull, Launch: sweep.LaunchPerGPU, Seed: 7}
}

// told is what a host of the kernel says of a sweep.
type told struct {
	rows     []sweep.Row
	timeline []byte
	cost     Cost
}

// bench runs a sweep on the daemons.
func (r *rig) bench(spec sweep.Spec) (told, error) {
	ctx, cancel := context.WithTimeout(r.t.Context(), bound)
	defer cancel()
	var out told
	var lines bytes.Buffer
	err := r.Bench(ctx, spec, Sink{
		Started: func(Started) error { return nil },
		Row: func(row Row) error {
			out.cost.Add(row.Cost)
			out.rows = append(out.rows, row.Row)
			return nil
		},
		Timeline: &lines,
	})
	out.timeline = lines.Bytes()
	return out, err
}

// foresee runs a sweep in one kernel.
func foresee(t testing.TB, c emu.Cluster, spec sweep.Spec) told {
	t.Helper()
	f, err := fabric.New(c)
	if err != nil {
		t.Fatal(err)
	}
	sw, err := sweep.New(f, spec)
	if err != nil {
		t.Fatal(err)
	}
	var out told
	s, lines := recorded(f)
	err = sw.Run(func(_ *sweep.Case, b emu.Batch) (sweep.Result, error) {
		o, err := s.Execute(b)
		return sweep.Result{Outcome: o}, err
	}, func(r sweep.Row) error {
		out.rows = append(out.rows, r)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	out.timeline = lines.Bytes()
	return out
}

// recorded returns a session of one kernel and where its timeline goes.
func recorded(f *fabric.Fabric) (*predict.Session, *bytes.Buffer) {
	lines := new(bytes.Buffer)
	w := timeline.NewWriter(lines, f.PortName)
	s := predict.New(f, true)
	s.Visit = func(e *kernel.Effects) error {
		for i := range e.Records {
			if err := w.Write(&e.Records[i]); err != nil {
				return err
			}
		}
		return w.Flush()
	}
	return s, lines
}

// identical reports the first line in which two timelines differ.
func identical(got, want []byte) error {
	if bytes.Equal(got, want) {
		return nil
	}
	a, b := bytes.Split(got, []byte("\n")), bytes.Split(want, []byte("\n"))
	for i := range min(len(a), len(b)) {
		if !bytes.Equal(a[i], b[i]) {
			return fmt.Errorf("record %d differs:\n  virtual %s\n  predict %s", i, a[i], b[i])
		}
	}
	return fmt.Errorf("%d records from virtual, %d from predict", len(a)-1, len(b)-1)
}

// hold returns a change that holds frames back for spans drawn from a seed, so
// that they arrive in ever new orders, before and after the grants that expect
// them.
func hold(seed uint64) change {
	var mu sync.Mutex
	rng := rand.New(rand.NewPCG(seed, 0))
	draw := func() int {
		mu.Lock()
		defer mu.Unlock()
		return rng.IntN(64)
	}
	return func(_ int, c *nodesim.Config) {
		c.Hold = func([]wire.Frame) {
			switch n := draw(); {
			case n < 8:
				time.Sleep(time.Duration(n) * 50 * time.Microsecond)
			case n < 32:
				for range n {
					runtime.Gosched()
				}
			}
		}
	}
}

// TestLaw: the timeline of the daemons is that of one kernel, byte for byte,
// over however many processes the nodes are spread and however late frames
// arrive.
func TestLaw(t *testing.T) {
	for _, test := range []struct {
		procs           int
		contended, late bool
	}{
		{1, true, false}, {2, true, true}, {4, true, false}, {8, true, true}, {4, false, true},
	} {
		t.Run(fmt.Sprintf("%d processes, contended %v, late %v", test.procs, test.contended, test.late), func(t *testing.T) {
			var changes []change
			if test.late {
				changes = append(changes, hold(uint64(test.procs)))
			}
			r := gather(t, eight(test.contended), test.procs, changes...)
			for _, algorithm := range []string{"ring", "tree"} {
				lawful(t, r, eight(test.contended), single(algorithm))
			}
			together(t, r, eight(test.contended))
		})
	}
}

// lawful compares a sweep on the daemons with predict. A run counts only if it
// ended done, with right answers, and, on several processes, frames crossed.
func lawful(t *testing.T, r *rig, c emu.Cluster, spec sweep.Spec) {
	t.Helper()
	want := foresee(t, c, spec)
	got, err := r.bench(spec)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.rows) != len(want.rows) || len(want.timeline) == 0 {
		t.Fatalf("%s: %d rows, want %d; predict's timeline has %d bytes", spec.Algorithm, len(got.rows), len(want.rows), len(want.timeline))
	}
	for i, row := range got.rows {
		if !right(row.OutOfPlace) || !right(row.InPlace) {
			t.Errorf("%s: size %d: %+v, %+v, want all checked and none wrong", spec.Algorithm, row.Size, row.OutOfPlace, row.InPlace)
		}
		if a, b := row.OutOfPlace.Time, want.rows[i].OutOfPlace.Time; a != b {
			t.Errorf("%s: size %d takes %d ps, predict says %d", spec.Algorithm, row.Size, a, b)
		}
	}
	if len(r.members) > 1 && got.cost.Frames == 0 {
		t.Errorf("%s: no frame crossed between processes: the law was not put to the test", spec.Algorithm)
	}
	if err := identical(got.timeline, want.timeline); err != nil {
		t.Errorf("%s: %v", spec.Algorithm, err)
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

// together runs two communicators at once, here and in predict.
func together(t *testing.T, r *rig, c emu.Cluster) {
	t.Helper()
	f, err := fabric.New(c)
	if err != nil {
		t.Fatal(err)
	}
	b := pair(f)
	s, want := recorded(f)
	foreseen, err := s.Execute(b)
	if err != nil {
		t.Fatal(err)
	}
	got, res, cost := r.execute(b)
	for i, wrong := range res.Wrong {
		if wrong != 0 || !res.Done(i, &b.Runs[i]) {
			t.Errorf("two at once: run %d: %d elements wrong, ended on every rank: %v", i, wrong, res.Done(i, &b.Runs[i]))
		}
	}
	if len(r.members) > 1 && cost.Frames == 0 {
		t.Error("two at once: no frame crossed between processes: the law was not put to the test")
	}
	if res.Events != foreseen.Events || res.Now != foreseen.Now {
		t.Errorf("two at once: %d events until %d ps, predict says %d until %d ps", res.Events, res.Now, foreseen.Events, foreseen.Now)
	}
	if err := identical(got, want.Bytes()); err != nil {
		t.Errorf("two at once: %v", err)
	}
}

// execute runs one batch in an emulated session of its own, which the sweeps of
// Bench never do with more than one run.
func (r *rig) execute(b emu.Batch) ([]byte, sweep.Result, Cost) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), bound)
	defer cancel()
	var lines bytes.Buffer
	s := r.newSession(newMerger(&lines, r.fabric), true)
	res, cost, err := s.execute(ctx, b)
	if err != nil {
		r.t.Fatal(err)
	}
	return lines.Bytes(), res, cost
}
