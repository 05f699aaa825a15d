package verbs

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/railyard/railyard/internal/cli"
)

// A timeline and a trace are files of their own, and both are whole when they are
// closed.
func TestRecords(t *testing.T) {
	dir := t.TempDir()
	c := cli.BenchConfig{Timeline: filepath.Join(dir, "t.jsonl"), Trace: filepath.Join(dir, "t.json")}
	table, err := newTable(t.Context(), &c, nil)
	if err != nil {
		t.Fatal(err)
	}
	line := `{"t_ps":1,"dur_ps":2,"run":0,"rank":0,"channel":0,"block":0,"step":0,"kind":"send","peer":1,"port":"p","bytes":4}` + "\n"
	if _, err := table.writer().Write([]byte(line)); err != nil {
		t.Fatal(err)
	}
	if err := table.close(); err != nil {
		t.Fatal(err)
	}
	timeline, _ := os.ReadFile(c.Timeline)
	trace, _ := os.ReadFile(c.Trace)
	if string(timeline) != line || !json.Valid(trace) || !strings.Contains(string(trace), `"ts":0.000001`) {
		t.Errorf("timeline %q, trace %q", timeline, trace)
	}
}

func TestRecordsNeedFilesOfTheirOwn(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x")
	for _, c := range []cli.BenchConfig{{Timeline: file, Trace: file}, {Trace: file, JSON: file}, {Timeline: file, JSON: file}} {
		if _, err := newTable(t.Context(), &c, nil); err == nil || !strings.Contains(err.Error(), "name two files") {
			t.Errorf("timeline %q, trace %q, JSON %q: %v", c.Timeline, c.Trace, c.JSON, err)
		}
	}
}
