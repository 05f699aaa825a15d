package simtest

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"runtime/debug"
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
