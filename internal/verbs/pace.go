package verbs

import (
	"fmt"
	"time"

	"github.com/railyard/railyard/emu/pace"
	"github.com/railyard/railyard/internal/cli"
	"github.com/railyard/railyard/internal/coordinator"
	"github.com/railyard/railyard/shaping"
)

// pacedRow is a row under the paced clock, and by how much it is off.
type pacedRow struct {
	size    int64
	off     int64            // 1000ths of the computed time, the worse half
	errorPs shaping.Duration // likewise
	coordinator.Pace
}

// paceJSON is what a row says of the paced clock.
type paceJSON struct {
	Dilation     int64         `json:"dilation"` // the larger one of both halves
	Chosen       bool          `json:"chosen"`   // by the coordinator
	Limit        string        `json:"limit,omitempty"`
	Tries        int           `json:"tries"` // how often a half was run in all, to choose the dilation or as it was not enough
	OutOfPlacePs int64         `json:"computed_out_of_place_ps"`
	InPlacePs    int64         `json:"computed_in_place_ps"`
	Off          float64       `json:"off"` // of the computed time, the worse half
	Departures   uint64        `json:"departures"`
	MaxDeparture int64         `json:"max_departure_lateness_ps"`
	Deliveries   uint64        `json:"deliveries"`
	Late         uint64        `json:"late_deliveries"`
	MaxLate      int64         `json:"max_delivery_lateness_ps"`
	SumLate      int64         `json:"sum_delivery_lateness_ps"`
	Straggler    string        `json:"straggler,omitempty"`
	Stall        float64       `json:"straggler_behind_seconds"`
	Enough       int64         `json:"enough_dilation"`
	ClockError   int64         `json:"clock_error_ns"`
	OutOfPlace   *pacedRunJSON `json:"out_of_place,omitempty"` // nothing was run
	InPlace      *pacedRunJSON `json:"in_place,omitempty"`     // likewise
}

// pacedRunJSON is the run that one of a row's times is of.
type pacedRunJSON struct {
	Dilation   int64            `json:"dilation"`
	Tries      int              `json:"tries"` // the last of which this is
	Departures wallLatenessJSON `json:"departure_lateness"`
	Deliveries wallLatenessJSON `json:"delivery_lateness"`
}

// latenessJSON is how late frames and credits were, each of them.
type latenessJSON struct {
	Count uint64 `json:"count"`
	P50   int64  `json:"p50_ps"` // of emulated time
	P99   int64  `json:"p99_ps"`
	Max   int64  `json:"max_ps"`
	Sum   int64  `json:"sum_ps"`
}

// wallLatenessJSON is that of one run, in full.
type wallLatenessJSON struct {
	latenessJSON
	// The same in nanoseconds of wall time, which follow from the dilation.
	WallP50 int64 `json:"p50_wall_ns"`
	WallP99 int64 `json:"p99_wall_ns"`
	WallMax int64 `json:"max_wall_ns"`
	// Buckets are the longest span of each, in ps, and how many it has; those that
	// have none are left out.
	Buckets [][2]uint64 `json:"buckets"`
}

func newLateness(h *shaping.Histogram[shaping.Duration]) latenessJSON {
	return latenessJSON{Count: h.Count, P50: int64(h.Percentile(50)), P99: int64(h.Percentile(99)), Max: int64(h.Max), Sum: int64(h.Sum)}
}

func newWallLateness(h *shaping.Histogram[shaping.Duration], dilation int64) wallLatenessJSON {
	m := pace.Mapping{Dilation: dilation}
	l := wallLatenessJSON{newLateness(h), m.Lasts(h.Percentile(50)), m.Lasts(h.Percentile(99)), m.Lasts(h.Max), [][2]uint64{}}
	for place, n := range h.All() {
		l.Buckets = append(l.Buckets, [2]uint64{uint64(shaping.BucketEnd(place)), n})
	}
	return l
}

func newPacedRun(h *coordinator.Half) *pacedRunJSON {
	if h.Dilation == 0 {
		return nil
	}
	return &pacedRunJSON{h.Dilation, h.Tries, newWallLateness(&h.Lateness.Departures, h.Dilation), newWallLateness(&h.Lateness.Deliveries, h.Dilation)}
}

// addPace notes how well the paced clock kept the times of a row, and what
// predict says of it.
func (t *table) addPace(r *coordinator.Row) {
	p := r.Pace
	if p == nil {
		return
	}
	x := pacedRow{size: r.Size, off: p.Off(&r.Row), Pace: *p,
		errorPs: max(apart(r.OutOfPlace.Time, p.OutOfPlace.Computed), apart(r.InPlace.Time, p.InPlace.Computed))}
	t.paces = append(t.paces, x)
	row, l := &t.rows[len(t.rows)-1], p.Lateness()
	row.Pace = &paceJSON{Dilation: p.Dilation(), Chosen: p.Chosen, Limit: p.Limit, Tries: p.Tries(),
		OutOfPlacePs: int64(p.OutOfPlace.Computed), InPlacePs: int64(p.InPlace.Computed), Off: float64(x.off) / 1000,
		Departures: l.Departures.Count, MaxDeparture: int64(l.Departures.Max),
		Deliveries: l.Deliveries.Count, Late: l.Late(), MaxLate: int64(l.Deliveries.Max), SumLate: int64(l.Deliveries.Sum),
		Straggler: p.Straggler(), Stall: time.Duration(l.Stall).Seconds(), Enough: p.Enough(), ClockError: p.ClockError,
		OutOfPlace: newPacedRun(&p.OutOfPlace), InPlace: newPacedRun(&p.InPlace)}
	if i := len(t.rows) - 1; i < len(t.predicted) {
		q := &t.predicted[i]
		row.Compare = &compareJSON{int64(q.OutOfPlace.Time), int64(r.OutOfPlace.Time), int64(q.InPlace.Time), int64(r.InPlace.Time)}
	}
}

func apart(a, b shaping.Duration) shaping.Duration { return max(a-b, b-a) }

// trust is the verdict on all rows: a time is trusted when it is off by no more
// than the tolerance.
func (t *table) trust() trustJSON {
	if t.config.Clock != cli.Paced {
		return trustJSON{Trustworthy: true, Why: "emulated time is computed, not measured"}
	}
	v := trustJSON{Trustworthy: true}
	worst := -1
	for i := range t.paces {
		p := &t.paces[i]
		v.ErrorPs, v.Enough = max(v.ErrorPs, int64(p.errorPs)), max(v.Enough, p.Enough())
		if worst < 0 || p.off > t.paces[worst].off {
			worst = i
		}
	}
	if worst < 0 {
		v.Why = "nothing was run"
		return v
	}
	all := t.lateness()
	v.Departures, v.Deliveries = new(newLateness(&all.Departures)), new(newLateness(&all.Deliveries))
	// Times decide, and lateness is for the words alone: a process that stood
	// still shifts times without making a single frame late.
	p := &t.paces[worst]
	v.Trustworthy = p.off <= coordinator.Tolerance
	switch {
	case p.off == 0:
		v.Why = came(&all) + ", and every time is what the virtual clock computes"
	case v.Trustworthy:
		v.Why = fmt.Sprintf("%s, and no time is off by more than %s of what the virtual clock computes", came(&all), percent(p.off))
	default:
		v.Why = fmt.Sprintf("%s, and at %d bytes a time is off by %s of what the virtual clock computes, above %s",
			came(&all), p.size, percent(p.off), percent(coordinator.Tolerance)) + remedy(p)
	}
	return v
}

// lateness returns that of all rows together.
func (t *table) lateness() (all pace.Lateness) {
	for i := range t.paces {
		l := t.paces[i].Lateness()
		all.Add(&l)
	}
	return all
}

// came says how many frames came in time.
func came(l *pace.Lateness) string {
	switch {
	case l.Deliveries.Count == 0:
		return "no frame left its process"
	case l.Late() == 0:
		return fmt.Sprintf("all %d frames came in time", l.Deliveries.Count)
	default:
		return fmt.Sprintf("%d of %d frames were late", l.Late(), l.Deliveries.Count)
	}
}

// remedy says who held up a row that is off, and what to do about it. A larger
// dilation gives frames more time, and makes nobody go on who was stopped.
func remedy(p *pacedRow) (text string) {
	stall, enough := max(p.OutOfPlace.Lateness.Stall, p.InPlace.Lateness.Stall), p.Enough()
	if p.Straggler() != "" {
		text = fmt.Sprintf("; straggler %s, %v behind in wall time", p.Straggler(), time.Duration(stall).Round(time.Microsecond))
	}
	switch {
	case stall >= pace.Frozen:
		return text + ": it was stopped, or got no processor, which no dilation makes up for; run it again"
	case enough > pace.MaxDilation:
		return text + fmt.Sprintf("; not even --dilation %d, the largest, would have been enough", int64(pace.MaxDilation))
	default:
		return text + fmt.Sprintf("; --dilation %d would have been enough", enough)
	}
}

func percent(thousandths int64) string {
	return fmt.Sprintf("%d.%d %%", thousandths/10, thousandths%10)
}

// pacedTiming is the line that says whether the times can be trusted, and what
// they rest on.
func (t *table) pacedTiming() string {
	v := t.trust()
	text := "trustworthy: " + v.Why
	if !v.Trustworthy {
		text = "not " + text
	}
	if len(t.paces) == 0 {
		return text
	}
	clocks, reruns := int64(0), 0
	for i := range t.paces {
		p := &t.paces[i]
		clocks = max(clocks, p.ClockError)
		reruns += max(p.OutOfPlace.Tries-1, 0) + max(p.InPlace.Tries-1, 0)
	}
	if all := t.lateness(); all.Deliveries.Count > 0 {
		text += fmt.Sprintf("; %s; late in emulated time, p50, p99 and max: departures %s, deliveries %s",
			t.dilations(), spread(&all.Departures), spread(&all.Deliveries))
	} else {
		text += "; nothing was paced, as nothing left a process: it took what computing takes, whatever the dilation"
	}
	if reruns > 0 {
		text += fmt.Sprintf("; runs that were repeated, as their dilation was not enough: %d", reruns)
	}
	if clocks > 0 {
		text += fmt.Sprintf("; clocks of other hosts known to %v", time.Duration(clocks))
	}
	return text + fmt.Sprintf("; %s, %d frames, %d events in %.2f s; %d iterations a cell at most",
		procs(t.started.Procs), t.cost.Frames, t.cost.Events, t.cost.Wall.Seconds(), t.iterations)
}

// dilations says at which rows were paced, and what limits it.
func (t *table) dilations() string {
	least, most := t.paces[0].Dilation(), t.paces[0].Dilation()
	for i := range t.paces {
		d := t.paces[i].Dilation()
		least, most = min(least, d), max(most, d)
	}
	text := fmt.Sprintf("paced at dilation %d", least)
	if most > least {
		text += fmt.Sprintf(" to %d", most)
	}
	if last := &t.paces[len(t.paces)-1]; last.Chosen {
		text += ", chosen; at less what would break first is " + last.Limit
	}
	return text
}

// spread says how late things were.
func spread(h *shaping.Histogram[shaping.Duration]) string {
	return fmt.Sprintf("%v, %v and %v", h.Percentile(50), h.Percentile(99), h.Max)
}

// procs says how many processes.
func procs(n int) string {
	if n == 1 {
		return "1 process"
	}
	return fmt.Sprintf("%d processes", n)
}

// compareJSON is what predict and the paced clock say of a row.
type compareJSON struct {
	PredictOut int64 `json:"predict_out_of_place_ps"`
	PacedOut   int64 `json:"paced_out_of_place_ps"`
	PredictIn  int64 `json:"predict_in_place_ps"`
	PacedIn    int64 `json:"paced_in_place_ps"`
}

// comparison returns the lines of --compare.
func (t *table) comparison() []string {
	var lines []string
	for i := range t.rows {
		c := t.rows[i].Compare
		if c == nil {
			continue
		}
		if lines == nil {
			lines = []string{"", "paced against predict        out of place                         in place",
				fmt.Sprintf("%12s %12s %12s %9s %12s %12s %9s", "size (B)", "predict (us)", "paced (us)", "off", "predict (us)", "paced (us)", "off")}
		}
		lines = append(lines, fmt.Sprintf("%12d %12.3f %12.3f %9s %12.3f %12.3f %9s", t.rows[i].Size,
			micro(c.PredictOut), micro(c.PacedOut), differs(c.PacedOut, c.PredictOut),
			micro(c.PredictIn), micro(c.PacedIn), differs(c.PacedIn, c.PredictIn)))
	}
	return lines
}

func micro(ps int64) float64 { return float64(ps) / 1e6 }

func differs(got, want int64) string {
	if want == 0 {
		return "N/A"
	}
	return fmt.Sprintf("%+.3f %%", (float64(got)/float64(want)-1)*100)
}
