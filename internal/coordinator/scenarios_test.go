package coordinator

import (
	"context"
	"fmt"
	"reflect"
	"testing"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/experiment"
	"github.com/railyard/railyard/emu/simtest"
	"github.com/railyard/railyard/internal/wire"
)

// scenarioSeeds are what is drawn: the first, and 73, in which a process is killed
// before anything happens.
var scenarioSeeds = []uint64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 73}

const (
	// scenarioFrames leaves out scenarios of which one alone would take longer than
	// all the others. In one goroutine, make sim runs those too.
	scenarioFrames = 3000
)

// TestDrawnScenarios gives scenarios that make sim draws to daemons: faults of all
// types, retries, survivors. The report is the one that one kernel gives.
func TestDrawnScenarios(t *testing.T) {
	t.Parallel()
	struck := 0
	for _, seed := range scenarioSeeds {
		s := simtest.DrawScenario(seed)
		want, err := simtest.Play(s, 2)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if want.Frames > scenarioFrames || want.Setup.Schedule == nil {
			continue
		}
		for i := range want.Report.Runs {
			struck += len(want.Report.Runs[i].Attempts)
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			u := want.Setup
			r := gather(t, s.Cluster, min(3, s.Cluster.Nodes()), hold(seed))
			x, err := r.Struck(wire.Struck{Faults: u.Scenario.Faults, Bear: u.Bear, Seed: u.Scenario.Cluster.Seed, Horizon: experiment.Horizon}, nil, true)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), bound)
			defer cancel()
			got, err := u.Run(func(b emu.Batch) (experiment.Executed, error) {
				res, _, err := x.Execute(ctx, b)
				return experiment.Executed{Outcome: res.Outcome, Wrong: res.Wrong}, err
			}, experiment.Watcher{})
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want.Report) {
				t.Errorf("predict reports\n%+v\ndaemons\n%+v\n%s", want.Report, got, u.YAML())
			}
		})
	}
	if struck == 0 {
		t.Error("no scenario was small enough to run")
	}
}
