package cli

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/railyard/railyard/internal/report"
)

// screen is the sink of a benchmark: rows go to stdout, and to a file when -J
// asks for it, with the progress bar out of their way.
type screen struct {
	config   *BenchConfig
	writer   report.Writer
	progress *progress
	file     *resultFile // nil without -J
	results  *report.JSON
	header   report.Header
	summary  report.Summary
	began    bool
	ended    bool
	// untrusted: the footer says that the times can't be trusted.
	untrusted bool
}

func (a *App) newScreen(c *BenchConfig) (*screen, error) {
	s := &screen{config: c, progress: newProgress(a.Stderr, c.Quiet)}
	s.writer = newWriter(c.Format, a.Stdout)
	if c.JSON == "" {
		return s, nil
	}
	var err error
	if s.file, err = openResult(c.JSON); err != nil {
		return nil, fmt.Errorf("-J: %w", err)
	}
	s.results = report.NewJSON(&s.file.content)
	s.writer = report.Multi(s.writer, s.results)
	return s, nil
}

func newWriter(format string, w io.Writer) report.Writer {
	switch format {
	case "json":
		return report.NewJSON(w)
	case "csv":
		return report.NewCSV(w)
	default:
		return report.NewTable(w)
	}
}

// Begin implements report.Sink.
func (s *screen) Begin(start report.Start) error {
	s.began = true
	s.header = s.config.Header(start, time.Now())
	s.progress.clear()
	return s.writer.Begin(s.header)
}

// Row implements report.Sink.
func (s *screen) Row(r report.Row) error {
	s.summary.Add(s.header, r)
	s.progress.clear()
	err := s.writer.Row(r)
	if s.file != nil {
		s.file.draft(func() ([]byte, error) { return s.results.Draft(report.Footer{Err: unfinished, End: time.Now()}) })
	}
	return err
}

// unfinished is the error of a result file that a run left when it was killed.
const unfinished = "unfinished: the run had not ended when this was written"

// Progress implements report.Sink.
func (s *screen) Progress(done, total int, what string) { s.progress.show(done, total, what) }

// End implements report.Sink.
func (s *screen) End(f report.Footer) error {
	s.ended, s.untrusted = true, f.Untrusted
	if f.End.IsZero() {
		f.End = time.Now()
	}
	s.progress.clear()
	if s.config.Format == "csv" {
		s.remark(f)
	}
	return s.writer.End(f)
}

// remark says on stderr what the footer has and CSV has no place for: that the
// times can't be trusted, and what --compare asked for.
func (s *screen) remark(f report.Footer) {
	var lines []string
	if f.Untrusted {
		lines = append(lines, "Timing: "+f.Timing)
	}
	if s.config.Compare {
		lines = append(lines, f.Explain...)
	}
	for _, line := range lines {
		fmt.Fprintln(s.progress.w, line)
	}
}

// finish closes the report after a run that returned err, and says what the
// run is worth.
func (s *screen) finish(err error) error {
	s.progress.clear()
	if s.began && !s.ended {
		text := "ended without a result"
		if err != nil {
			text = plainly(err).Error()
		}
		err = errors.Join(err, s.End(report.Footer{Err: text}))
	}
	if s.file != nil {
		if e := s.file.close(); e != nil {
			err = errors.Join(err, fmt.Errorf("-J: %w", e))
		}
	}
	switch {
	case err != nil:
		return err
	case s.summary.Errors > 0:
		return &ExitError{ExitInvalid, fmt.Errorf("%d results hold wrong elements (#wrong)", s.summary.Errors)}
	case s.summary.Slow(s.header):
		return &ExitError{ExitInvalid, fmt.Errorf("average bus bandwidth %.4g GB/s is below 90 %% of NCCL_TESTS_MIN_BW=%g", s.summary.BusBandwidth(), s.header.MinBusBandwidth)}
	case s.config.Strict && s.untrusted:
		return &ExitError{ExitUnjudged, errors.New("the times can't be trusted, and --strict asks for that; see the line Timing")}
	default:
		return nil
	}
}
