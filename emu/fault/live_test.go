package fault_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/fault"
	"github.com/railyard/railyard/shaping"
)

const liveHorizon = 30 * shaping.Millisecond

// spans returns when faults strike what, in words, and for good.
func spans(t *testing.T, f *fabric.Fabric, faults ...emu.Fault) []fault.Struck {
	t.Helper()
	s, err := fault.Compile(f, faults, 5, liveHorizon)
	if err != nil {
		t.Fatalf("%+v: %v", faults, err)
	}
	return s.Struck()
}

// whens are instants that a type may have.
func whens(k fault.Kind) (all []emu.Fault) {
	reads := map[string]bool{}
	ps, _ := k.Params()
	for _, p := range ps {
		switch p.Word {
		case "period":
			p.Word = "every"
		case "count":
			p.Word = "times"
		}
		reads[p.Word] = true
	}
	const ms = shaping.Millisecond
	for _, w := range []emu.Fault{{}, {When: emu.When{At: 3 * ms}}, {When: emu.When{At: 3 * ms, Until: 9 * ms}}, {DownFor: 2 * ms, When: emu.When{At: ms}},
		{DownFor: 2 * ms, When: emu.When{At: ms, Every: 4 * ms}}, {DownFor: 2 * ms, When: emu.When{At: ms, Every: 4 * ms, Times: 3}},
		{DownFor: 2 * ms, When: emu.When{Every: 4 * ms, Until: 11 * ms}}, {When: emu.When{At: ms, Every: 3 * ms, Times: 4, Chance: fault.Whole / 2}}} {
		switch {
		case w.When.Until > 0 && !reads["to"], w.DownFor > 0 && !reads["downFor"], w.When.Every > 0 && (!reads["every"] || w.DownFor == 0 && reads["downFor"]), w.When.At > 0 && !reads["at"]:
		default:
			all = append(all, w)
		}
	}
	return all
}

// TestLifted: a fault of whatever type that is taken back has done all that it did
// before, strikes no more from then on, and is over, unless it broke something for good;
// those beside it draw what they did.
func TestLifted(t *testing.T) {
	c := h100(t, 4)
	const ms = shaping.Millisecond
	for _, k := range fault.Kinds() {
		if k.Word == "coordinator-crash" {
			continue
		}
		for _, when := range whens(k) {
			f := some(t, k)
			f.When, f.DownFor = when.When, max(f.DownFor, when.DownFor)
			beside := emu.Fault{Type: "gpu-lost", Target: "random", When: emu.When{At: 40 * ms}}
			on := ready(t, c, []emu.Fault{f})
			whole := spans(t, on, f, beside)
			for at := shaping.Time(0); at < shaping.Time(16*ms); at += shaping.Time(ms * 3 / 4) {
				left, stays := fault.Lifted(f, at, 0)
				got := spans(t, on, left, beside)
				var want []fault.Struck
				for _, s := range whole {
					if s.Fault == 0 && s.From >= at {
						continue
					}
					if s.Fault == 0 && s.To > at && !stays && k.Word != "bitflip" {
						s.To = at
					}
					want = append(want, s)
				}
				if fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("%s %+v taken back at %v (stays: %v): strikes\n%v, want\n%v", k.Word, when, at, stays, got, want)
				}
			}
		}
	}
}

// TestLater: a fault of whatever type strikes a session that has come to an instant as
// it would have struck one from its start, that much later.
func TestLater(t *testing.T) {
	c := h100(t, 4)
	const by = 700 * shaping.Millisecond // behind the horizon of what repeats
	for _, k := range fault.Kinds() {
		for _, when := range whens(k) {
			f := some(t, k)
			f.When, f.DownFor = when.When, max(f.DownFor, when.DownFor)
			on := ready(t, c, []emu.Fault{f})
			want := spans(t, on, f)
			got := spans(t, on, fault.Later(f, shaping.Time(by), 3, liveHorizon))
			for i := range want {
				want[i].From = want[i].From.Add(by)
				if want[i].To != shaping.Never {
					want[i].To = want[i].To.Add(by)
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s %+v: strikes\n%v, want\n%v", k.Word, when, got, want)
			}
		}
	}
}

// TestLiveCalls: of calls that go wrong only those count that have not been made.
func TestLiveCalls(t *testing.T) {
	c := h100(t, 2)
	calls := func(f emu.Fault) (ops []int) {
		s, err := fault.Compile(ready(t, c, nil), []emu.Fault{f}, 5, liveHorizon)
		if err != nil {
			t.Fatal(err)
		}
		for _, call := range s.Calls() {
			ops = append(ops, call.Op)
		}
		return ops
	}
	f := emu.Fault{Type: "skip", Target: "node1/gpu0", When: emu.When{AfterOps: 2, Times: 3}}
	if got := calls(fault.Later(f, 0, 4, liveHorizon)); !slices.Equal(got, []int{6, 7, 8}) {
		t.Errorf("added after 4: calls %v go wrong", got)
	}
	for ops, want := range map[int][]int{0: nil, 2: nil, 3: {2}, 4: {2, 3}, 5: {2, 3, 4}, 9: {2, 3, 4}} {
		if left, _ := fault.Lifted(f, 0, ops); !slices.Equal(calls(left), want) {
			t.Errorf("taken back after %d: calls %v go wrong, want %v", ops, calls(left), want)
		}
	}
}
