package coordinator

import (
	"context"
	"io"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/sweep"
)

// Device is where a rank of a bench is.
type Device struct {
	Rank, Node, GPU int
	Group           int    // the colour of its communicator
	PID             int64  // of the nodesim that hosts it; 0 where there is none
	Model           string // of the emulated GPU
}

// Started is what is known before the first row.
type Started struct {
	Cluster emu.Cluster // effective
	Devices []Device
	Rows    int
	Procs   int
}

// Row is a line of the table and what it cost.
type Row struct {
	sweep.Row
	Cost    Cost
	Explain string // where the time went
	Pace    *Pace  // nil under the virtual clock
}

// Sink takes a bench as it goes.
type Sink struct {
	Started func(Started) error
	Row     func(Row) error
	// Doing, when set, is told what goes on, for people who wait.
	Doing func(what string)
	// Changed, when set, is told when faults have changed while the bench runs.
	Changed func(Change)
	// Gone, when set, is closed when nobody waits for the bench any more. A batch by
	// the wall clock, which may take hours, then keeps time no longer.
	Gone <-chan struct{}
	// Timeline, when set, gets one JSON record a line, in the kernel's order.
	Timeline io.Writer
}

// Bench runs a sweep in an emulated session of its own.
func (k *Cluster) Bench(ctx context.Context, spec sweep.Spec, sink Sink) error {
	sw, err := sweep.New(k.fabric, spec)
	if err != nil {
		return verdict(config(err))
	}
	err = sink.Started(Started{Cluster: k.fabric.Cluster, Devices: k.devices(sw.World), Rows: len(sw.Cases), Procs: len(k.members)})
	if err != nil {
		return err
	}
	var t *merger
	if sink.Timeline != nil {
		t = newMerger(sink.Timeline, k.fabric)
	}
	s := k.newSession(t, spec.Check)
	execute := func(_ *sweep.Case, b emu.Batch) (sweep.Result, Cost, error) { return s.execute(ctx, b) }
	if spec.Paced {
		if s.pacing, err = k.newPacing(ctx, spec.Dilation, sink); err != nil {
			return err
		}
		execute = func(c *sweep.Case, b emu.Batch) (sweep.Result, Cost, error) { return s.paced(ctx, c, b) }
	}
	return k.sweep(s, sw, sink, execute)
}

// sweep runs the cases of a sweep in a session.
func (k *Cluster) sweep(s *session, sw *sweep.Sweep, sink Sink, execute func(*sweep.Case, emu.Batch) (sweep.Result, Cost, error)) error {
	var cost Cost
	return sw.Run(func(c *sweep.Case, b emu.Batch) (sweep.Result, error) {
		res, spent, err := execute(c, b)
		cost.Add(spent)
		return res, err
	}, func(r sweep.Row) error {
		row := Row{Row: r, Cost: cost, Explain: s.use.Explain(s.fabric), Pace: s.pacing.take()}
		cost, s.use = Cost{}, sweep.Use{} // a row that runs nothing spends nothing
		return sink.Row(row)
	})
}

// Processes returns over how many nodesims the nodes are spread.
func (k *Cluster) Processes() int { return len(k.members) }

// Fabric returns the cluster made concrete.
func (k *Cluster) Fabric() *fabric.Fabric { return k.fabric }

func (k *Cluster) devices(world []sweep.Rank) []Device {
	all := Devices(k.fabric, world)
	for i := range all {
		all[i].PID = k.members[k.owners.Node[all[i].Node]].pid
	}
	return all
}

// Devices returns where the ranks of a world are, hosted by nobody.
func Devices(f *fabric.Fabric, world []sweep.Rank) []Device {
	all := make([]Device, len(world))
	for i, r := range world {
		n := f.NodeOf(r.GPU)
		all[i] = Device{Rank: i, Node: n, GPU: f.Local(r.GPU), Group: r.Group, Model: f.System(n).Model}
	}
	return all
}
