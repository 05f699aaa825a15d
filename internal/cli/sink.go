package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
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
	s.writer = report.Multi(s.writer, report.NewJSON(&s.file.content))
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
	return s.writer.Row(r)
}

// Progress implements report.Sink.
func (s *screen) Progress(done, total int, what string) { s.progress.show(done, total, what) }

// End implements report.Sink.
func (s *screen) End(f report.Footer) error {
	s.ended, s.untrusted = true, f.Untrusted
	if f.End.IsZero() {
		f.End = time.Now()
	}
	s.progress.clear()
	return s.writer.End(f)
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
		err = errors.Join(err, s.file.close())
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

// resultFile is a file that gets its content in one piece when all is done.
// It is opened first of all, so that a run whose result could not be kept does
// not begin, and what was in it stays until there is something better.
type resultFile struct {
	f       *os.File
	created bool
	content bytes.Buffer
}

func openResult(path string) (*resultFile, error) {
	_, err := os.Stat(path)
	created := errors.Is(err, os.ErrNotExist)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	return &resultFile{f: f, created: created}, nil
}

func (r *resultFile) close() error {
	if r.content.Len() == 0 {
		if r.created {
			os.Remove(r.f.Name())
		}
		return r.f.Close()
	}
	if info, err := r.f.Stat(); err == nil && info.Mode().IsRegular() { // not /dev/stdout or a pipe
		if err := r.f.Truncate(0); err != nil {
			return errors.Join(err, r.f.Close())
		}
	}
	_, err := r.content.WriteTo(r.f)
	return errors.Join(err, r.f.Close())
}
