package simtest_test

import (
	"slices"
	"testing"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/predict"
	"github.com/railyard/railyard/emu/simtest"
)

// TestPoolsCostNothing: a fabric that is ready for faults, with ports for what
// nothing contends for, gives the same ends to the picosecond.
func TestPoolsCostNothing(t *testing.T) {
	cases := 0
	for seed := range uint64(120) {
		c := simtest.Draw(seed)
		bare, pools := built(t, c.Cluster, false), built(t, c.Cluster, true)
		if pools.Ports() == bare.Ports() {
			continue
		}
		cases++
		b := c.Batches[0]
		want, err := predict.New(bare, false).Execute(b)
		if err != nil {
			t.Fatal(err)
		}
		got, err := predict.New(pools, false).Execute(b)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Ends, want.Ends) {
			t.Errorf("seed %d: %d ends, not as without pools", seed, len(got.Ends))
		}
	}
	if cases < 15 {
		t.Errorf("%d of the seeds have pools that nothing contends for; want 15", cases)
	}
}

func built(t *testing.T, c emu.Cluster, pools bool) *fabric.Fabric {
	t.Helper()
	f, err := fabric.NewWith(c, fabric.Options{Pools: pools})
	if err != nil {
		t.Fatal(err)
	}
	return f
}
