//go:build !race

package coordinator

import (
	"bytes"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/railyard/railyard/emu/pace"
	"github.com/railyard/railyard/emu/sweep"
	"github.com/railyard/railyard/internal/nodesim"
	"github.com/railyard/railyard/internal/wire"
	"github.com/railyard/railyard/shaping"
)

// busier is a host that is as good as idle while a dilation is tried out, and from
// the run that counts on holds frames up: by more from run to run, as often as
// there are delays, and then by the last one.
type busier struct {
	delays []time.Duration
	runs   int
	now    atomic.Int64
	said   []string
}

func (h *busier) doing(what string) {
	if h.said = append(h.said, what); strings.Contains(what, "running") {
		h.now.Store(int64(h.delays[min(h.runs, len(h.delays)-1)]))
		h.runs++
	}
}

func (h *busier) hold(_ int, c *nodesim.Config) {
	c.Hold = func([]wire.Frame) { time.Sleep(time.Duration(h.now.Load())) }
}

// rows runs a sweep on it, at a dilation that is chosen.
func (h *busier) rows(t *testing.T, spec sweep.Spec, lines *bytes.Buffer) (rows []Row) {
	t.Helper()
	host := &pace.Capacity{Wake: 1000, Stream: 100_000, Frames: 1e9, Bytes: 1e12}
	inBubble(t, Config{Cluster: four(false), Capacity: host}, func(b *bubble) {
		sink := Sink{Started: func(Started) error { return nil }, Doing: h.doing, Row: func(r Row) error {
			rows = append(rows, r)
			return nil
		}}
		if lines != nil {
			sink.Timeline = lines
		}
		if err := b.Bench(b.t.Context(), spec, sink); err != nil {
			t.Fatal(err)
		}
	}, only(1, func(c *nodesim.Config) { h.hold(1, c) }))
	return rows
}

// TestPacedRunsAgain: a dilation that was enough when it was tried out, and is not
// when the run counts, is raised, in the end to what would have been enough. What is reported
// is the last run and nothing of those before it: times, elements, lateness, and
// the timeline.
func TestPacedRunsAgain(t *testing.T) {
	want := foresee(t, four(false), single("ring"))
	h := busier{delays: []time.Duration{10 * time.Millisecond}}
	var lines bytes.Buffer
	row := h.rows(t, wall("ring", 0), &lines)[0]
	p := row.Pace
	if p.Off(&row.Row) > Tolerance || row.OutOfPlace.Wrong != 0 || !row.OutOfPlace.Checked || p.OutOfPlace.Lateness.Late() != 0 {
		t.Errorf("off by %d ‰, %+v, %+v", p.Off(&row.Row), row.OutOfPlace, p)
	}
	least := 10 * time.Millisecond * 1000 / time.Duration(1795*shaping.Nanosecond) // what a frame takes, by what it may
	if p.OutOfPlace.Tries != 1+reruns || p.InPlace.Tries != 1 || p.InPlace.Dilation != p.OutOfPlace.Dilation ||
		p.Tries() != p.Tried+2+reruns || p.Dilation() < int64(least) {
		t.Errorf("%d tries for the one half and %d for the other, which ran at %d and %d", p.OutOfPlace.Tries, p.InPlace.Tries,
			p.OutOfPlace.Dilation, p.InPlace.Dilation)
	}
	if frames := p.Lateness(); frames.Deliveries.Count != row.Cost.Frames || frames.Departures.Count != row.Cost.Frames {
		t.Errorf("the lateness of %d departures and %d deliveries was noted; the runs had %d frames",
			frames.Departures.Count, frames.Deliveries.Count, row.Cost.Frames)
	}
	if err := identical(lines.Bytes(), want.timeline); err != nil {
		t.Errorf("the timeline: %v", err)
	}
	if said := strings.Join(h.said, "\n"); strings.Count(said, " % at dilation ") != reruns || strings.Count(said, "running again at dilation ") != reruns {
		t.Errorf("said:\n%s", said)
	}
	if !strings.HasPrefix(p.Limit, "times: tried out at ") {
		t.Errorf("the limit is %q", p.Limit)
	}
}

// TestPacedGivesUp: a host that gets worse from run to run is not run after for
// ever, and what it has in the end is not called exact.
func TestPacedGivesUp(t *testing.T) {
	h := busier{delays: []time.Duration{time.Millisecond, 20 * time.Millisecond, 200 * time.Millisecond, 2 * time.Second}}
	row := h.rows(t, wall("ring", 0), nil)[0]
	p := row.Pace
	if p.OutOfPlace.Tries != reruns+1 || p.Off(&row.Row) <= Tolerance || p.Enough() <= p.OutOfPlace.Dilation {
		t.Errorf("%d tries, off by %d ‰: %+v", p.OutOfPlace.Tries, p.Off(&row.Row), p)
	}
}

// TestPacedGoesOn: later rows begin at what the first one took, without trying; one
// moment in which the host was busy makes them begin with twice as much at most.
func TestPacedGoesOn(t *testing.T) {
	spec := wall("ring", 0)
	spec.MaxBytes = 4 * spec.MinBytes
	h := busier{delays: []time.Duration{200 * time.Millisecond, 0}}
	rows := h.rows(t, spec, nil)
	first := rows[0].Pace
	var began int64
	for _, what := range h.said {
		if _, err := fmt.Sscanf(what, "running at dilation %d", &began); err == nil {
			break
		}
	}
	if began == 0 || first.OutOfPlace.Tries != 2 || first.Dilation() <= 2*began {
		t.Fatalf("it began at dilation %d, and then: %+v", began, first)
	}
	for _, r := range rows[1:] {
		if p := r.Pace; p.Off(&r.Row) > Tolerance || p.Tried != 0 || p.OutOfPlace.Tries != 1 || p.Dilation() > 2*began {
			t.Errorf("%d bytes, after a row that began at %d: %+v", r.Size, began, p)
		}
	}
}
