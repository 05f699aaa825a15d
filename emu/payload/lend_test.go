package payload

import (
	"testing"

	"github.com/railyard/railyard/collective"
)

// A run in place that takes over the inputs of the one before it gives the same
// as one that fills its own, and a broken run is still seen.
func TestLentInputs(t *testing.T) {
	const n = 4
	for _, c := range plans {
		p := c.build(n)
		g := geometry(p, 97, 2, 2)
		out := newRun(p, collective.Float32, collective.Sum, false)
		in := newRun(p, collective.Float32, collective.Sum, true)
		first := newCluster(t, out, p, g, 2)
		first.run(t)
		lends := first.hosts[0].Lends(&in, first.hosts[0].wiring, g)
		second := following(t, first, in, p, g, 2)
		second.run(t)
		if w := second.wrong(); w != 0 {
			t.Errorf("%s: %d wrong in place after a run out of place (lent %v)", c.name, w, lends)
		}
		if !lends {
			continue
		}
		third := following(t, newRunOut(t, c.build, g), in, p, g, 2)
		if w := third.wrong(); w == 0 && third.hosts[0].Verify(third.hosts[0].ranks[0].rank).Elements > 0 && n > 1 {
			t.Errorf("%s: a run in place that did nothing passes for right", c.name)
		}
	}
}

func newRunOut(t *testing.T, build func(int) *collective.Plan, g collective.Geometry) *cluster {
	p := build(4)
	c := newCluster(t, newRun(p, collective.Float32, collective.Sum, false), p, g, 2)
	c.run(t)
	return c
}

// Inputs are lent only to a run that would fill the very same.
func TestNotLent(t *testing.T) {
	p := plans[0].build(4)
	g := geometry(p, 97, 1, 1)
	run := newRun(p, collective.Float32, collective.Sum, false)
	m := newCluster(t, run, p, g, 1).hosts[0].Machine
	same := run
	if !m.Lends(&same, m.wiring, g) {
		t.Fatal("not lent to the same run")
	}
	var none *Machine
	if none.Lends(&same, m.wiring, g) {
		t.Error("lent by nobody")
	}
	for name, change := range map[string]func(){
		"seed":  func() { same.Seed++ },
		"type":  func() { same.DType = collective.Int32 },
		"redop": func() { same.RedOp = collective.Max },
	} {
		same = run
		change()
		if m.Lends(&same, m.wiring, g) {
			t.Errorf("lent to a run with another %s", name)
		}
	}
	if m.Lends(&run, m.wiring, geometry(p, 98, 1, 1)) {
		t.Error("lent to a run of another size")
	}
	run.InPlace = true
	if o := newCluster(t, run, p, g, 1).hosts[0].Machine; o.Lends(&run, o.wiring, g) {
		t.Error("lent by a run in place, which has written over its inputs")
	}
}
