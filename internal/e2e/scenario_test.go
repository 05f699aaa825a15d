//go:build e2e

package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// kept runs a scenario of deploy/scenarios and returns the folder of its results.
func kept(t *testing.T, name string, args ...string) string {
	t.Helper()
	store := t.TempDir()
	run(t, 0, "coordinator", append([]string{"run", filepath.Join("..", "..", "deploy", "scenarios", name+".yaml"), "--quiet", "--store", store}, args...)...)
	return filepath.Join(store, "latest")
}

// TestScenarioKeepsTheLaw: a scenario in which a NIC flaps, a process is killed and the
// others go on gives the same bytes in one kernel and on any number of processes, all
// but what the host's clock said.
func TestScenarioKeepsTheLaw(t *testing.T) {
	const name = "nic-flap-during-tree"
	want := kept(t, name, "--clock", "predict")
	again := t.TempDir()
	run(t, 0, "coordinator", "run", filepath.Join(want, "spec.yaml"), "--quiet", "--clock", "predict", "--store", again)
	for _, file := range []string{"results.json", "spec.yaml"} {
		a, _ := os.ReadFile(filepath.Join(again, "latest", file))
		b, _ := os.ReadFile(filepath.Join(want, file))
		if len(a) == 0 || !bytes.Equal(a, b) {
			t.Errorf("spec.yaml, run again, gives another %s", file)
		}
	}
	for _, procs := range []string{"4", "4", "2"} {
		got := kept(t, name, "--procs", procs)
		for _, file := range []string{"results.json", "table.txt", "trace.json", "events.jsonl", "report.html", "spec.yaml"} {
			a, err := os.ReadFile(filepath.Join(got, file))
			if err != nil {
				t.Fatal(err)
			}
			b, err := os.ReadFile(filepath.Join(want, file))
			if err != nil {
				t.Fatal(err)
			}
			if len(a) == 0 || !bytes.Equal(a, b) {
				t.Errorf("on %s processes %s differs from predict's", procs, file)
			}
		}
		wall, err := os.ReadFile(filepath.Join(got, "wall.json"))
		if err != nil {
			t.Fatal(err)
		}
		// On two processes node2 shares one with node3, which lives on.
		if noticed := strings.Contains(string(wall), `"node": "node2"`); noticed != (procs == "4") {
			t.Errorf("on %s processes wall.json is %s", procs, wall)
		}
		if logs, _ := filepath.Glob(filepath.Join(got, "nodes", "*", "log")); procs == "4" && len(logs) != 4 {
			t.Errorf("logs are %v", logs)
		}
	}
}

// TestScenarioExitCodes: what does not hold is 1, a bad file 64, and JUnit says what
// failed.
func TestScenarioExitCodes(t *testing.T) {
	dir := t.TempDir()
	file, junit := filepath.Join(dir, "x.yaml"), filepath.Join(dir, "junit.xml")
	write := func(text string) {
		if err := os.WriteFile(file, []byte("apiVersion: railyard/v1alpha1\nkind: Scenario\nmetadata: {name: x}\nspec:\n"+text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("  cluster: {system: dgx-h100, nodes: 2, gpus: 2, nics: 2}\n  run: [{op: all_reduce, size: 1M}]\n  expect: [{run: 0, busbw: \">= 1TB/s\"}]\n")
	p := run(t, 1, "coordinator", "run", file, "--store", "", "--junit", junit)
	if !strings.HasPrefix(p.stdout.String(), "FAIL x: 0 of 1 expectations hold") {
		t.Errorf("stdout is\n%s", p.stdout)
	}
	if got, err := os.ReadFile(junit); err != nil || !strings.Contains(string(got), `failures="1"`) {
		t.Errorf("JUnit is %s, %v", got, err)
	}
	write("  cluster: {system: dgx-h100, nodes: 2}\n  run: [{op: all_reduce, size: 1M}]\n  faults: [{type: kill, target: node7}]\n")
	run(t, 64, "coordinator", "run", file, "--store", "")
	write("  cluster: {system: dgx-h100, nodes: 2, gpus: 2, nics: 2}\n  run: [{op: all_reduce, size: 1M}]\n  faults: [{type: kill, target: node1, at: 10us}]\n")
	run(t, 1, "coordinator", "run", file, "--store", "") // failed, and nobody said that this is right
}

// TestScenarioOutlivesItsCoordinator: when the coordinator is killed in the middle, what
// was known by then is on disk, and nothing else is left.
func TestScenarioOutlivesItsCoordinator(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "long.yaml")
	text := "apiVersion: railyard/v1alpha1\nkind: Scenario\nmetadata: {name: long}\nspec:\n  cluster: {system: dgx-h100, nodes: 2, gpus: 2, nics: 2}\n  run:\n    - {op: all_reduce, size: 64K}\n    - {op: all_reduce, size: 16G, iterations: 100}\n"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	store := filepath.Join(dir, "store")
	p := start(t, "coordinator", "run", file, "--store", store)
	p.await(p.stderr, `1 of 2: issue`)
	p.signal(os.Kill)
	p.wait()
	p.nothingLeft(crash)
	results, err := os.ReadFile(filepath.Join(store, "latest", "results.json"))
	if err != nil || !strings.Contains(string(results), `"verdict": "running"`) || !strings.Contains(string(results), `"run": 0`) {
		t.Errorf("results.json is %s, %v", results, err)
	}
	events, err := os.ReadFile(filepath.Join(store, "latest", "events.jsonl"))
	if err != nil || strings.Count(string(events), "\n") != 3 {
		t.Errorf("events.jsonl is %s, %v; want three lines", events, err)
	}
}

// TestScenarioPerturbed: a nodesim that is killed by hand, without warning, leads to what
// a scheduled kill leads to: survivors shrink and go on. The run says that it was
// perturbed, and by whose death.
func TestScenarioPerturbed(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("finds processes in /proc")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "perturbed.yaml")
	text := "apiVersion: railyard/v1alpha1\nkind: Scenario\nmetadata: {name: perturbed}\nspec:\n  cluster: {system: dgx-h100, nodes: 4, gpus: 2, nics: 2}\n  run:\n    - {op: all_reduce, size: 16G, algo: ring, onFailure: shrink}\n  expect:\n    - {run: 0, verdict: done, survivors: 6, attempts: 2, cause: peer-lost, wrong: 0}\n"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	store := filepath.Join(dir, "store")
	p := start(t, "coordinator", "run", file, "--store", store)
	p.await(p.stderr, `0 of 1: issue`)
	killed := false
	for _, pid := range p.left() {
		line, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
		if err == nil && bytes.Contains(line, []byte("\x00--nodes\x002\x00")) {
			killed = syscall.Kill(pid, syscall.SIGKILL) == nil
		}
	}
	if !killed {
		t.Fatal("no nodesim of node2")
	}
	if code := p.wait(); code != 0 {
		t.Fatalf("exit code %d\n%s%s", code, p.stdout, p.stderr)
	}
	p.nothingLeft(0)
	if got := p.stdout.String(); !strings.Contains(got, "perturbed at") || !strings.Contains(got, "a process that died of itself") {
		t.Errorf("stdout is\n%s", got)
	}
	wall, err := os.ReadFile(filepath.Join(store, "latest", "wall.json"))
	if err != nil || !strings.Contains(string(wall), `"perturbed"`) || !strings.Contains(string(wall), "node2") {
		t.Errorf("wall.json is %s, %v", wall, err)
	}
}

// TestFoundScenarios: what make sim found, on real processes, is what one kernel says.
func TestFoundScenarios(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "emu", "simtest", "testdata", "found", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatal(err, "no files")
	}
	for _, f := range files {
		code := 0
		switch filepath.Base(f) {
		case "killed-at-start.yaml", "end-forestalled.yaml", "tree-has-one-way.yaml":
			code = 1 // a run fails for good
		}
		args := []string{"run", f, "--quiet", "--store", "", "--format", "json"}
		want := run(t, code, "coordinator", append(slices.Clone(args), "--clock", "predict")...).stdout.String()
		if got := run(t, code, "coordinator", args...).stdout.String(); got != want || got == "" {
			t.Errorf("%s:\n%s\n%s", f, got, want)
		}
	}
}
