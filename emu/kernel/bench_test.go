package kernel_test

import (
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/kernel"
	"github.com/railyard/railyard/emu/transit"
	"github.com/railyard/railyard/shaping"
)

// BenchmarkEvents is how many events a second one core handles. One operation
// is one event, in steady state, so allocs/op must read 0.
//
//	small  4 nodes × 8 GPUs; all that is touched fits a core's own cache
//	large  128 nodes × 8 GPUs = 1,024 ranks; it does not
//
// The batch is an all-reduce of 1 GiB on a ring of 8 channels, one slice a
// chunk, again and again.
func BenchmarkEvents(b *testing.B) {
	b.Run("small", func(b *testing.B) { benchmarkEvents(b, 4) })
	b.Run("large", func(b *testing.B) { benchmarkEvents(b, 128) })
}

func benchmarkEvents(b *testing.B, nodes int) {
	k := endless(b, nodes)
	handle(k, nodes<<14) // until calendars and queues have their size
	b.ReportAllocs()
	b.ResetTimer()
	handle(k, b.N)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

// handle handles n events, and forgets their effects as predict does.
func handle(k *kernel.Kernel, n int) {
	const slice = 1 << 14
	for ; n > 0; n -= slice {
		k.Run(shaping.Never, min(n, slice))
		k.Forget()
	}
}

// endless returns a kernel with more iterations to run than anybody will wait
// for.
func endless(b *testing.B, nodes int) *kernel.Kernel {
	f := build(b, servers(nodes, 8))
	run := allReduce("ring", collective.Options{Channels: 8, Slices: 1}, f.All(), 1<<30)
	run.Iterations = 1 << 30
	batch := emu.Batch{Runs: []emu.Run{run}}
	w, err := kernel.Lay(f, batch, func(int) bool { return true })
	if err != nil {
		b.Fatal(err)
	}
	k := kernel.New(kernel.Config{Fabric: f, Owners: transit.Owners{Node: make([]int, nodes)}})
	k.Begin(batch, w)
	return k
}

// BenchmarkOut is what a participant needs once a window for its bound: one of
// four nodes, with 32 connections that cross, after its first window.
func BenchmarkOut(b *testing.B) {
	f := build(b, servers(4, 8))
	run := allReduce("ring", collective.Options{Channels: 16}, f.All(), 1<<30)
	batch := emu.Batch{Runs: []emu.Run{run}}
	w, err := kernel.Lay(f, batch, func(node int) bool { return node == 0 })
	if err != nil {
		b.Fatal(err)
	}
	k := kernel.New(kernel.Config{Fabric: f, Owners: transit.Owners{Node: []int{0, 1, 2, 3}, Shared: 4}})
	k.Begin(batch, w)
	k.Run(k.Out(), 0)
	b.ReportAllocs()
	for b.Loop() {
		if k.Out() == shaping.Never {
			b.Fatal("nothing to send after the first window")
		}
	}
}
