package simtest

import (
	"cmp"
	"flag"
	"fmt"
	"runtime/debug"
	"testing"

	"github.com/railyard/railyard/emu/fabric"
)

var (
	simSeed = flag.Uint64("sim.seed", 1, "first seed of the simulated cases")
	simN    = flag.Int("sim.n", 10, "number of simulated cases")
	simLaw  = flag.Int("sim.law", 0, "number of those of TestSim, which are larger; 0: sim.n")
)

// TestSim draws random clusters and runs and checks, from outside the kernel,
// that predict and the virtual clock agree to the picosecond for several ways
// to spread the nodes, and that no port carries more than it can.
func TestSim(t *testing.T) {
	crossed := uint64(0)
	for i := range cmp.Or(*simLaw, *simN) {
		c := Draw(*simSeed + uint64(i))
		frames, err := verify(&c)
		crossed += frames
		if err != nil {
			small := Shrink(c)
			_, why := verify(&small)
			t.Fatalf("replay with: make sim SEED=%d N=1\n%v\n%v\nsmallest failing case found:\n%v\n%v", c.Seed, err, c, why, small)
		}
	}
	if crossed == 0 {
		t.Fatal("no frame crossed between participants: the law was not put to the test")
	}
}

// verify runs a case in one kernel and on several, and compares.
func verify(c *Case) (frames uint64, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	want, err := c.Predict()
	if err != nil {
		return 0, err
	}
	f, err := fabric.New(c.Cluster)
	if err != nil {
		return 0, err
	}
	if err := Capacity(f, want.Records); err != nil {
		return 0, err
	}
	for _, n := range []int{1, 2, 4, 8} {
		n = min(n, c.Cluster.Nodes())
		got, err := c.Virtual(n, c.Seed+uint64(n))
		if err != nil {
			return frames, err
		}
		frames += got.Frames
		if got.Wrong != nil {
			return frames, got.Wrong
		}
		if err := Compare(want, got); err != nil {
			return frames, err
		}
	}
	return frames, nil
}
