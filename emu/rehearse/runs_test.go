package rehearse_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/catalog"
	"github.com/railyard/railyard/emu/experiment"
	"github.com/railyard/railyard/emu/rehearse"
)

var known = emu.Known{Fabric: catalog.ParseFabric, Faults: experiment.Faults()}

func load(t *testing.T, text string) emu.Scenario {
	t.Helper()
	s, err := emu.LoadScenario("scenario.yaml", []byte(text), known, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// carry runs a scenario here.
func carry(t *testing.T, s emu.Scenario) (*experiment.Setup, *experiment.Report) {
	t.Helper()
	u, err := rehearse.Prepare(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := u.Run(rehearse.NewLocal(u, nil).Execute, experiment.Watcher{})
	if err != nil {
		t.Fatal(err)
	}
	u.Judge(r, nil)
	return u, r
}

// The files under testdata/runs hold what scenarios ask and what came of them, to
// the picosecond: to be read and argued with. -rewrite writes them anew.
func TestRuns(t *testing.T) {
	datadriven.Walk(t, "testdata/runs", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			s, err := emu.LoadScenario("scenario.yaml", []byte("apiVersion: railyard/v1alpha1\nkind: Scenario\nmetadata: {name: x}\nspec:\n  "+d.Input+"\n"), known, nil)
			if err != nil {
				return err.Error() + "\n"
			}
			u, err := rehearse.Prepare(s, nil)
			if err != nil {
				return err.Error() + "\n"
			}
			r, err := u.Run(rehearse.NewLocal(u, nil).Execute, experiment.Watcher{})
			if err != nil {
				return err.Error() + "\n"
			}
			u.Judge(r, nil)
			return text(u, r)
		})
	})
}

func text(u *experiment.Setup, r *experiment.Report) string {
	var b strings.Builder
	for _, s := range r.Strikes {
		fmt.Fprintf(&b, "%s: %v to %v on %s\n", u.FaultName(s.Fault), s.From, s.To, strings.Join(s.Parts, ", "))
	}
	for i := range r.Runs {
		run := &r.Runs[i]
		fmt.Fprintf(&b, "run %d %s: survivors %d, wrong %d %v, time %v, busbw %v, total %v\n", i, run.Verdict, run.Survivors, run.Wrong, run.Places, run.Time(), run.BusBW(), run.Total)
		for k, a := range run.Attempts {
			fmt.Fprintf(&b, "  attempt %d: %v to %v on %d ranks", k, a.Begin, a.End, a.Ranks)
			if f := a.Failure; f != nil {
				fmt.Fprintf(&b, ": %s %s run %d seq %d rank %d channel %d step %d peer %d link %q fault %d at %v, lost %v\n    %s", f.Cause, f.Hang, f.Run, f.Seq, f.Rank, f.Channel, f.Step, f.Peer, f.Link, f.Fault, f.At, f.Lost, f.Text)
			}
			fmt.Fprintln(&b)
		}
		for _, l := range run.LeftOut {
			fmt.Fprintf(&b, "  left out GPU %d: fault %d, heard of at %v\n", l.GPU, l.Fault, l.At)
		}
		if run.GaveUp != "" {
			fmt.Fprintf(&b, "  gave up: %s\n", run.GaveUp)
		}
		if run.Failure != nil {
			fmt.Fprintf(&b, "  %s; detect %v, abort %v, replan %v, finish %v, redone %v, repeated %v\n", run.Failure.Text, run.Detect, run.Abort, run.Replan, run.Finish, run.Redone, run.Repeated)
		}
	}
	for _, j := range r.Expect {
		fmt.Fprintf(&b, "%s: %s (%s)\n", j.State, j.Text, j.Got)
	}
	return b.String()
}
