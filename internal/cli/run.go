package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/experiment"
	"github.com/railyard/railyard/emu/suggest"
)

// Predict is the clock that needs no other process.
const Predict = "predict"

var runClocks = []string{"virtual", Predict}

// RunConfig is everything run was told.
type RunConfig struct {
	Common

	File     string
	Scenario emu.Scenario
	Clock    string // "virtual" or Predict
	Procs    int    // processes to spread the nodes over; 0 is one a node
	Nodesim  string // path of the nodesim binary; empty looks for it
	Store    string // folder of results; empty: none
	JUnit    string // file for JUnit's XML; empty: none
	// WriteFile writes a file in one piece.
	WriteFile func(path string, data []byte) error
	// Timeout in wall time ends a run that takes longer; 0 for none.
	Timeout time.Duration
}

func (c *RunConfig) settings(seed *int64, effective *bool) []setting {
	return []setting{
		{name: "clock", arg: "CLOCK", def: "virtual", values: runClocks, usage: "who advances time: virtual, on real processes; predict, in this one", set: choice(&c.Clock, runClocks, nil)},
		{name: "procs", arg: "N", usage: "processes to spread the nodes over (default one a node)", set: whole(&c.Procs, 1, maxCount)},
		{name: "nodesim", arg: "PATH", usage: "the nodesim binary (default beside this one, then on PATH)", set: text(&c.Nodesim)},
		{name: "store", arg: "DIR", def: "store", usage: `folder for results, one each time in DIR/NAME/TIME; "" for none`, set: text(&c.Store)},
		{name: "junit", arg: "FILE", usage: "write JUnit's XML, a test for each expectation", set: text(&c.JUnit)},
		{name: "seed", arg: "N", usage: "seeds faults, test data and every random draw (default the file's)", set: whole(seed, 0, 1<<63-1)},
		{name: "timeout", arg: "TIME", def: "0s", usage: "give up after this much wall time; 0 never", set: wallTime(&c.Timeout)},
		{name: "print-effective", usage: "print the scenario with every default filled in, and run nothing", set: toggle(effective)},
	}
}

func (a *App) run() *cobra.Command {
	var c RunConfig
	var seed int64
	var effective bool
	settings := append(c.settings(&seed, &effective), c.Common.settings()...)
	cmd := &cobra.Command{
		Use: "run SCENARIO.yaml", Short: "Run an experiment with faults and expectations",
		Long: "Run an experiment: operations on a cluster, faults that strike meanwhile, and what\nis expected. The verdict comes first; results are kept under --store.\n\n" +
			"Exit codes: 0 every expectation holds, 1 one does not, 2 one could not be judged,\n64 usage or a bad file.",
		Example: "  coordinator run deploy/scenarios/nic-flap-during-tree.yaml",
		RunE: func(cmd *cobra.Command, args []string) error {
			sources := map[string]source{}
			errs := []error{apply(cmd.Flags(), settings, a.Getenv, sources)}
			c.finish(a)
			switch {
			case len(args) == 0:
				errs = append(errs, errors.New("run needs a scenario file: coordinator run scenario.yaml"))
			case len(args) > 1:
				errs = append(errs, fmt.Errorf("run takes one scenario, not %q as well", args[1]))
			default:
				c.File = args[0]
				var err error
				c.Scenario, err = a.scenario(c.File)
				errs = append(errs, err)
			}
			if sources["seed"].from == "flag" {
				c.Scenario.Cluster.Seed = uint64(seed)
			}
			if c.Format == "csv" {
				errs = append(errs, errors.New("--format csv: run prints a table or json"))
			}
			if n := c.Scenario.Cluster.Nodes(); c.Procs > n && n > 0 {
				errs = append(errs, fmt.Errorf("--procs %d: the scenario has %d nodes, and a node is in one process", c.Procs, n))
			}
			if err := errors.Join(errs...); err != nil {
				return &ExitError{ExitUsage, err}
			}
			a.scenarioSaysAll(&c)
			return a.carryOut(cmd.Context(), c, effective)
		},
	}
	register(cmd, settings)
	return cmd
}

// scenarioSaysAll notes variables of NCCL that whoever set them may take to be in
// force: a scenario means the same everywhere, so none is read.
func (a *App) scenarioSaysAll(c *RunConfig) {
	if c.Quiet {
		return
	}
	var set []string
	for _, entry := range a.Environ() {
		if name, v, _ := strings.Cut(entry, "="); v != "" && strings.HasPrefix(name, "NCCL_") && name != containsNCCL {
			set = append(set, suggest.Clip(name))
		}
	}
	if slices.Sort(set); len(set) > 0 {
		a.complain("coordinator", "note: "+strings.Join(set, ", ")+": no effect, as a scenario says all itself: algo, proto and channels of each run, and resilience")
	}
}

func (a *App) carryOut(ctx context.Context, c RunConfig, effective bool) error {
	if effective {
		_, err := a.Stdout.Write(effectively(c.Scenario))
		return err
	}
	if a.Hosts.Run == nil {
		return &ExitError{ExitUsage, notYet("run")}
	}
	if c.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.Timeout)
		defer cancel()
	}
	c.WriteFile = a.WriteFile
	p := newProgress(a.Stderr, c.Quiet)
	defer p.clear()
	return a.Hosts.Run(ctx, c, a.Stdout, p.show)
}

// scenario reads a scenario file. Files that it names lie beside it.
func (a *App) scenario(path string) (emu.Scenario, error) {
	data, err := a.ReadFile(path)
	if err != nil {
		return emu.Scenario{}, err
	}
	return emu.LoadScenario(path, data, scenarioKnown(), func(other string) ([]byte, error) {
		if !filepath.IsAbs(other) {
			other = filepath.Join(filepath.Dir(path), other)
		}
		return a.ReadFile(other)
	})
}

// scenarioKnown is what the catalog and the faults offer to scenarios.
func scenarioKnown() emu.Known {
	k := known()
	k.Fabric = func(name string) (kind, link string, err error) {
		kind, link, err = parseFabric(name)
		if err != nil {
			err = errors.New(strings.TrimPrefix(err.Error(), "--fabric "))
		}
		return kind, link, err
	}
	k.Faults = experiment.Faults()
	return k
}

// effectively returns a scenario with every default filled in.
func effectively(s emu.Scenario) []byte {
	s.Cluster = s.Cluster.Effective(known())
	return s.YAML(experiment.Faults().Words)
}
