package payload

import (
	"fmt"
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
)

// What switches reduce and multicast is right on every rank, on one machine and
// spread over several, in place and not; and a message that is lost, doubled,
// swapped or changed on the way through a switch is seen.
func TestSwitchesCarryPayload(t *testing.T) {
	for _, tc := range []struct {
		algorithm   string
		op          collective.Op
		nodes, gpus int
	}{
		{"nvls", collective.AllReduce, 1, 5}, {"nvls", collective.AllGather, 1, 6}, {"nvls", collective.ReduceScatter, 1, 5},
		{"nvls", collective.AllReduce, 1, 66},
		{"nvlstree", collective.AllReduce, 3, 2}, {"collnetdirect", collective.AllReduce, 3, 3}, {"collnetchain", collective.AllReduce, 2, 3},
	} {
		p, err := collective.Build(tc.algorithm, tc.op, collective.Uniform(tc.nodes, tc.gpus), collective.Options{Channels: 2})
		if err != nil {
			t.Fatal(err)
		}
		machines := tc.nodes
		if machines == 1 {
			machines = 3 // trays of a domain
		}
		for _, inPlace := range []bool{false, true} {
			run := emu.Run{Op: tc.op, Count: 1021, Real: 1021, Seed: 7, InPlace: inPlace}
			what := fmt.Sprintf("%s %s in place %v", tc.algorithm, tc.op, inPlace)
			for _, machines := range []int{1, machines} {
				c := newCluster(t, run, p, geometry(p, run.Count, 2, 1), machines)
				c.run(t)
				if n := c.wrong(); n != 0 {
					t.Errorf("%s on %d machines: %d wrong", what, machines, n)
				}
			}
			for _, m := range mutations {
				for k := 0; k < 200; k += 17 {
					c := newCluster(t, run, p, geometry(p, run.Count, 2, 1), 1)
					changed := mutate(c, k, m.do)
					c.run(t)
					if *changed && c.wrong() == 0 {
						t.Errorf("%s: message %d %s, and nothing is wrong", what, k, m.name)
					}
				}
			}
		}
	}
}
