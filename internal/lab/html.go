package lab

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"math/bits"

	"github.com/railyard/railyard/emu/experiment"
	"github.com/railyard/railyard/shaping"
)

//go:embed report.gohtml
var page string

var pageTemplate = template.Must(template.New("report").Parse(page))

// The size of a timeline, in pixels.
const (
	width     = 900
	rowHeight = 9
	bandTop   = 16 // room for names of faults
	mostRows  = 64 // ranks that are drawn; more do not fit a screen
)

// timeline is the drawing of an attempt.
type timeline struct {
	Title, Failure string
	Width, Height  int
	Begin, End     string
	Bands          []band
	Bars           []bar
	Hidden         int // ranks that are not drawn
}

type band struct {
	X, Width int
	Name     string
}

type bar struct {
	X, Y, Width int
	Title       string
	Odd         bool // the iteration's number is odd, so that neighbours differ
}

// Page returns a report as a page that needs nothing else.
func Page(u *experiment.Setup, r *experiment.Report) ([]byte, error) {
	var b bytes.Buffer
	var lines []timeline
	for i := range r.Runs {
		for k := range r.Runs[i].Attempts {
			lines = append(lines, draw(u, r, i, k))
		}
	}
	err := pageTemplate.Execute(&b, map[string]any{
		"Results": NewResults(u, r, Complete), "Table": Table(u, r, Complete), "Timelines": lines,
		"Scenario": string(u.YAML()),
	})
	return b.Bytes(), err
}

// draw makes the drawing of an attempt: a row for each rank, a band for each fault.
func draw(u *experiment.Setup, r *experiment.Report, run, attempt int) timeline {
	a := &r.Runs[run].Attempts[attempt]
	span := max(int64(a.End.Sub(a.Begin)), 1)
	x := func(t shaping.Time) int {
		t = min(max(t, a.Begin), a.End)
		hi, lo := bits.Mul64(uint64(t.Sub(a.Begin)), width)
		q, _ := bits.Div64(hi, lo, uint64(span))
		return int(q)
	}
	l := timeline{Title: fmt.Sprintf("run %d, attempt %d: %s", run, attempt, What(&u.Scenario.Phases[run], &r.Runs[run])), Width: width,
		Begin: a.Begin.String(), End: a.End.String()}
	if a.Failure != nil {
		l.Failure = a.Failure.Text
	}
	for _, s := range r.Strikes {
		if s.From <= a.End && s.To > a.Begin {
			l.Bands = append(l.Bands, band{x(s.From), max(x(s.To)-x(s.From), 2), u.FaultName(s.Fault)})
		}
	}
	rows := map[[2]int]int{} // call and rank → row
	for _, s := range a.Spans {
		at := [2]int{s.Call, s.Rank}
		row, ok := rows[at]
		if !ok {
			row = len(rows)
			rows[at] = row
		}
		if row >= mostRows {
			continue
		}
		l.Bars = append(l.Bars, bar{x(s.Begin), bandTop + row*rowHeight, max(x(s.End)-x(s.Begin), 1),
			fmt.Sprintf("rank %d (GPU %d), operation %d: %v to %v", s.Rank, s.GPU, s.Iteration, s.Begin, s.End), s.Iteration%2 == 1})
	}
	l.Hidden = max(len(rows)-mostRows, 0)
	l.Height = bandTop + max(min(len(rows), mostRows), 2)*rowHeight
	return l
}
