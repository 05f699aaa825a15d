package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/google/renameio/v2"

	"github.com/railyard/railyard/emu/experiment"
	"github.com/railyard/railyard/shaping"
)

// Store is the folder of one time that a scenario is run. Everything is on disk as
// soon as it is known, whole or not at all, so that what ends this process leaves
// what was there.
type Store struct {
	Path   string
	events *os.File
	next   int // strike that is not told yet
}

// latest is the link to the newest folder.
const latest = "latest"

// Open makes the folder DIR/name/time, and the link DIR/latest to it. Two that begin
// within a second get folders of their own.
func Open(dir, name string, now time.Time) (*Store, error) {
	base := filepath.Join(dir, name)
	if err := os.MkdirAll(base, 0o777); err != nil {
		return nil, fmt.Errorf("--store: %w", err)
	}
	stamp := now.UTC().Format("20060102T150405Z")
	path := filepath.Join(base, stamp)
	for i := 2; ; i++ {
		err := os.Mkdir(path, 0o777)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("--store: %w", err)
		}
		path = filepath.Join(base, fmt.Sprintf("%s-%d", stamp, i))
	}
	f, err := os.OpenFile(filepath.Join(path, "events.jsonl"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		return nil, fmt.Errorf("--store: %w", err)
	}
	s := &Store{Path: path, events: f}
	return s, s.link(dir)
}

// link points DIR/latest at the folder, in one step. Something there that is no link
// is left alone.
func (s *Store) link(dir string) error {
	at := filepath.Join(dir, latest)
	if info, err := os.Lstat(at); err == nil && info.Mode()&fs.ModeSymlink == 0 {
		return fmt.Errorf("--store: %s is in the way of the link to the newest results; move it", at)
	}
	target, err := filepath.Rel(dir, s.Path)
	if err != nil {
		return fmt.Errorf("--store: %w", err)
	}
	if err := renameio.Symlink(target, at); err != nil {
		return fmt.Errorf("--store: %w", err)
	}
	return nil
}

// Write puts a file into the folder, whole or not at all.
func (s *Store) Write(name string, data []byte) error {
	if err := renameio.WriteFile(filepath.Join(s.Path, name), data, 0o666, renameio.WithTempDir(s.Path)); err != nil {
		return fmt.Errorf("--store: %w", err)
	}
	return nil
}

// NodeLog opens nodes/NAME/log.
func (s *Store) NodeLog(name string) (*os.File, error) {
	dir := filepath.Join(s.Path, "nodes", filepath.Base(name))
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("--store: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		return nil, fmt.Errorf("--store: %w", err)
	}
	return f, nil
}

// line is a line of events.jsonl.
type line struct {
	At      int64    `json:"t_ps"`
	Kind    string   `json:"kind"`
	Run     int      `json:"run"`
	Attempt int      `json:"attempt"`
	Text    string   `json:"text"`
	Failure *Failure `json:"failure,omitempty"`
}

// Event appends what happened, and before it the faults that had struck by then.
func (s *Store) Event(u *experiment.Setup, e experiment.Event) error {
	r := u.Strikes()
	for ; s.next < len(r) && r[s.next].From <= e.At; s.next++ {
		k := &r[s.next]
		text := fmt.Sprintf("%s on %s", u.FaultName(k.Fault), parts(k.Parts))
		if k.To != shaping.Never {
			text += " until " + k.To.String()
		}
		if err := s.append(line{At: int64(k.From), Kind: "fault", Run: e.Run, Attempt: e.Attempt, Text: text}); err != nil {
			return err
		}
	}
	return s.append(line{int64(e.At), e.Kind, e.Run, e.Attempt, e.Text, newFailure(e.Failure)})
}

func (s *Store) append(l line) error {
	data, err := json.Marshal(l)
	if err != nil {
		return err
	}
	// One call, so that a line is there whole.
	if _, err := s.events.Write(append(data, '\n')); err != nil {
		return fmt.Errorf("--store: %w", err)
	}
	return nil
}

// Results writes what is known so far: results.json and table.txt, and once all is
// complete trace.json and report.html too.
func (s *Store) Results(u *experiment.Setup, r *experiment.Report, state State) error {
	err := errors.Join(
		s.Write("results.json", NewResults(u, r, state).JSON()),
		s.Write("table.txt", []byte(Table(u, r, state))))
	if state != Complete {
		return err
	}
	page, pageErr := Page(u, r)
	return errors.Join(err, pageErr, s.Write("trace.json", Trace(u, r)), s.Write("report.html", page))
}

// Close ends the writing of events.
func (s *Store) Close() error {
	if err := s.events.Close(); err != nil {
		return fmt.Errorf("--store: %w", err)
	}
	return nil
}
