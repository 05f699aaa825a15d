package predict_test

import (
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu/predict"
	"github.com/railyard/railyard/emu/sweep"
	"github.com/railyard/railyard/shaping"
)

// TestAboveTwoGigaElements: nothing happens where counts and sizes leave 31 and
// 32 bits: more elements take no less time (by more than slices of unlike
// length explain), at the rates that links have. Of an
// all-gather each rank holds 2^31 and 2^32 bytes as well.
func TestAboveTwoGigaElements(t *testing.T) {
	f := servers(t, 1, 2)
	for _, op := range []collective.Op{collective.AllReduce, collective.AllGather, collective.ReduceScatter} {
		var last shaping.Duration
		for _, size := range []int64{1<<31 - 32, 1 << 31, 1<<31 + 32, 1<<32 - 32, 1 << 32, 1<<32 + 32, 4<<31 - 32, 4 << 31, 4<<31 + 32} {
			spec := sweepSpec("ring", op, collective.Simple)
			spec.MinBytes, spec.MaxBytes = size, size
			sw, err := sweep.New(f, spec)
			if err != nil {
				t.Fatal(err)
			}
			c := &sw.Cases[0]
			out := execute(t, predict.New(f, false), c.Run)
			took := out.Period(0, &c.Run, c.Warmup)
			rate := 1000 * float64(c.Size) / float64(took) // GB/s
			if took*1000 < last*999 || rate < 300 || rate > 700 {
				t.Errorf("%s of %d B takes %v, %.1f GB/s; 32 B less, or half, take %v", op, c.Size, took, rate, last)
			}
			last = took
		}
	}
}
