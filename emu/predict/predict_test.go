package predict_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/kernel"
	"github.com/railyard/railyard/emu/predict"
	"github.com/railyard/railyard/shaping"
)

// servers is a cluster of one group of H100 servers, made concrete.
func servers(t testing.TB, nodes, gpus int) *fabric.Fabric {
	t.Helper()
	f, err := fabric.New(emu.Cluster{Groups: []emu.Group{{Count: nodes, System: "dgx-h100", GPUs: gpus}}})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func allReduce(f *fabric.Fabric, algorithm string, o collective.Options, bytes int64) emu.Run {
	return emu.Run{Op: collective.AllReduce, Algorithm: algorithm, Options: o, Comm: f.All(), Count: bytes / 4, Iterations: 1}
}

func execute(t testing.TB, s *predict.Session, runs ...emu.Run) emu.Outcome {
	t.Helper()
	out, err := s.Execute(emu.Batch{Runs: runs})
	if err != nil {
		t.Fatal(err)
	}
	for i := range runs {
		if !out.Done(i, &runs[i]) {
			t.Fatalf("run %d did not end on every rank", i)
		}
	}
	return out
}

// Every rank ends every iteration once; ends come in order; and the outcome is
// the same whether anybody looks or not.
func TestOutcome(t *testing.T) {
	f := servers(t, 2, 3)
	run := allReduce(f, "tree", collective.Options{Channels: 2}, 1<<20)
	run.Iterations = 3
	blind := execute(t, predict.New(f, false), run, run)
	if n := len(blind.Ends); n != 2*3*6 {
		t.Errorf("%d ends, want one for each of 2 runs, 3 iterations, 6 ranks", n)
	}
	sorted := slices.Clone(blind.Ends)
	emu.SortEnds(sorted)
	if !slices.Equal(sorted, blind.Ends) {
		t.Errorf("ends are not in order: %v", blind.Ends)
	}

	s, records := predict.New(f, true), []emu.Record{}
	s.Visit = func(e *kernel.Effects) error {
		records = append(records, e.Records...)
		return nil
	}
	seen := execute(t, s, run, run)
	if !slices.Equal(seen.Ends, blind.Ends) || seen.Now != blind.Now || seen.Events != blind.Events {
		t.Errorf("with records %+v, without %+v", seen, blind)
	}
	if len(records) == 0 || !slices.IsSortedFunc(records, emu.CompareRecords) {
		t.Errorf("%d records, not in the kernel's order", len(records))
	}
}

// Steps that take no time, as those of a run of no elements, let each other go
// on at one instant, and not in the order of their keys. The timeline is in that
// order all the same, whatever a look splits.
func TestRecordsOfAnInstantAreInOrder(t *testing.T) {
	f := servers(t, 3, 8)
	run := allReduce(f, "bruck", collective.Options{Channels: 12}, 0)
	run.Op, run.Iterations = collective.AllGather, 12
	s, records := predict.New(f, true), []emu.Record{}
	visits := 0
	s.Visit = func(e *kernel.Effects) error {
		visits++
		records = append(records, e.Records...)
		return nil
	}
	execute(t, s, run)
	if visits < 2 || !slices.IsSortedFunc(records, emu.CompareRecords) {
		t.Errorf("%d records of %d visits, not in the kernel's order", len(records), visits)
	}
}

// The effects are seen as the run goes, not at its end: a timeline of any
// length is streamed.
func TestVisitStreams(t *testing.T) {
	f := servers(t, 2, 8)
	s, visits, most, total := predict.New(f, true), 0, 0, 0
	s.Visit = func(e *kernel.Effects) error {
		visits++
		most, total = max(most, len(e.Records)), total+len(e.Records)
		return nil
	}
	run := allReduce(f, "ring", collective.Options{Channels: 8, Slices: 1}, 8<<20)
	run.Iterations = 8
	execute(t, s, run)
	if visits < 2 || most*2 > total {
		t.Errorf("%d records came in %d visits of up to %d", total, visits, most)
	}
}

// Whoever watches can end a run, with an error of their own.
func TestVisitAndStopEndTheRun(t *testing.T) {
	enough := errors.New("enough")
	f := servers(t, 1, 2)
	b := emu.Batch{Runs: []emu.Run{allReduce(f, "ring", collective.Options{Channels: 1}, 4096)}}
	for name, set := range map[string]func(*predict.Session){
		"visit": func(s *predict.Session) { s.Visit = func(*kernel.Effects) error { return enough } },
		"stop":  func(s *predict.Session) { s.Stop = func() error { return enough } },
	} {
		s := predict.New(f, false)
		set(s)
		if _, err := s.Execute(b); !errors.Is(err, enough) {
			t.Errorf("%s: error %v, want %v", name, err, enough)
		}
	}
}

// What does not fit is the user's error, not a panic.
func TestUnfitRunsAreRefused(t *testing.T) {
	f := servers(t, 1, 2)
	for want, run := range map[string]emu.Run{
		`"rign"`:   allReduce(f, "rign", collective.Options{Channels: 1}, 4096),
		"channels": allReduce(f, "ring", collective.Options{}, 4096),
		"alltoall": {Op: collective.AllToAll, Algorithm: "ring", Options: collective.Options{Channels: 1}, Comm: f.All(), Iterations: 1},
	} {
		if _, err := predict.New(f, false).Execute(emu.Batch{Runs: []emu.Run{run}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one that says %s", err, want)
		}
	}
}

func TestStuckErrorSaysWhoWaitsForWhom(t *testing.T) {
	err := &predict.StuckError{Blocks: []kernel.Stuck{
		{Rank: 3, Channel: 1, Block: 2, Step: 4, Waits: "slot", Peer: 5},
		{Rank: 5, Waits: "data", Peer: 3},
	}}
	want := "deadlock: rank 3 channel 1 block 2 step 4 waits for a slot of rank 5, and 1 more blocks wait"
	if got := err.Error(); got != want {
		t.Errorf("says %q, want %q", got, want)
	}
}

// A session's batches follow one another on ports that remember; each takes as
// long as the first.
func TestSession(t *testing.T) {
	f := servers(t, 2, 2)
	s := predict.New(f, false)
	run := allReduce(f, "ring", collective.Options{Channels: 2, Protocol: collective.LL}, 100_000)
	first := shaping.Duration(0)
	for i := range 5 {
		out := execute(t, s, run)
		took := out.Period(0, &run, 0)
		if i == 0 {
			first = took
		}
		if took != first {
			t.Errorf("batch %d takes %d ps, the first %d", i, took, first)
		}
		if next := out.Next(); next <= out.Now {
			t.Fatalf("the next batch would begin at %d ps, the last event is at %d", next, out.Now)
		}
		run.Offset = out.Next()
	}
}
