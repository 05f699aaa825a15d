package verbs

import (
	"context"

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
		client, err := coordinator.Connect(ctx, c.Connect)
		if err != nil {
			return err
		}
		defer client.Close()
		return client.Bench(ctx, spec(c), t.coordinatorSink())
	}
	// What cannot run is refused before anything is started.
	f, err := fabric.New(c.Cluster)
	if err != nil {
		return wire.Failf(wire.Config, "%v", err)
	}
	sw, err := sweep.New(f, spec(c))
	if err != nil {
		return wire.Failf(wire.Config, "%v", err)
	}
	if err := checkMemory(sw, memAvailable()); err != nil {
		return err
	}
	t.sink.Progress(0, 0, "starting nodesims")
	k, err := coordinator.Start(ctx, coordinator.Config{Cluster: c.Cluster, Procs: c.Procs, Spawn: true,
		Nodesim: c.Nodesim, Version: v.version, Gossip: gossip.Loopback(), Logger: c.Log})
	if err != nil {
		return err
	}
	defer k.Close()
	return k.Bench(ctx, spec(c), t.coordinatorSink())
}
