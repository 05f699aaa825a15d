//go:build e2e

package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// short is a bench that takes a fraction of a second, of three rows.
var short = []string{"bench", "all_reduce", "-b", "1K", "-e", "64K", "-f", "8", "--nodes", "2", "--gpus-per-node", "2", "--quiet"}

// TestFull: where there is no room, or no folder, the program says which stream
// or file it was, in one line, and ends with the code that goes with it.
func TestFull(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skipf("%v: nothing to write to that is full", err)
	}
	missing := filepath.Join(t.TempDir(), "none", "file")
	for _, test := range []struct {
		args []string
		out  string // stdout; empty for none in particular
		code int
		says string
	}{
		{short, "/dev/full", 2, "stdout"},
		{append(slices.Clone(short), "--format", "json"), "/dev/full", 2, "stdout"},
		{append(slices.Clone(short), "-J", "/dev/full"), "", 2, "-J: "},
		{append(slices.Clone(short), "--timeline", "/dev/full"), "", 2, "--timeline: "},
		{append(slices.Clone(short), "-J", missing), "", 64, "-J: "},
		{append(slices.Clone(short), "--timeline", missing), "", 64, "--timeline "},
		{[]string{"predict", "all_reduce", "-b", "1K", "-e", "1K", "--quiet", "--timeline", "/dev/full"}, "", 2, "--timeline: "},
		{[]string{"systems"}, "/dev/full", 2, "stdout"},
		{[]string{"topo", "matrix", "--system", "dgx-h100"}, "/dev/full", 2, "stdout"},
		{[]string{"plan", "list"}, "/dev/full", 2, "stdout"},
		{[]string{"version"}, "/dev/full", 2, "stdout"},
	} {
		t.Run(strings.Join(test.args[:1], " ")+" "+test.out, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), binary(t, "coordinator"), test.args...)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			if test.out != "" {
				out, err := os.OpenFile(test.out, os.O_WRONLY, 0)
				if err != nil {
					t.Fatal(err)
				}
				defer out.Close()
				cmd.Stdout = out
			}
			_ = cmd.Run() // the code says it
			if code := cmd.ProcessState.ExitCode(); code != test.code {
				t.Errorf("%v: exit code %d, want %d", test.args, code, test.code)
			}
			if said := stderr.String(); strings.Count(said, "\n") != 1 || !strings.Contains(said, test.says) {
				t.Errorf("%v: stderr is %q, want a line that says %q", test.args, said, test.says)
			}
		})
	}
}

// piped starts a coordinator whose stdout is a pipe that the test reads, or not.
func piped(t *testing.T, args ...string) (p *program, out *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	p = startTo(t, w, binary(t, "coordinator"), args...)
	_ = w.Close()
	return p, r
}

// TestClosedPipe: whoever reads the table goes away after a line (`| head -1`).
// The program says so, and the result file has the rows there were.
func TestClosedPipe(t *testing.T) {
	file := filepath.Join(t.TempDir(), "out.json")
	p, out := piped(t, append(slices.Clone(short), "-J", file)...)
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	_ = out.Close()
	if code := p.wait(); code != 2 {
		t.Errorf("exit code %d, want 2", code)
	}
	if said := p.stderr.lines(); len(said) != 1 || !strings.Contains(said[0], "broken pipe") {
		t.Errorf("stderr is %q", said)
	}
	p.nothingLeft(0)
	if n := results(t, file); n == 0 {
		t.Error("no row is kept")
	}
}

// results returns how many rows a result file has; it must be whole.
func results(t *testing.T, file string) int {
	t.Helper()
	var doc struct{ Results []any }
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &doc)
	}
	if err != nil {
		t.Fatalf("%s: %v\n%s", file, err, text)
	}
	return len(doc.Results)
}

// TestSlowTerminal: whoever reads the table is slow. Nothing is lost; and a
// terminal that is halted for good does not keep the program on Ctrl-C.
func TestSlowTerminal(t *testing.T) {
	// More than a pipe holds, so that the program has to wait.
	many := []string{"bench", "all_reduce", "-b", "1K", "-e", "4K", "-i", "16", "--nodes", "1", "--quiet"}
	want := figures.FindAllString(run(t, 0, "coordinator", many...).stdout.String(), -1)
	p, out := piped(t, many...)
	if p.sleep(3 * time.Second) {
		t.Log("the program waits for its reader")
	}
	text, err := io.ReadAll(out)
	if err != nil {
		t.Fatal(err)
	}
	if got := figures.FindAllString(string(text), -1); p.wait() != 0 || !slices.Equal(got, want) {
		t.Errorf("%d rows came, want %d\n%s", len(got), len(want), p.stderr)
	}
	endless := append(slices.Clone(many), "-e", "128K")
	p, _ = piped(t, endless...)
	p.sleep(4 * time.Second) // until the pipe is full
	at := p.signal(os.Interrupt)
	if code := p.wait(); code != 2 || p.ended.Sub(at) > interrupt {
		t.Errorf("halted: exit code %d after %v, want 2 within %v\n%s", code, p.ended.Sub(at), interrupt, p.stderr)
	}
	p.nothingLeft(0)
}

// TestKilledKeepsResults: what a coordinator had when it was killed is on disk,
// whole: the rows in the result file, and lines in the timeline.
func TestKilledKeepsResults(t *testing.T) {
	dir := t.TempDir()
	file, lines := filepath.Join(dir, "out.json"), filepath.Join(dir, "timeline")
	p := start(t, "coordinator", "bench", "all_reduce", "-b", "1K", "-e", "1G", "-f", "2", "--nodes", "2", "--gpus-per-node", "2", "-J", file, "--timeline", lines)
	p.await(p.stdout, `(?m)^ +8192 .*\n`) // so the row before it has been written
	p.signal(os.Kill)
	p.wait()
	if n := results(t, file); n == 0 {
		t.Error("no row is kept")
	}
	text, err := os.ReadFile(lines)
	if err != nil || len(text) == 0 {
		t.Fatalf("%d bytes of a timeline, %v", len(text), err)
	}
	for line := range bytes.Lines(text) {
		if !json.Valid(line) {
			t.Fatalf("a line of the timeline is %q", line)
		}
	}
}
