package sweep

import (
	"strings"
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
)

// planned returns a sweep over a plan of three chunks for two ranks.
func planned(t *testing.T, bytes int64, edit func(*collective.Plan, *Spec)) (*Sweep, error) {
	t.Helper()
	f, err := fabric.New(emu.Cluster{Groups: []emu.Group{{Count: 1, System: "dgx-h100", GPUs: 2}}})
	if err != nil {
		t.Fatal(err)
	}
	p := collective.NewPlan(collective.Plan{Op: collective.AllReduce, Algorithm: "theirs", Protocol: collective.LL, Ranks: 2, Channels: 5, Blocks: 1, Chunks: 3,
		Slots: 8, ChunkSteps: 1, SliceSteps: 1, Widest: 1, Imported: true}, func(int) []collective.Block { return []collective.Block{{}} })
	s := Spec{Check: true, Op: collective.AllReduce, MinBytes: bytes, MaxBytes: bytes, Algorithm: Auto, AutoProtocol: true, Iterations: 20, Warmup: 1,
		DTypes: []collective.DType{collective.Float32}, RedOps: []collective.RedOp{collective.Sum}}
	s.UsePlan(p, []byte("text"), []bool{true})
	if edit != nil {
		edit(p, &s)
	}
	return New(f, s)
}

// TestPlan: a plan brings its protocol and channels, the layout it is not meant
// for is not run, and its text goes along.
func TestPlan(t *testing.T) {
	s, err := planned(t, 1200, nil)
	if err != nil {
		t.Fatal(err)
	}
	var ran []emu.Run
	var rows []Row
	err = s.Run(func(_ *Case, b emu.Batch) (Result, error) {
		ran = append(ran, b.Runs...)
		return Result{Wrong: []int64{2}}, nil
	}, func(r Row) error {
		rows = append(rows, r)
		return nil
	})
	if err != nil || len(ran) != 1 || len(rows) != 1 {
		t.Fatalf("%v: %d runs, %d rows", err, len(ran), len(rows))
	}
	r := ran[0]
	if !r.InPlace || r.Plan != s.Spec.Plan || string(r.File) != "text" || r.Algorithm != "theirs" || r.Options.Protocol != collective.LL || r.Options.Channels != 5 {
		t.Errorf("run %+v", r)
	}
	if row := rows[0]; !row.OutOfPlace.NA || row.InPlace.NA || !row.InPlace.Checked || row.InPlace.Wrong != 2 {
		t.Errorf("row %+v", row)
	}
}

// TestCustomIsNotChecked: nobody knows what is right.
func TestCustomIsNotChecked(t *testing.T) {
	s, err := planned(t, 1200, func(p *collective.Plan, s *Spec) { p.Op, s.Op = collective.Custom, collective.Custom })
	if err != nil {
		t.Fatal(err)
	}
	err = s.Run(func(*Case, emu.Batch) (Result, error) { return Result{Wrong: []int64{0}}, nil }, func(r Row) error {
		if r.InPlace.Checked {
			t.Errorf("row %+v", r)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestPlanRefused: a plan that cannot be used is refused, never replaced.
func TestPlanRefused(t *testing.T) {
	for _, c := range []struct {
		bytes int64
		edit  func(*collective.Plan, *Spec)
		says  string
	}{
		{1024, nil, "size 1024: 256 elements do not fall into the plan's 3 equal chunks; sizes must be multiples of 12 bytes: the nearest are 1020 and 1032"},
		{1200, func(p *collective.Plan, _ *Spec) { p.Ranks = 16 }, "for 16 ranks; the communicator has 2"},
		{1200, func(p *collective.Plan, _ *Spec) { p.Op = collective.Broadcast }, "does broadcast, not all_reduce"},
		{1024, func(p *collective.Plan, s *Spec) { p.Op, s.Op = collective.AllGather, collective.AllGather }, "sizes must be multiples of 96 bytes: the nearest are 960 and 1056"},
	} {
		if _, err := planned(t, c.bytes, c.edit); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v; want …%s…", err, c.says)
		}
	}
	for _, bytes := range []int64{960, 1056} { // what the last one advises
		if _, err := planned(t, bytes, func(p *collective.Plan, s *Spec) { p.Op, s.Op = collective.AllGather, collective.AllGather }); err != nil {
			t.Error(err)
		}
	}
}
