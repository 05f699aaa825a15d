package verbs

import (
	"context"
	"time"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/kernel"
	"github.com/railyard/railyard/emu/predict"
	"github.com/railyard/railyard/emu/sweep"
	"github.com/railyard/railyard/emu/timeline"
	"github.com/railyard/railyard/internal/cli"
	"github.com/railyard/railyard/internal/coordinator"
	"github.com/railyard/railyard/internal/report"
	"github.com/railyard/railyard/shaping"
)

// predict runs a sweep in one kernel, here.
func (v verbs) predict(ctx context.Context, c cli.BenchConfig, sink report.Sink) error {
	t, err := newTable(ctx, &c, sink)
	if err == nil {
		err = t.end("predict", v.version, foresee(ctx, &c, t))
	}
	return coded(ctx, err)
}

func foresee(ctx context.Context, c *cli.BenchConfig, t *table) error {
	f, sw, err := asked(c)
	if err != nil {
		return err
	}
	if err := t.begin(coordinator.Started{Cluster: f.Cluster, Devices: coordinator.Devices(f, sw.World), Rows: len(sw.Cases)}); err != nil {
		return err
	}
	tellCost(sw, func(text string) { t.sink.Progress(0, 0, text) })
	s := predict.New(f, t.records != nil)
	s.Stop = ctx.Err
	if t.records != nil {
		w := timeline.NewWriter(t.writer(), f.PortName)
		s.Visit = func(e *kernel.Effects) error {
			for i := range e.Records {
				if err := w.Write(&e.Records[i]); err != nil {
					return err
				}
			}
			return w.Flush()
		}
	}
	return rows(f, s, sw, t)
}

// foresee has predict say what it thinks of a sweep, for --compare.
func (t *table) foresee(ctx context.Context, f *fabric.Fabric, sw *sweep.Sweep) error {
	if !t.config.Compare {
		return nil
	}
	t.sink.Progress(0, 0, "predicting")
	s := predict.New(f, false)
	s.Stop = ctx.Err
	return sw.Run(func(_ *sweep.Case, b emu.Batch) (sweep.Result, error) {
		out, err := s.Execute(b)
		return sweep.Result{Outcome: out}, err
	}, func(r sweep.Row) error {
		t.predicted = append(t.predicted, r)
		return nil
	})
}

func rows(f *fabric.Fabric, s *predict.Session, sw *sweep.Sweep, t *table) error {
	var cost coordinator.Cost
	var use sweep.Use
	return sw.Run(func(_ *sweep.Case, b emu.Batch) (sweep.Result, error) {
		start := time.Now()
		out, err := s.Execute(b)
		cost.Add(coordinator.Cost{Events: out.Events, Wall: time.Since(start)})
		use = used(s.Kernel(), out.Now.Sub(b.Runs[0].Offset))
		return sweep.Result{Outcome: out}, err
	}, func(r sweep.Row) error {
		row := coordinator.Row{Row: r, Cost: cost, Explain: use.Explain(f)}
		cost, use = coordinator.Cost{}, sweep.Use{} // a row that runs nothing spends nothing
		return t.row(row)
	})
}

func used(k *kernel.Kernel, span shaping.Duration) sweep.Use {
	s := k.Spent()
	u := sweep.Use{Span: span, Busy: s.Busy, WaitData: s.WaitData, WaitSlot: s.WaitSlot, WaitDep: s.WaitDep}
	for _, p := range k.Ports() {
		u.Ports = append(u.Ports, sweep.PortUse{Port: p.Port, Busy: p.Busy})
	}
	return u
}
