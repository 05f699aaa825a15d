package predict_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/predict"
	"github.com/railyard/railyard/emu/sweep"
	"github.com/railyard/railyard/shaping"
)

// How far a cell of the table may be off the mean of many iterations, in ‰:
// nearly every case; any; and any of those in which ranks do not wait for all
// others, so that some are ahead by what FIFOs hold and it takes as many
// iterations to settle.
const (
	usual      = 1
	worst      = 85
	worstAhead = 200
)

// TestSteadyState compares, over a grid, what a cell of the table says with the
// mean of iterations that nobody runs: sweep holds that after its warm-up the
// timed iterations are like all later ones. Cases where they are not, because
// iterations alternate or settle late, are listed; -rewrite lists them anew.
func TestSteadyState(t *testing.T) {
	datadriven.RunTest(t, "testdata/steady.txt", func(t *testing.T, d *datadriven.TestData) string {
		if d.Cmd != "steady" {
			d.Fatalf(t, "unknown command %q", d.Cmd)
		}
		var nodes, gpus int
		d.ScanArgs(t, "nodes", &nodes)
		d.ScanArgs(t, "gpus", &gpus)
		var listed strings.Builder
		n := 0
		f := servers(t, nodes, gpus)
		shape := f.Shape(f.All())
		for _, a := range collective.Algorithms() {
			for _, op := range a.Ops {
				for _, p := range []collective.Protocol{collective.LL, collective.Simple} {
					if a.Check(collective.Use{Op: op, Protocol: p}, shape) != nil {
						continue
					}
					n += steadyRow(t, &listed, nodes, gpus, sweepSpec(a.Name, op, p))
				}
			}
		}
		return fmt.Sprintf("%d cases, off by more than %d ‰:\n%s", n, usual, listed.String())
	})
}

func sweepSpec(algorithm string, op collective.Op, p collective.Protocol) sweep.Spec {
	return sweep.Spec{Op: op, MinBytes: 512, MaxBytes: 128 << 10, Factor: 16, Iterations: 20, Warmup: 5,
		RedOps: []collective.RedOp{collective.Sum}, DTypes: []collective.DType{collective.Float32},
		Algorithm: algorithm, Protocol: p, Payload: sweep.PayloadNone, Launch: sweep.LaunchPerGPU}
}

// steadyRow looks at every size of one way to do an operation, and returns how
// many there are.
func steadyRow(t *testing.T, listed *strings.Builder, nodes, gpus int, spec sweep.Spec) int {
	t.Helper()
	f := servers(t, nodes, gpus)
	sw, err := sweep.New(f, spec)
	if err != nil {
		t.Fatal(err)
	}
	for i := range sw.Cases {
		c := &sw.Cases[i]
		out := execute(t, predict.New(f, false), c.Run)
		cell := out.Period(0, &c.Run, c.Warmup)
		mean := meanPeriod(t, predict.New(f, false), c.Run)
		off := max(cell-mean, mean-cell)
		what := fmt.Sprintf("%-14s %s %-6v %7d B, %2d channels: %s, mean %s",
			spec.Op, spec.Algorithm, spec.Protocol, c.Size, c.Channels, micro(cell), micro(mean))
		if off*1000 > mean*usual {
			fmt.Fprintf(listed, "%s (%+.1f ‰)\n", what, 1000*float64(cell-mean)/float64(mean))
		}
		limit := shaping.Duration(worst)
		if !spec.Op.Reduces() || spec.Op == collective.Reduce {
			limit = worstAhead
		}
		if off*1000 > mean*limit {
			t.Errorf("%d × %d, %s: off by more than %d ‰", nodes, gpus, what, limit)
		}
	}
	return len(sw.Cases)
}

// meanPeriod returns the mean over 8 iterations after 8 that warm up.
func meanPeriod(t *testing.T, s *predict.Session, run emu.Run) shaping.Duration {
	t.Helper()
	const warmup, timed = 8, 8
	run.Iterations = warmup + timed
	out := execute(t, s, run)
	return out.Period(0, &run, warmup)
}

func micro(d shaping.Duration) string { return fmt.Sprintf("%.2f µs", float64(d)/1e6) }
