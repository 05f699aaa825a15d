package verbs

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/railyard/railyard/emu/pace"
	"github.com/railyard/railyard/emu/sweep"
	"github.com/railyard/railyard/internal/cli"
	"github.com/railyard/railyard/internal/coordinator"
	"github.com/railyard/railyard/shaping"
)

// pacedTable returns the table of a paced bench with one row, which should have
// taken 1 µs and is off by so many 1000ths.
func pacedTable(off int64, half coordinator.Half) *table {
	const us = shaping.Microsecond
	half.Computed = us
	p := coordinator.Pace{OutOfPlace: half, InPlace: coordinator.Half{Computed: us}}
	t := &table{config: &cli.BenchConfig{Clock: cli.Paced}, rows: []rowJSON{{}}}
	r := sweep.Row{}
	r.Size, r.OutOfPlace.Time, r.InPlace.Time = 65_536, us, us+shaping.Duration(off)*us/1000
	t.addPace(&coordinator.Row{Row: r, Pace: &p})
	return t
}

// lateness is that of so many deliveries, of which some came 5 ps late.
func lateness(deliveries, late int, stall int64) pace.Lateness {
	l := pace.Lateness{Stall: stall}
	for i := range deliveries {
		by := shaping.Duration(0)
		if i < late {
			by = 5
		}
		l.Delivered(by)
	}
	return l
}

// TestTrust: whatever frames did and however long anybody stood still, times are
// trusted when they are within the tolerance, and not otherwise; and the words
// say of times and frames what is true of them.
func TestTrust(t *testing.T) {
	for _, off := range []int64{0, 1, 7, coordinator.Tolerance, coordinator.Tolerance + 1, 152, 1000} {
		for _, l := range []pace.Lateness{
			lateness(0, 0, 0), lateness(9, 0, 0), lateness(9, 2, 0), lateness(0, 0, 1e9), lateness(9, 0, 1e9), lateness(9, 2, 1e9),
		} {
			tab := pacedTable(off, coordinator.Half{Dilation: 10, Enough: 77, Straggler: "node1", Lateness: l})
			v := tab.trust()
			if right := off <= coordinator.Tolerance; v.Trustworthy != right {
				t.Errorf("off by %d ‰ with %+v is trusted: %v", off, l, v.Trustworthy)
			}
			for text, want := range map[string]bool{
				"every time is what the virtual clock computes": off == 0,
				percent(off) + " of what":                       off > 0,
				"no frame left":                                 l.Deliveries.Count == 0,
				"all 9 frames came":                             l.Deliveries.Count > 0 && l.Late() == 0,
				"2 of 9 frames were late":                       l.Late() > 0,
				"straggler node1":                               off > coordinator.Tolerance,
				"--dilation 77 would":                           off > coordinator.Tolerance && l.Stall == 0,
				"run it again":                                  off > coordinator.Tolerance && l.Stall > 0,
			} {
				if strings.Contains(v.Why, text) != want {
					t.Errorf("off by %d ‰ with %+v: %q; says %q: want %v", off, l, v.Why, text, want)
				}
			}
		}
	}
}

// TestLatenessInFull: JSON and the line on timing say how late everything was, in
// emulated time, and JSON by the wall as well; and how often runs were repeated.
func TestLatenessInFull(t *testing.T) {
	half := coordinator.Half{Dilation: 20, Tries: 3, Enough: 20}
	for i := range 200 {
		half.Lateness.Departed(shaping.Duration(i%2) * 15)
		half.Lateness.Delivered(shaping.Duration(i/199) * 1000)
	}
	tab := pacedTable(0, half)
	text, err := json.Marshal(tab.railyard("bench", "v"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"tries":3,`, `"departures":200,`, `"late_deliveries":1,`,
		`"out_of_place":{"dilation":20,"tries":3,` +
			`"departure_lateness":{"count":200,"p50_ps":0,"p99_ps":15,"max_ps":15,"sum_ps":1500,"p50_wall_ns":0,"p99_wall_ns":0,"max_wall_ns":0,"buckets":[[0,100],[15,100]]},` +
			`"delivery_lateness":{"count":200,"p50_ps":0,"p99_ps":0,"max_ps":1000,"sum_ps":1000,"p50_wall_ns":0,"p99_wall_ns":0,"max_wall_ns":20,"buckets":[[0,199],[1023,1]]}}`,
		`"enough_dilation":20,"departure_lateness":{"count":200,"p50_ps":0,"p99_ps":15,"max_ps":15,"sum_ps":1500},` +
			`"delivery_lateness":{"count":200,"p50_ps":0,"p99_ps":0,"max_ps":1000,"sum_ps":1000}}`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if strings.Contains(string(text), `"in_place":{`) {
		t.Errorf("a half that was not run is there:\n%s", text)
	}
	got := tab.timing()
	for _, want := range []string{"repeated, as their dilation was not enough: 2;",
		"late in emulated time, p50, p99 and max: departures 0ps, 15ps and 15ps, deliveries 0ps, 0ps and 1ns"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
}

// TestBeyondDilations: no dilation is recommended that would be refused.
func TestBeyondDilations(t *testing.T) {
	v := pacedTable(1000, coordinator.Half{Dilation: 10, Enough: pace.MaxDilation + 1, Lateness: lateness(9, 2, 0)}).trust()
	if want := "not even --dilation 100000000"; !strings.Contains(v.Why, want) {
		t.Errorf("no %q in %q", want, v.Why)
	}
}

// TestNothingPaced: where nothing left a process the dilation that was asked for
// is not said to have been kept.
func TestNothingPaced(t *testing.T) {
	for _, deliveries := range []int{0, 9} {
		tab := pacedTable(0, coordinator.Half{Dilation: 10, Lateness: lateness(deliveries, 0, 0)})
		tab.started.Procs = 1
		got := tab.timing()
		if strings.Contains(got, "; paced at dilation 10") != (deliveries > 0) || strings.Contains(got, "nothing was paced") != (deliveries == 0) ||
			!strings.Contains(got, "; 1 process,") {
			t.Errorf("%d frames: %s", deliveries, got)
		}
	}
}
