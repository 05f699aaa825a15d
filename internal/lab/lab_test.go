package lab_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/catalog"
	"github.com/railyard/railyard/emu/experiment"
	"github.com/railyard/railyard/emu/rehearse"
	"github.com/railyard/railyard/internal/lab"
	"github.com/railyard/railyard/shaping"
)

var rewrite = flag.Bool("rewrite", false, "write the goldens anew")

const scenario = `apiVersion: railyard/v1alpha1
kind: Scenario
metadata: {name: killed}
spec:
  cluster: {system: dgx-h100, nodes: 2, gpus: 2, nics: 2}
  run:
    - {op: all_reduce, size: 1M, iterations: 3, onFailure: shrink}
    - {op: all_reduce, size: 64K}
  faults:
    - {after: 1 op, target: node1/gpu1, type: kill}
    - {type: bitflip, target: node0/gpu0, after: 4 ops, element: 5, bit: 1}
    - {at: 3s, target: node0/nic0, type: down}
  expect:
    - {run: 0, verdict: done, survivors: 3}
    - {run: 0, busbw: ">= 1TB/s"}
    - {run: 1, wrong: 1}
`

// carry runs a scenario, in a store if there is one.
func carry(t *testing.T, text string, store *lab.Store) (*experiment.Setup, *experiment.Report) {
	t.Helper()
	s, err := emu.LoadScenario("x.yaml", []byte(text), emu.Known{Fabric: catalog.ParseFabric, Faults: experiment.Faults()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	u, err := rehearse.Prepare(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	w := experiment.Watcher{}
	if store != nil {
		w.Event = func(e experiment.Event) error { return store.Event(u, e) }
		w.Run = func(r *experiment.Report) error { return store.Results(u, r, lab.Running) }
	}
	r, err := u.Run(rehearse.NewLocal(u, nil).Execute, w)
	if err != nil {
		t.Fatal(err)
	}
	u.Judge(r, nil)
	return u, r
}

// What is written of a scenario is in testdata, to be read. -rewrite writes it anew.
func TestGoldens(t *testing.T) {
	u, r := carry(t, scenario, nil)
	for name, got := range map[string][]byte{ // order: each has a file of its own
		"table.txt": []byte(lab.Table(u, r, lab.Complete)), "results.json": lab.NewResults(u, r, lab.Complete).JSON(), "junit.xml": lab.JUnit(u, r),
	} {
		path := filepath.Join("testdata", name)
		if *rewrite {
			if err := os.WriteFile(path, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is\n%s\nwant\n%s", name, got, want)
		}
	}
}

// JUnit counts what it lists, and a broken expectation is a failure.
func TestJUnit(t *testing.T) {
	u, r := carry(t, scenario, nil)
	var got struct {
		Suites []struct {
			Tests    int `xml:"tests,attr"`
			Failures int `xml:"failures,attr"`
			Cases    []struct {
				Failure *struct {
					Message string `xml:"message,attr"`
				} `xml:"failure"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(lab.JUnit(u, r), &got); err != nil {
		t.Fatal(err)
	}
	s := got.Suites[0]
	if s.Tests != 4 || len(s.Cases) != 4 || s.Failures != 1 || s.Cases[2].Failure == nil {
		t.Errorf("%+v: want 4 tests, of which the third fails", s)
	}
}

// What could not be judged, since a process died that no fault was to kill, is an error
// of a test and no failure, whether or not something was expected; results say so too.
func TestPerturbed(t *testing.T) {
	for _, text := range []string{scenario, scenario[:strings.Index(scenario, "  expect:")]} {
		u, r := carry(t, text, nil)
		r.Runs[1].Perturbed = 1
		u.Judge(r, nil)
		junit := string(lab.JUnit(u, r))
		if !strings.Contains(junit, `failures="0" errors="1"`) || strings.Contains(junit, "<failure") || !strings.Contains(junit, "<error") {
			t.Errorf("JUnit is\n%s", junit)
		}
		got := lab.NewResults(u, r, lab.Complete)
		if got.Verdict != "unjudged" {
			t.Errorf("verdict %s", got.Verdict)
		}
		for _, e := range got.Expect {
			if e.State == "fail" || e.Entry == 1 && e.State != "unjudged" {
				t.Errorf("%+v", e)
			}
		}
	}
}

// A report that is written before all is over says why.
func TestStates(t *testing.T) {
	u, r := carry(t, scenario, nil)
	for state, want := range map[lab.State]string{lab.Running: "running", lab.Interrupted: "interrupted", lab.Stranded: "unjudged", lab.Complete: "fail"} {
		if got := lab.NewResults(u, r, state).Verdict; got != want {
			t.Errorf("state %d: verdict %s, want %s", state, got, want)
		}
		if got := lab.Table(u, r, state); !strings.HasPrefix(got, strings.ToUpper(want)+" ") {
			t.Errorf("state %d: table\n%s", state, got)
		}
	}
}

// A run that never was has no protocol, one without the dead names them, and one that
// gave up says why.
func TestTableOfLosses(t *testing.T) {
	u, r := carry(t, `apiVersion: railyard/v1alpha1
kind: Scenario
metadata: {name: losses}
spec:
  cluster: {system: dgx-h100, nodes: 2, gpus: 2, nics: 2}
  run:
    - {op: all_reduce, size: 64M, ranks: "0-1"}
    - {op: all_reduce, size: 1M, ranks: "0-1,3", onFailure: shrink}
    - {op: all_reduce, size: 1M, ranks: "0,2", onFailure: retry, maxAttempts: 2}
    - {op: all_reduce, size: 1M, algo: ring}
  faults:
    - {at: 1us, target: node1, type: kill}
`, nil)
	got := lab.Table(u, r, lab.Complete)
	for _, want := range []string{"all_reduce 1MiB ring  ", "gave up: maxAttempts is 2",
		"left out node1/gpu1 (GPU 3), of whose end all knew from 201us on: kill node1"} {
		if !strings.Contains(got, want) {
			t.Errorf("the table lacks %q:\n%s", want, got)
		}
	}
	runs := lab.NewResults(u, r, lab.Complete).Runs
	if l := runs[1].LeftOut; len(l) != 1 || l[0].GPU != 3 || l[0].At != int64(201*shaping.Microsecond) || runs[2].GaveUp == "" {
		t.Errorf("results are %+v", runs)
	}
}

// A fault that changed nothing is said to have struck nothing: one whose count is
// that of the operation, whose operations are alike, whom chance spared. One that
// struck, or changed a call, is not; nor is any before all is over.
func TestIdleFaults(t *testing.T) {
	u, r := carry(t, `apiVersion: railyard/v1alpha1
kind: Scenario
metadata: {name: idle}
spec:
  cluster: {system: dgx-h100, nodes: 2, gpus: 2, nics: 2}
  run:
    - {op: all_reduce, size: 64K, iterations: 2}
    - {op: broadcast, size: 64K}
  faults:
    - {target: node0/gpu0, type: mismatch, count: 16384}
    - {target: node0/gpu1, type: reorder}
    - {at: 1us, target: node1/nic1, type: down, chance: 0.0001%}
    - {target: node1, type: gdr-lost}
    - {at: 1us, target: node1/nic0, type: rate, rate: 100Gb/s}
    - {target: node1/gpu1, type: skip, after: 2 ops}
`, nil)
	var got []int
	for _, f := range lab.NewResults(u, r, lab.Complete).Idle {
		got = append(got, f.Fault)
	}
	if !slices.Equal(got, []int{0, 1, 2}) {
		t.Errorf("struck nothing: %v, want the first three", got)
	}
	if got := strings.Count(lab.Table(u, r, lab.Complete), "struck nothing"); got != 3 {
		t.Errorf("the table says %d times that a fault struck nothing", got)
	}
	if got := lab.NewResults(u, r, lab.Running).Idle; got != nil {
		t.Errorf("while it runs: %v", got)
	}
}

// The trace is JSON with an event for each rank and operation, each of a known
// process, and the page refers to nothing outside of it.
func TestTraceAndPage(t *testing.T) {
	u, r := carry(t, scenario, nil)
	var trace struct {
		TraceEvents []struct {
			Ph, Cat, Name string
			PID           int
			TS, Dur       float64
		}
	}
	if err := json.Unmarshal(lab.Trace(u, r), &trace); err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, e := range trace.TraceEvents {
		count[e.Cat]++
		if e.TS < 0 || e.Dur < 0 || e.PID > u.Fabric.Nodes() {
			t.Errorf("event %+v", e)
		}
	}
	// 1 operation on 4 ranks, then 2 on 3, and 1 on 3; the NIC went down after the end.
	if count["attempt"] != 3 || count["fault"] != 2 || count["failure"] != 1 || count["ring"] != 13 {
		t.Errorf("events by category: %v", count)
	}
	page, err := lab.Page(u, r)
	if err != nil {
		t.Fatal(err)
	}
	for _, outside := range []string{"http://", "https://", "src=", "<link", "<script"} {
		if bytes.Contains(page, []byte(outside)) {
			t.Errorf("the page holds %s", outside)
		}
	}
	for _, s := range []string{"class=\"fail\"", "node1/gpu1) is gone in operation 1", "<svg", "class=\"band\"", "kind: Scenario"} {
		if !bytes.Contains(page, []byte(s)) {
			t.Errorf("the page lacks %s", s)
		}
	}
}

// A store has what is known so far while more is to come, and at the end all of it,
// the same each time; latest leads to the newest.
func TestStore(t *testing.T) {
	dir := t.TempDir()
	now := time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)
	var texts []string
	for range 2 {
		s, err := lab.Open(dir, "killed", now)
		if err != nil {
			t.Fatal(err)
		}
		u, r := carry(t, scenario, s)
		if got := read(t, dir, "latest", "results.json"); !strings.Contains(got, `"verdict": "running"`) || !strings.Contains(got, `"run": 1`) {
			t.Errorf("before the end results.json is\n%s", got)
		}
		if err := s.Results(u, r, lab.Complete); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		text := ""
		for _, name := range []string{"results.json", "table.txt", "trace.json", "report.html", "events.jsonl"} {
			text += read(t, dir, "latest", name)
		}
		texts = append(texts, text)
		if left, _ := filepath.Glob(filepath.Join(s.Path, ".*")); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
	if texts[0] != texts[1] {
		t.Error("two times give two texts")
	}
	kinds := ""
	for line := range strings.Lines(read(t, dir, "latest", "events.jsonl")) {
		var e struct{ Kind string }
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		kinds += e.Kind + " "
	}
	if want := "issue fault failure abort issue done issue fault done "; kinds != want {
		t.Errorf("events are %s, want %s", kinds, want)
	}
	if got := read(t, dir, "killed", "20250102T030405Z-2", "table.txt"); got != read(t, dir, "latest", "table.txt") {
		t.Error("latest is not the second of the two")
	}
}

func read(t *testing.T, parts ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// A store that can not be made or written says so, and a folder that stands where the
// link should be is left alone.
func TestStoreTrouble(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := lab.Open(file, "x", time.Now()); err == nil || !strings.Contains(err.Error(), "--store: ") {
		t.Errorf("a file as a store: %v", err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "s", "latest"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := lab.Open(filepath.Join(dir, "s"), "x", time.Now()); err == nil || !strings.Contains(err.Error(), "in the way") {
		t.Errorf("a folder in the way: %v", err)
	}
	s, err := lab.Open(dir, "gone", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(s.Path); err != nil {
		t.Fatal(err)
	}
	if err := s.Write("table.txt", []byte("x")); err == nil || !strings.Contains(err.Error(), "--store: ") {
		t.Errorf("a folder that is gone: %v", err)
	}
	log, err := s.NodeLog("../node0")
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(log, "x")
	log.Close()
	if _, err := os.Stat(filepath.Join(s.Path, "nodes", "node0", "log")); err != nil {
		t.Errorf("a log by another name: %v", err)
	}
}
