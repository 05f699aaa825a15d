package wiring_test

import (
	"fmt"
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu/wiring"
)

// BenchmarkLay wires an all-to-all, whole and as one node of it, on 8 channels.
func BenchmarkLay(b *testing.B) {
	for _, nodes := range []int{8, 32, 128} {
		p, err := collective.Build("direct", collective.AllToAll, collective.Uniform(nodes, 8), collective.Options{Channels: 8})
		if err != nil {
			b.Fatal(err)
		}
		for _, part := range []int{p.Ranks, 8} {
			b.Run(fmt.Sprintf("%d of %d ranks", part, p.Ranks), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					w, err := wiring.Lay(p, 0, func(r int) bool { return r < part })
					if err != nil {
						b.Fatal(err)
					}
					b.ReportMetric(float64(len(w.Conns)), "conns")
				}
			})
		}
	}
}
