package verbs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/internal/cli"
	"github.com/railyard/railyard/shaping"
)

// config is a run of an all-reduce in this process, of which something is expected.
func config(wants ...emu.Want) cli.RunConfig {
	s := emu.Scenario{Name: "x", Cluster: emu.Cluster{Groups: []emu.Group{{Count: 2, System: "dgx-h100", GPUs: 2, NICs: 2}}, Seed: 3},
		Resilience: emu.DefaultResilience(),
		Phases:     []emu.Phase{{Calls: []emu.Call{{Op: collective.AllReduce, Bytes: shaping.MiB, Iterations: 2}}, OnFailure: emu.Abort, MaxAttempts: 1}}}
	if len(wants) > 0 {
		s.Expect = []emu.Expectation{{Wants: wants}}
	}
	return cli.RunConfig{Common: cli.Common{Format: "table"}, File: "x.yaml", Scenario: s, Clock: cli.Predict,
		WriteFile: func(path string, data []byte) error { return os.WriteFile(path, data, 0o644) }}
}

func carry(c cli.RunConfig) (string, int) {
	var out bytes.Buffer
	err := verbs{"v1"}.scenario(context.Background(), c, &out, func(int, int, string) {})
	code := 0
	var coded interface{ ExitCode() int }
	if errors.As(err, &coded) {
		code = coded.ExitCode()
	} else if err != nil {
		code = -1
	}
	return out.String(), code
}

func TestScenario(t *testing.T) {
	c := config(emu.Want{Key: "verdict", Word: "done"})
	if out, code := carry(c); code != 0 || !strings.HasPrefix(out, "PASS x: 1 of 1") {
		t.Errorf("%d\n%s", code, out)
	}
	c.Format = "json"
	out, _ := carry(c)
	var got struct {
		Verdict string
		Seed    int
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil || got.Verdict != "pass" || got.Seed != 3 {
		t.Errorf("%+v, %v from\n%s", got, err, out)
	}
	if out, code := carry(config(emu.Want{Key: "attempts", Relation: ">", Value: 1, OfRun: -1})); code != cli.ExitInvalid || !strings.HasPrefix(out, "FAIL x: 0 of 1") {
		t.Errorf("%d\n%s", code, out)
	}
	c = config()
	c.Scenario.Faults = []emu.Fault{{Type: "kill", Target: "node1", When: emu.When{At: shaping.Microsecond}, Element: -1, Bit: -1}}
	if out, code := carry(c); code != cli.ExitInvalid || !strings.HasPrefix(out, "FAIL x") {
		t.Errorf("a failed run that nobody expects: %d\n%s", code, out)
	}
	c.Scenario.Faults[0].Target = "node5"
	if _, code := carry(c); code != cli.ExitUsage {
		t.Errorf("a bad fault: %d", code)
	}
}

// A folder that can not be made ends the run before it begins. What can not be written
// later costs no verdict: it is said first, and then what went wrong.
func TestScenarioStoreTrouble(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	c := config()
	c.Store = file
	if out, code := carry(c); code != -1 || out != "" {
		t.Errorf("a file as a store: %d\n%s", code, out)
	}
	c.Store, c.JUnit = "", filepath.Join(dir, "no", "junit.xml")
	if out, code := carry(c); code != -1 || !strings.HasPrefix(out, "PASS x") {
		t.Errorf("no folder for JUnit: %d\n%s", code, out)
	}
	for _, format := range []string{"table", "json"} {
		c := config()
		c.Format, c.Store = format, filepath.Join(dir, format)
		var out bytes.Buffer
		err := verbs{"v1"}.scenario(context.Background(), c, &out, func(_, _ int, what string) {
			if strings.HasPrefix(what, "issue") { // from here on nothing can be kept
				if err := os.RemoveAll(filepath.Join(c.Store, "x")); err != nil {
					t.Error(err)
				}
			}
		})
		if err == nil || !strings.Contains(err.Error(), "--store: ") || !strings.Contains(strings.ToLower(out.String()), "pass") || strings.Contains(out.String(), "kept in") {
			t.Errorf("a store that breaks: %v\n%s", err, out.String())
		}
	}
}

// What ends a run from outside leaves the word for it; before the first run is over it
// says that more is to come.
func TestScenarioInterrupted(t *testing.T) {
	c := config()
	c.Store = t.TempDir()
	verdict := func() string {
		data, err := os.ReadFile(filepath.Join(c.Store, "latest", "results.json"))
		if err != nil {
			t.Fatal(err)
		}
		var got struct{ Verdict string }
		if err := json.Unmarshal(data, &got); err != nil {
			t.Fatal(err)
		}
		return got.Verdict
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	during := ""
	err := verbs{"v1"}.scenario(ctx, c, &bytes.Buffer{}, func(_, _ int, what string) {
		if strings.HasPrefix(what, "issue") {
			during = verdict()
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || during != "running" || verdict() != "interrupted" {
		t.Errorf("%v; verdict %q during the first run, %q after it", err, during, verdict())
	}
}
