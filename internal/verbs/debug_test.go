package verbs

import (
	"bytes"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/tuner"
	"github.com/railyard/railyard/internal/cli"
	"github.com/railyard/railyard/internal/coordinator"
	"github.com/railyard/railyard/internal/report"
)

// testdata/debug.txt: the log of a communicator, and of what the tuner chose.
//
//	log nodes=2 gpus=2 [channels=2] [level=info] [subsys=(INIT,NET)]
func TestDebugLog(t *testing.T) {
	datadriven.RunTest(t, "testdata/debug.txt", func(t *testing.T, d *datadriven.TestData) string {
		g := emu.Group{System: "dgx-h100"}
		c := &cli.BenchConfig{Op: collective.AllReduce, Env: []string{"NCCL_ALGO=Ring", "NCCL_TESTS_MIN_BW=3"}}
		d.ScanArgs(t, "nodes", &g.Count)
		d.ScanArgs(t, "gpus", &g.GPUs)
		d.MaybeScanArgs(t, "channels", &c.Channels)
		c.Debug.Level = "info"
		d.MaybeScanArgs(t, "level", &c.Debug.Level)
		for _, a := range d.CmdArgs {
			if a.Key == "subsys" {
				c.Debug.Subsystems = a.Vals
			}
		}
		var out bytes.Buffer
		c.Debug.Out = &out
		f, err := fabric.New(emu.Cluster{Groups: []emu.Group{g}})
		if err != nil {
			t.Fatal(err)
		}
		tab := &table{config: c}
		for gpu := range f.GPUs() {
			n := f.NodeOf(gpu)
			tab.started.Devices = append(tab.started.Devices, coordinator.Device{Rank: gpu, Node: n, GPU: f.Local(gpu), PID: int64(100 + n)})
		}
		tab.started.Cluster = f.Cluster
		if err := tab.debug(&tab.started); err != nil {
			t.Fatal(err)
		}
		r := &coordinator.Row{}
		r.Chosen, r.Channels = tuner.Estimate{Algorithm: "ring", Protocol: collective.LL128}, 4
		tab.debugChoice(&report.Row{Size: 1024}, r)
		return out.String()
	})
}

// Without NCCL_DEBUG nothing is made, let alone written.
func TestNoDebugLog(t *testing.T) {
	tab := &table{config: &cli.BenchConfig{}}
	if err := tab.debug(&coordinator.Started{Cluster: emu.Cluster{}, Devices: make([]coordinator.Device, 1)}); err != nil {
		t.Error(err)
	}
}

// The rings of the log are closed: each rank once, in the plan's order.
func TestLoggedRings(t *testing.T) {
	p, err := collective.Build(tuner.Ring, collective.AllReduce, collective.Uniform(3, 4), collective.Options{Channels: 4})
	if err != nil {
		t.Fatal(err)
	}
	for c := range p.Channels {
		order := circle(p, c)
		seen := map[int]bool{}
		for _, r := range order {
			seen[r] = true
		}
		if len(seen) != p.Ranks || next(p, order[len(order)-1], c) != 0 {
			t.Errorf("channel %d: %s", c, strings.TrimSpace(join(order)))
		}
	}
}
