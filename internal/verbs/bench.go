package verbs

import (
	"context"
	"runtime"

	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/sweep"
	"github.com/railyard/railyard/internal/cli"
	"github.com/railyard/railyard/internal/coordinator"
	"github.com/railyard/railyard/internal/gossip"
	"github.com/railyard/railyard/internal/report"
	"github.com/railyard/railyard/internal/wire"
)

// bench runs a sweep on real processes: its own, or those of a coordinator that
// serves elsewhere.
func (v verbs) bench(ctx context.Context, c cli.BenchConfig, sink report.Sink) error {
	t, err := newTable(ctx, &c, sink)
	if err == nil {
		err = t.end("bench", v.version, v.run(ctx, &c, t))
	}
	return coded(ctx, err)
}

func (v verbs) run(ctx context.Context, c *cli.BenchConfig, t *table) error {
	if c.Plan != nil {
		if err := wire.CheckFile(c.Plan.Text); err != nil {
			return wire.Failf(wire.Config, "--plan %s: %v", c.PlanFile, err)
		}
	}
	if c.Connect != "" {
		return elsewhere(ctx, c, t)
	}
	// What cannot run is refused before anything is started.
	f, sw, err := asked(c)
	if err != nil {
		return err
	}
	if err := checkMemory(sw, memAvailable()); err != nil {
		return err
	}
	if err := t.foresee(ctx, f, sw); err != nil {
		return err
	}
	tellCost(sw, func(text string) { t.sink.Progress(0, 0, text) })
	tellProcesses(processes(c.Procs, f.Nodes()), runtime.NumCPU(), func(text string) { t.sink.Progress(0, 0, text) })
	t.sink.Progress(0, 0, "starting nodesims")
	k, err := coordinator.Start(ctx, coordinator.Config{Cluster: f.Cluster, Procs: c.Procs, Spawn: true,
		Nodesim: c.Nodesim, Version: v.version, Gossip: gossip.Loopback(), Logger: c.Log})
	if err != nil {
		return err
	}
	defer k.Close()
	return k.Bench(ctx, sw.Spec, t.coordinatorSink())
}

// asked returns the cluster and the sweep that a command line declares.
func asked(c *cli.BenchConfig) (*fabric.Fabric, *sweep.Sweep, error) {
	f, err := fabric.New(c.Cluster)
	if err != nil {
		return nil, nil, wire.Failf(wire.Config, "%v", err)
	}
	s, err := spec(c, f)
	if err != nil {
		return nil, nil, err
	}
	sw, err := sweep.New(f, s)
	if err != nil {
		return nil, nil, wire.Failf(wire.Config, "%v", err)
	}
	return f, sw, nil
}

// elsewhere runs a sweep on the cluster of another coordinator, which it asks
// first what that cluster is: ranks are placed on its nodes.
func elsewhere(ctx context.Context, c *cli.BenchConfig, t *table) error {
	client, err := coordinator.Connect(ctx, c.Connect)
	if err != nil {
		return err
	}
	defer client.Close()
	m, err := client.Status(ctx)
	if err != nil {
		return err
	}
	f, err := declared(c.Connect, m.GetClusterYaml())
	if err != nil {
		return err
	}
	s, err := spec(c, f)
	if err != nil {
		return err
	}
	if c.Compare {
		sw, err := sweep.New(f, s)
		if err == nil {
			err = t.foresee(ctx, f, sw)
		}
		if err != nil {
			return wire.Failf(wire.Config, "%v", err)
		}
	}
	return client.Bench(ctx, s, t.coordinatorSink())
}
