package verbs

import (
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
func pacedTable(off int64, p coordinator.Pace) *table {
	const us = shaping.Microsecond
	p.OutOfPlace, p.InPlace = us, us
	t := &table{config: &cli.BenchConfig{Clock: cli.Paced}, rows: []rowJSON{{}}}
	r := sweep.Row{}
	r.Size, r.OutOfPlace.Time, r.InPlace.Time = 65_536, us, us+shaping.Duration(off)*us/1000
	t.addPace(&coordinator.Row{Row: r, Pace: &p})
	return t
}

// TestTrust: whatever frames did and however long anybody stood still, times are
// trusted when they are within the tolerance, and not otherwise; and the words
// say of times and frames what is true of them.
func TestTrust(t *testing.T) {
	for _, off := range []int64{0, 1, 7, coordinator.Tolerance, coordinator.Tolerance + 1, 152, 1000} {
		for _, l := range []pace.Lateness{
			{}, {Deliveries: 9}, {Deliveries: 9, Late: 2, MaxLate: 5},
			{Stall: 1e9}, {Deliveries: 9, Stall: 1e9}, {Deliveries: 9, Late: 2, MaxLate: 5, Stall: 1e9},
		} {
			tab := pacedTable(off, coordinator.Pace{Dilation: 10, Enough: 77, Straggler: "node1", Lateness: l})
			v := tab.trust()
			if right := off <= coordinator.Tolerance; v.Trustworthy != right {
				t.Errorf("off by %d ‰ with %+v is trusted: %v", off, l, v.Trustworthy)
			}
			for text, want := range map[string]bool{
				"every time is what the virtual clock computes": off == 0,
				percent(off) + " of what":                       off > 0,
				"no frame left":                                 l.Deliveries == 0,
				"all 9 frames came":                             l.Deliveries > 0 && l.Late == 0,
				"2 of 9 frames were late":                       l.Late > 0,
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

// TestNothingPaced: where nothing left a process the dilation that was asked for
// is not said to have been kept.
func TestNothingPaced(t *testing.T) {
	for _, deliveries := range []uint64{0, 9} {
		tab := pacedTable(0, coordinator.Pace{Dilation: 10, Lateness: pace.Lateness{Deliveries: deliveries}})
		tab.started.Procs = 1
		got := tab.timing()
		if strings.Contains(got, "; paced at dilation 10") != (deliveries > 0) || strings.Contains(got, "nothing was paced") != (deliveries == 0) ||
			!strings.Contains(got, "; 1 process,") {
			t.Errorf("%d frames: %s", deliveries, got)
		}
	}
}
