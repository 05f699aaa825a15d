package predict_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/collective/msccl"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/kernel"
	"github.com/railyard/railyard/emu/payload"
	"github.com/railyard/railyard/emu/predict"
	"github.com/railyard/railyard/shaping"
)

// corpus is where public MSCCL files lie, beside the repository.
const corpus = "../../../shared/cases/msccl"

// TestCorpusRuns: every public file that is said to run does so on real
// elements, in each layout it is meant for, and its elements are right or wrong
// as an independent checker found them. A deadlock ends as one.
func TestCorpusRuns(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(corpus, "EXPECT.tsv"))
	if err != nil {
		t.Skip("the corpus of public MSCCL files is not here:", err)
	}
	ran := 0
	for _, line := range strings.Split(string(text), "\n") {
		c := strings.Split(line, "\t")
		if len(c) < 8 || !strings.HasPrefix(c[6], "run:") {
			continue
		}
		ran++
		t.Run(c[0], func(t *testing.T) {
			t.Parallel()
			runFile(t, c[0], strings.TrimPrefix(c[6], "run:"), c[7])
		})
	}
	if ran < 50 {
		t.Errorf("only %d files were to run", ran)
	}
}

func runFile(t *testing.T, name, class, verdict string) {
	text, err := os.ReadFile(filepath.Join(corpus, name))
	if err != nil {
		t.Fatal(err)
	}
	f, err := msccl.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	p, err := f.Plan(msccl.AnyRoot)
	if err != nil {
		t.Fatal(err)
	}
	layouts := f.Layouts()
	if meant := strings.Count(verdict, "-place: "); len(layouts) != meant {
		t.Errorf("runs in %d layouts; %q has %d", len(layouts), verdict, meant)
	}
	for _, inPlace := range layouts {
		if layout := strings.ReplaceAll(msccl.Layout(inPlace), " ", "-"); !strings.HasPrefix(verdict, layout) && !strings.Contains(verdict, "; "+layout) {
			t.Errorf("runs %s; the verdict is %q", layout, verdict)
		}
		// One element a chunk, and enough for two loops with a rest.
		for _, each := range []int64{1, p.Protocol.StepBytes()/4/int64(p.Widest) + 3} {
			if each > 1 && int64(f.Ranks*f.Chunks)*each > 4<<20 {
				continue // 16 MiB a buffer is enough
			}
			wrong, err := carryOut(t, p, each*int64(p.Chunks), inPlace)
			var stuck *predict.StuckError
			switch {
			case class == "must-report-deadlock":
				if !errors.As(err, &stuck) || stuck.Blocks[0].Rank != 0 || stuck.Blocks[0].Block != 0 {
					t.Errorf("%v, want a deadlock that names rank 0 block 0", err)
				}
			case err != nil:
				t.Errorf("%d elements a chunk, %s: %v", each, msccl.Layout(inPlace), err)
			case (wrong > 0) != (class == "must-report-wrong-result"):
				t.Errorf("%d elements a chunk, %s: %d wrong; the file is said to be %s", each, msccl.Layout(inPlace), wrong, class)
			}
		}
	}
}

// carryOut runs a plan once, with every element real, and returns how many are
// wrong.
func carryOut(t *testing.T, p *collective.Plan, count int64, inPlace bool) (wrong int64, err error) {
	t.Helper()
	gpus := min(p.Ranks, 8)
	fab, err := fabric.New(emu.Cluster{Groups: []emu.Group{{Count: (p.Ranks + gpus - 1) / gpus, System: "dgx-h100", GPUs: gpus}}})
	if err != nil {
		t.Fatal(err)
	}
	run := emu.Run{Op: p.Op, Algorithm: p.Algorithm, Plan: p, Comm: fab.All()[:p.Ranks], Count: count, Real: count,
		DType: collective.Float32, RedOp: collective.Sum, InPlace: inPlace, Seed: 7, Iterations: 1, Launch: 8 * shaping.Microsecond}
	b := emu.Batch{Runs: []emu.Run{run}}
	w, err := kernel.Lay(fab, b, func(int) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	m := payload.New(run, w[0], p.Size(count, 4), nil)
	s := predict.New(fab, false)
	s.Visit = func(e *kernel.Effects) error {
		for _, v := range e.Moves {
			m.Apply(payload.Move{Block: v.Block, Step: v.Step, Slice: v.Slice, Loop: v.Loop})
		}
		return nil
	}
	out, err := s.Execute(b)
	if err != nil {
		return 0, err
	}
	if !out.Done(0, &run) || m.Waiting() != 0 {
		t.Errorf("not every rank has ended, or %d messages are left", m.Waiting())
	}
	for _, v := range m.VerifyAll() {
		wrong += v.Wrong
	}
	return wrong, nil
}
