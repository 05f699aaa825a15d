package emu

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/shaping"
)

const us = shaping.Microsecond

// ends has one end for each rank and iteration: instants[iteration][rank], in µs
// after an offset.
func ends(run int, offset shaping.Time, instants ...[]int) []End {
	var all []End
	for i, ranks := range instants {
		for rank, at := range ranks {
			all = append(all, End{Run: run, Rank: rank, Iteration: i, At: offset.Add(shaping.Duration(at) * us)})
		}
	}
	return all
}

func TestPeriod(t *testing.T) {
	const late = shaping.Time(90 * 24 * 3600 * shaping.Second) // sums of two such instants leave int64
	for _, tc := range []struct {
		name   string
		ends   []End
		r      Run
		warmup int
		want   shaping.Duration
	}{
		{"one iteration, from its issue", ends(0, 0, []int{10, 14}), Run{Comm: []int{0, 1}, Iterations: 1}, 0, 12 * us},
		{"averaged over iterations", ends(0, 0, []int{20, 20}, []int{30, 34}), Run{Comm: []int{0, 1}, Iterations: 2}, 0, 16 * us},
		{"warm-up does not count", ends(0, 0, []int{100, 102}, []int{110, 114}), Run{Comm: []int{0, 1}, Iterations: 2}, 1, 11 * us},
		{"two of warm-up, two timed", ends(0, 0, []int{50}, []int{70}, []int{75}, []int{90}), Run{Comm: []int{0}, Iterations: 4}, 2, 10 * us},
		{"nothing timed", ends(0, 0, []int{50}), Run{Comm: []int{0}, Iterations: 1}, 1, 0},
		{"the launch is a floor", ends(0, 0, []int{10}, []int{14}), Run{Comm: []int{0}, Iterations: 2, Launch: 8 * us}, 1, 8 * us},
		{"and not an addend", ends(0, 0, []int{10}, []int{22}), Run{Comm: []int{0}, Iterations: 2, Launch: 8 * us}, 1, 12 * us},
		{"a late session", ends(0, late, []int{10, 14}, []int{20, 24}), Run{Comm: []int{0, 1}, Iterations: 2, Offset: late}, 1, 10 * us},
		{"another run's ends", append(ends(1, 0, []int{500}), ends(0, 0, []int{10})...), Run{Comm: []int{0}, Iterations: 1}, 0, 10 * us},
		{"who only sends is ahead", ends(0, 0, []int{10, 14}, []int{11, 24}),
			Run{Op: collective.Gather, Options: collective.Options{Root: 1}, Comm: []int{0, 1}, Iterations: 2}, 1, 10 * us},
		{"and so is a root that sends", ends(0, 0, []int{10, 14}, []int{11, 24}), Run{Op: collective.Scatter, Comm: []int{0, 1}, Iterations: 2}, 1, 10 * us},
		{"one rank waits for itself", ends(0, 0, []int{10}), Run{Op: collective.Broadcast, Comm: []int{0}, Iterations: 1}, 0, 10 * us},
		{"rounded down", []End{{At: 7}, {Rank: 1, At: 8}, {Rank: 2, At: 8}}, Run{Comm: []int{0, 1, 2}, Iterations: 1}, 0, 7},
	} {
		o := Outcome{Ends: tc.ends}
		if got := o.Period(0, &tc.r, tc.warmup); got != tc.want {
			t.Errorf("%s: %d ps, want %d", tc.name, got, tc.want)
		}
	}
}

func TestDone(t *testing.T) {
	r := Run{Comm: []int{4, 5}, Iterations: 2}
	all := append(ends(0, 0, []int{1, 1}, []int{2, 2}), ends(1, 0, []int{1})...)
	for _, tc := range []struct {
		name string
		ends []End
		run  int
		want bool
	}{
		{"all", all, 0, true},
		{"one missing", all[1:], 0, false},
		{"none", nil, 0, false},
		{"the other run", all, 1, false},
	} {
		o := Outcome{Ends: tc.ends}
		if got := o.Done(tc.run, &r); got != tc.want {
			t.Errorf("%s: done %v, want %v", tc.name, got, tc.want)
		}
	}
	once := Outcome{Ends: ends(0, 0, []int{1, 1})}
	if !once.Done(0, &Run{Comm: []int{4, 5}}) {
		t.Error("a run that names no number of iterations has one")
	}
}

// TestNextLiesBehindEverything: the next batch begins at a whole microsecond, 10
// to 11 µs behind the last event and the last end.
func TestNextLiesBehindEverything(t *testing.T) {
	for _, tc := range []struct{ now, end, want shaping.Time }{
		{0, 0, 11_000_000},
		{1, 0, 11_000_000},
		{999_999, 0, 11_000_000},
		{1_000_000, 0, 12_000_000},
		{5_000_000, 7_300_000, 18_000_000},
		{7_300_000, 5_000_000, 18_000_000},
	} {
		o := Outcome{Now: tc.now, Ends: []End{{At: tc.end}, {At: tc.end / 2}}}
		if got := o.Next(); got != tc.want {
			t.Errorf("last event %d, last end %d: next at %d, want %d", tc.now, tc.end, got, tc.want)
		}
	}
}

func TestSortEnds(t *testing.T) {
	var want []End
	for run := range 3 {
		for iteration := range 3 {
			for rank := range 3 {
				want = append(want, End{Run: run, Iteration: iteration, Rank: rank, At: shaping.Time(100 - len(want))})
			}
		}
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for range 20 {
		got := slices.Clone(want)
		rng.Shuffle(len(got), func(i, j int) { got[i], got[j] = got[j], got[i] })
		if SortEnds(got); !slices.Equal(got, want) {
			t.Fatalf("%v", got)
		}
	}
}

// TestRecordsSortByTheirEvents: by instant, source, hop, then position; what the
// record says plays no part.
func TestRecordsSortByTheirEvents(t *testing.T) {
	sorted := []Record{
		{At: 1, Ord: 9, Hop: 9, Index: 9, Start: 50},
		{At: 2, Ord: 1, Hop: 9, Index: 9, Start: 40},
		{At: 2, Ord: 2, Hop: 0, Index: 9, Start: 30},
		{At: 2, Ord: 2, Hop: 1, Index: 0, Start: 20},
		{At: 2, Ord: 2, Hop: 1, Index: 1, Start: 10},
	}
	for i, a := range sorted {
		for j, b := range sorted {
			if got := CompareRecords(a, b); (got < 0) != (i < j) || (got == 0) != (i == j) {
				t.Errorf("%d against %d: %d", i, j, got)
			}
		}
	}
}
