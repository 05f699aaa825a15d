package verbs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/experiment"
	"github.com/railyard/railyard/emu/rehearse"
	"github.com/railyard/railyard/internal/cli"
	"github.com/railyard/railyard/internal/coordinator"
	"github.com/railyard/railyard/internal/gossip"
	"github.com/railyard/railyard/internal/lab"
	"github.com/railyard/railyard/internal/wire"
)

// scenario is a run of a scenario on its way.
type scenario struct {
	*cli.RunConfig
	version  string
	setup    *experiment.Setup
	store    *lab.Store // nil: none
	kept     error      // the first that went wrong with what is kept, or with JUnit
	wall     lab.Wall
	began    time.Time
	progress func(done, total int, what string)
}

// stage is who executes the batches of a scenario.
type stage interface {
	execute(emu.Batch) (experiment.Executed, error)
	// deaths says how soon the host noticed the death of processes that faults killed,
	// and how others ended.
	deaths() (killed []lab.Detected, perturbed []string)
	close()
}

// scenario carries a scenario out.
func (v verbs) scenario(ctx context.Context, c cli.RunConfig, out io.Writer, progress func(done, total int, what string)) error {
	s := &scenario{RunConfig: &c, version: v.version, progress: progress, began: time.Now()}
	r, err := s.run(ctx)
	if err != nil {
		return coded(ctx, err)
	}
	// Whatever could not be written, the verdict is not lost.
	if err := errors.Join(s.show(r, out), s.kept); err != nil {
		return err
	}
	return verdictOf(r)
}

// verdictOf is the error of a report that did not pass.
func verdictOf(r *experiment.Report) error {
	switch {
	case r.Passed():
		return nil
	case r.Unjudged():
		return &cli.ExitError{Code: cli.ExitUnjudged, Err: errors.New(r.Name + ": an expectation could not be judged")}
	case len(r.Expect) == 0:
		return &cli.ExitError{Code: cli.ExitInvalid, Err: errors.New(r.Name + ": a run was not done, and no expectation says that this is right")}
	default:
		return &cli.ExitError{Code: cli.ExitInvalid, Err: errors.New(r.Name + ": an expectation does not hold")}
	}
}

func (s *scenario) run(ctx context.Context) (*experiment.Report, error) {
	var err error
	if s.setup, err = rehearse.Prepare(s.Scenario, ctx.Err); err != nil {
		var p *emu.Problem
		if errors.As(err, &p) {
			return nil, wire.Failf(wire.Config, "%s: %v", s.File, err)
		}
		return nil, err
	}
	if s.Store != "" {
		if s.store, err = lab.Open(s.Store, s.Scenario.Name, s.began); err != nil {
			return nil, err
		}
		defer s.store.Close()
		s.note(s.store.Write("spec.yaml", s.setup.YAML()))
	}
	on, err := s.stage(ctx)
	if err != nil {
		return nil, err
	}
	defer on.close()
	r, err := s.setup.Run(on.execute, s.watcher())
	s.wall.Detected, s.wall.Perturbed = on.deaths()
	s.setup.Judge(r, s.detected)
	state := lab.Complete
	switch {
	case err != nil && ctx.Err() != nil:
		state = lab.Interrupted
	case err != nil:
		state = lab.Stranded
	}
	s.keep(r, state)
	return r, err
}

// note takes what became of a file. What a full disk does not take costs no run.
func (s *scenario) note(err error) {
	if s.kept == nil {
		s.kept = err
	}
}

// watcher keeps what happens, as it happens.
func (s *scenario) watcher() experiment.Watcher {
	phases := len(s.Scenario.Phases)
	return experiment.Watcher{
		Event: func(e experiment.Event) error {
			if s.store != nil { // first: what was said is kept, whatever comes next
				s.note(s.store.Event(s.setup, e))
			}
			s.progress(e.Run, phases, e.Kind+" "+e.Text)
			return nil
		},
		Run: func(r *experiment.Report) error {
			if s.store == nil {
				return nil
			}
			s.note(s.store.Results(s.setup, r, lab.Running))
			return nil
		},
	}
}

// detected says how soon the host noticed the death of a node's process.
func (s *scenario) detected(node string) (ns int64, ok bool) {
	for _, d := range s.wall.Detected {
		if d.Node == node {
			return int64(d.Seconds * float64(time.Second)), true
		}
	}
	return 0, false
}

// keep writes what there is at the end.
func (s *scenario) keep(r *experiment.Report, state lab.State) {
	s.wall.Began, s.wall.Version, s.wall.Clock = s.began.UTC().Format(time.RFC3339), s.version, s.Clock
	s.wall.Seconds = time.Since(s.began).Seconds()
	if s.store != nil {
		s.note(errors.Join(s.store.Results(s.setup, r, state), s.store.Write("wall.json", s.wall.JSON())))
	}
	if s.JUnit != "" && state == lab.Complete {
		s.note(s.WriteFile(s.JUnit, lab.JUnit(s.setup, r)))
	}
}

// show writes what there is to say to the user.
func (s *scenario) show(r *experiment.Report, out io.Writer) error {
	if s.Format == "json" {
		_, err := out.Write(lab.NewResults(s.setup, r, lab.Complete).JSON())
		return err
	}
	text := lab.Table(s.setup, r, lab.Complete)
	for _, d := range s.wall.Detected {
		text += fmt.Sprintf("\nby the host's clock the death of %s's process was noticed after %.3f s", d.Node, d.Seconds)
	}
	if len(s.wall.Detected) > 0 {
		text += "\n"
	}
	if s.store != nil && s.kept == nil {
		text += fmt.Sprintf("\nkept in %s\n", s.store.Path)
	}
	_, err := io.WriteString(out, text)
	return err
}

// stage returns who executes the batches: this process, or processes of their own.
func (s *scenario) stage(ctx context.Context) (stage, error) {
	if s.Clock == cli.Predict {
		s.wall.Processes = 1
		return alone{rehearse.NewLocal(s.setup, ctx.Err)}, nil
	}
	s.progress(0, 0, "starting nodesims")
	c := coordinator.Config{Cluster: s.setup.Fabric.Cluster, Procs: s.Procs, Spawn: true, Nodesim: s.Nodesim, Version: s.version, Gossip: gossip.Loopback(), Logger: s.Log}
	if s.store != nil {
		c.NodeLog = func(name string) (io.WriteCloser, error) { return s.store.NodeLog(name) }
	}
	k, err := coordinator.Start(ctx, c)
	if err != nil {
		return nil, err
	}
	s.wall.Processes = k.Processes()
	on := &cast{ctx: ctx, cluster: k}
	on.struck, err = k.Struck(wire.Struck{Faults: s.setup.Scenario.Faults, Bear: s.setup.Bear, Seed: s.setup.Scenario.Cluster.Seed, Horizon: experiment.Horizon}, nil, true)
	if err != nil {
		k.Close()
		return nil, err
	}
	return on, nil
}

// alone executes in one kernel, here.
type alone struct{ *rehearse.Local }

func (a alone) execute(b emu.Batch) (experiment.Executed, error) { return a.Execute(b) }
func (a alone) deaths() ([]lab.Detected, []string)               { return []lab.Detected{}, nil }
func (a alone) close()                                           {}

// cast executes on nodesims.
type cast struct {
	ctx     context.Context
	cluster *coordinator.Cluster
	struck  *coordinator.Struck
}

func (c *cast) execute(b emu.Batch) (experiment.Executed, error) {
	res, _, err := c.struck.Execute(c.ctx, b)
	return experiment.Executed{Outcome: res.Outcome, Wrong: res.Wrong}, err
}

func (c *cast) deaths() (killed []lab.Detected, perturbed []string) {
	killed = []lab.Detected{}
	for _, d := range c.struck.Deaths() {
		if d.Unforeseen {
			perturbed = append(perturbed, fmt.Sprintf("%s: %s", d.Member, d.How))
			continue
		}
		killed = append(killed, lab.Detected{Node: fmt.Sprintf("node%d", d.Node), Seconds: d.Noticed.Seconds()})
	}
	return killed, perturbed
}

func (c *cast) close() { c.cluster.Close() }
