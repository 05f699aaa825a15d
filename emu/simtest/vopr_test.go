package simtest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/catalog"
	"github.com/railyard/railyard/emu/experiment"
	"github.com/railyard/railyard/emu/fault"
)

var (
	simScenario = flag.String("sim.scenario", "", "a scenario file to simulate instead of drawn ones")
	simKeep     = flag.Bool("sim.keep", false, "go on after a failing seed, and print it unshrunk")
)

// ample is from how many cases on everything must have been drawn.
const ample = 200

// TestScenarios draws scenarios with faults and policies and carries them out, in one
// kernel and on several. Checkers outside the core say whether every run ended as it
// may have. A seed that fails is printed as a scenario file, shrunk.
func TestScenarios(t *testing.T) {
	if *simScenario != "" {
		replay(t, *simScenario)
		return
	}
	var cover Cover
	for i := range *simN {
		seed := *simSeed + uint64(i)
		s, err := drawn(seed)
		var p *Played
		if err == nil {
			p, err = try(s)
		}
		if err == nil {
			cover.Add(&s, p)
			continue
		}
		if *simKeep {
			t.Errorf("seed %d: %v", seed, err)
			continue
		}
		small := Smaller(s, func(c emu.Scenario) bool { _, err := try(c); return err != nil })
		_, why := try(small)
		t.Fatalf("replay with: make sim SEED=%d N=1\n%v\nsmallest scenario found that fails; replay it with: make sim SCENARIO=FILE, or coordinator run FILE\n%s\n%v", seed, err, small.YAML(fault.Words), why)
	}
	t.Logf("%v", &cover)
	if missing := cover.Missing(); *simN >= ample && len(missing) > 0 {
		t.Errorf("%d cases, and never: %q", *simN, missing)
	}
}

func drawn(seed uint64) (s emu.Scenario, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	return DrawScenario(seed), nil
}

var known = emu.Known{Fabric: catalog.ParseFabric, Faults: experiment.Faults()}

// try carries a scenario out and judges it. What is tried is what the file says.
func try(s emu.Scenario) (*Played, error) {
	text := s.YAML(fault.Words)
	read, err := emu.LoadScenario("scenario.yaml", text, known, nil)
	if err != nil {
		return nil, fmt.Errorf("the file cannot be read: %w\n%s", err, text)
	}
	if again := read.YAML(fault.Words); string(again) != string(text) {
		return nil, fmt.Errorf("the file is read as another:\n%s\n%s", text, again)
	}
	p, err := Play(read, 2+int(s.Cluster.Seed%3))
	if err == nil {
		err = p.Check()
	}
	if err != nil {
		return p, err
	}
	const sample = 16
	if s.Cluster.Seed%sample == 0 {
		q, err := Play(s, 1)
		if err != nil {
			return p, err
		}
		if !reflect.DeepEqual(p.Report, q.Report) {
			return p, fmt.Errorf("the same scenario gives another report:\n%+v\n%+v", p.Report, q.Report)
		}
	}
	return p, nil
}

// The files under testdata/found are scenarios that were drawn once, and that the
// core failed; each says what it found.
func TestFound(t *testing.T) {
	files, err := filepath.Glob("testdata/found/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(err, "no files")
	}
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) { replay(t, f) })
	}
}

// TestSmaller: a failure is made as small as it can be.
func TestSmaller(t *testing.T) {
	s := DrawScenario(5454)
	culprit := s.Faults[0].Type
	small := Smaller(s, func(c emu.Scenario) bool {
		return slices.ContainsFunc(c.Faults, func(f emu.Fault) bool { return f.Type == culprit })
	})
	if len(small.Faults) != 1 || len(small.Phases) != 1 || len(small.Phases[0].Calls) != 1 || small.Phases[0].Calls[0].Bytes > 1 || small.Cluster.Nodes() > 2 {
		t.Errorf("not small:\n%s", small.YAML(fault.Words))
	}
}

// TestCheckers: what is told of a scenario and is not true is found.
func TestCheckers(t *testing.T) {
	for _, tc := range []struct {
		lie  string
		tell func(*Played)
	}{
		{"", func(*Played) {}},
		{"is there", func(p *Played) { p.Batches[0].Failure.Rank = 0 }},
		{"no such cause", func(p *Played) { p.Batches[0].Failure.Cause = emu.Aborted }},
		{"there is no port", func(p *Played) { p.Batches[0].Failure.Cause = emu.LinkDown }},
		{"was up", func(p *Played) {
			f := p.Batches[0].Failure
			f.Cause, f.Link, f.Rank, f.Peer = emu.LinkDown, "node0/nic0/out", 0, 1
		}},
		{"without words", func(p *Played) { p.Batches[0].Failure.Text = "" }},
		{"is not lost", func(p *Played) { p.Batches[0].Failure.Lost = []int{0, 2} }},
		{"not said to be", func(p *Played) { p.Batches[0].Failure.Lost = nil }},
		{"watchdog", func(p *Played) { p.Batches[0].Failure.Cause = emu.Timeout }},
		{"calls as the others do", func(p *Played) { p.Batches[0].Failure.Cause = emu.Mismatch }},
		{"another order", func(p *Played) { p.Batches[0].Failure.Cause = emu.Deadlock }},
		{"not ended on every rank", func(p *Played) { p.Batches[1].Ends = p.Batches[1].Ends[1:] }},
		{"nothing was sent again", func(p *Played) { p.Batches[0].Failure = nil }},
		{"elements wrong", func(p *Played) { p.Batches[1].Verdicts[0].Wrong = 1 }},
		{"differ in bits", func(p *Played) { p.Batches[1].Verdicts[0].Agree = false }},
		{"busy until", func(p *Played) { p.Batches[1].Records = append(p.Batches[1].Records, p.Batches[1].Records...) }},
		{"arrived", func(p *Played) {
			p.Batches[1].Records = slices.DeleteFunc(p.Batches[1].Records, func(r emu.Record) bool {
				return r.Kind == emu.Carry && strings.HasSuffix(p.Setup.Fabric.PortName(r.Port), "nic0/in")
			})
		}},
		{"anybody could agree", func(p *Played) { p.Report.Runs[0].Attempts[1].Begin = 0 }},
		{"are allowed", func(p *Played) { p.Setup.Scenario.Phases[0].MaxAttempts = 1 }},
		{"is in the communicator", func(p *Played) { p.Report.Runs[0].Calls[0].Comm = []int{0, 1, 2} }},
		{"have a verdict", func(p *Played) { p.Report.Runs = nil }},
	} {
		s, err := emu.LoadScenario("lie.yaml", []byte(lie), known, nil)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Play(s, 2)
		if err != nil {
			t.Fatal(err)
		}
		tc.tell(p)
		if err := p.Check(); (err == nil) != (tc.lie == "") || err != nil && !strings.Contains(err.Error(), tc.lie) {
			t.Errorf("%q: %v", tc.lie, err)
		}
	}
}

const lie = `apiVersion: railyard/v1alpha1
kind: Scenario
metadata: {name: lie}
spec:
  cluster: {system: dgx-h100, nodes: 3, gpus: 1, nics: 1}
  run:
    - {op: all_reduce, size: 1M, algo: ring, onFailure: shrink}
  faults:
    - {at: 20us, target: node2, type: kill}
`

func replay(t *testing.T, path string) {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := emu.LoadScenario(path, text, known, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := try(s)
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.Report.Runs {
		t.Logf("run %d: %s %+v", i, p.Report.Runs[i].Verdict, p.Report.Runs[i].Failure)
	}
}
