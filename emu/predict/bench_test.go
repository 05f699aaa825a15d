package predict_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/predict"
)

// BenchmarkPredict1024 is one all-reduce of 1 GiB on a ring of 128 nodes × 8
// GPUs = 1,024 ranks, plan and wiring included. It takes a minute or two. The
// aim is less than 60 s and 1 GiB with 8 channels and one slice a chunk; MiB is
// what the process has had from the system.
func BenchmarkPredict1024(b *testing.B) {
	f, err := fabric.New(emu.Cluster{Groups: []emu.Group{{Count: 128, System: "dgx-h100"}}})
	if err != nil {
		b.Fatal(err)
	}
	for _, o := range []collective.Options{{Channels: 8, Slices: 1}, {Channels: 16, Slices: 2}} {
		b.Run(fmt.Sprintf("channels=%d/slices=%d", o.Channels, o.Slices), func(b *testing.B) {
			run := emu.Run{Op: collective.AllReduce, Algorithm: "ring", Options: o, Comm: f.All(), Count: 1 << 28, Iterations: 1}
			events := uint64(0)
			for b.Loop() {
				out, err := predict.New(f, false).Execute(emu.Batch{Runs: []emu.Run{run}})
				if err != nil {
					b.Fatal(err)
				}
				events += out.Events
			}
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
			b.ReportMetric(float64(events)/float64(b.N), "events/op")
			b.ReportMetric(float64(m.Sys>>20), "MiB")
		})
	}
}
