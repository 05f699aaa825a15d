package kernel_test

import (
	"slices"
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/kernel"
	"github.com/railyard/railyard/emu/predict"
	"github.com/railyard/railyard/emu/simtest"
	"github.com/railyard/railyard/shaping"
)

// Out is a promise: until something more reaches a kernel, whatever it sends is
// stamped at or after it. Every promise is remembered, and the latest counts,
// until a frame is accepted. On the way the cases end as predict says.
func TestOutIsALowerBound(t *testing.T) {
	checked := 0
	drawn(t, func(t *testing.T, c *simtest.Case) {
		checked += promises(t, c, min(1+int(c.Seed%4), c.Cluster.Nodes()))
	})
	if checked == 0 {
		t.Fatal("nothing was sent: no promise was put to the test")
	}
}

// Switches of the fabric answer without a post: the bound must know of it.
func TestOutIsALowerBoundOfSwitches(t *testing.T) {
	for _, algorithm := range []string{"collnetdirect", "collnetchain"} {
		for seed := range uint64(4) {
			c := simtest.Case{Seed: seed, Cluster: servers(4, 2)}
			run := allReduce(algorithm, collective.Options{Channels: 3}, build(t, c.Cluster).All(), 100_000)
			run.Iterations = 2
			c.Batches = []emu.Batch{{Runs: []emu.Run{run}}}
			if promises(t, &c, 1+int(seed)) == 0 && seed > 0 {
				t.Fatal("nothing was sent: no promise was put to the test")
			}
		}
	}
}

// promises runs a case on n participants, compares all that is sent with what
// was promised, and the end with what predict says. It returns how much was sent.
func promises(t *testing.T, c *simtest.Case, n int) (checked int) {
	t.Helper()
	s := newSpread(t, c.Cluster, c.Host(n, c.Seed))
	promised := make([]shaping.Time, len(s.kernels))
	s.begin(c.Batches[0])
	for i, k := range s.kernels {
		promised[i] = k.Out()
	}
	s.emitted = func(from int, e *kernel.Emission) {
		checked++
		if e.Tail < promised[from] {
			t.Fatalf("participant %d promised nothing before %d ps and sends %+v", from, promised[from], e.Header)
		}
	}
	s.handed = func(to int) { promised[to] = s.kernels[to].Out() }
	s.handled = func(who int) { promised[who] = max(promised[who], s.kernels[who].Out()) }
	s.run()
	if want := predicted(t, c); !slices.Equal(s.ends, want) {
		t.Errorf("ends %v, predict says %v", s.ends, want)
	}
	return checked
}

func predicted(t *testing.T, c *simtest.Case) []emu.End {
	t.Helper()
	out, err := predict.New(build(t, c.Cluster), false).Execute(c.Batches[0])
	if err != nil {
		t.Fatal(err)
	}
	return out.Ends
}

// A kernel with nothing pending, or with all of its peers at home, sends
// nothing, and says so.
func TestOutIsNeverWhenNothingCrosses(t *testing.T) {
	for _, host := range [][]int{{0, 0}, {0, 1}} {
		s := newSpread(t, servers(2, 2), host)
		s.begin(emu.Batch{Runs: []emu.Run{allReduce("ring", one, []int{0, 1}, 4096), allReduce("ring", one, []int{2, 3}, 4096)}})
		for i, k := range s.kernels {
			if out := k.Out(); out != shaping.Never {
				t.Errorf("hosts %v, participant %d: out %d ps, but nothing crosses", host, i, out)
			}
		}
	}
	s := newSpread(t, servers(2, 1), []int{0, 1})
	s.begin(emu.Batch{Runs: []emu.Run{allReduce("ring", one, []int{0, 1}, 4096)}})
	for i, k := range s.kernels {
		if out := k.Out(); out == shaping.Never || out < shaping.Time(5*us) {
			t.Errorf("participant %d: out %d ps before the first frame is sent", i, out)
		}
	}
	s.run()
	for i, k := range s.kernels {
		if out := k.Out(); out != shaping.Never {
			t.Errorf("participant %d: out %d ps when all is over", i, out)
		}
	}
}
