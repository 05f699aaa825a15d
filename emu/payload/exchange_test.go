package payload

import (
	"fmt"
	"testing"

	"github.com/railyard/railyard/collective"
)

// The registry's exchanges on real elements: every operation, shapes that are
// even and not, counts that do not divide, in one machine and in several.
func TestExchangesGiveWhatTheyMust(t *testing.T) {
	shapes := []collective.Shape{
		collective.Uniform(1, 1), collective.Uniform(1, 3), collective.Uniform(2, 2), collective.Uniform(3, 4),
		{Nodes: []collective.Group{{Ranks: []int{4, 0}, Heads: []int{0}}, {Ranks: []int{3, 5, 1, 2}, Heads: []int{3, 5}}}},
		{Nodes: []collective.Group{{Ranks: []int{5, 2, 3}, Heads: []int{5, 3}}, {Ranks: []int{0, 1, 4}, Heads: []int{1, 4}}}},
	}
	for _, name := range []string{"direct", "pairwise", "hierarchical"} {
		a, err := collective.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, op := range a.Ops {
			t.Run(fmt.Sprintf("%s %v", name, op), func(t *testing.T) {
				for i, s := range shapes {
					exchanged(t, &a, op, s, 1+2*i%5)
				}
			})
		}
	}
}

func exchanged(t *testing.T, a *collective.Algorithm, op collective.Op, s collective.Shape, channels int) {
	t.Helper()
	if a.Check(collective.Use{Op: op}, s) != nil {
		return
	}
	n := s.NRanks()
	p, err := collective.Build(a.Name, op, s, collective.Options{Channels: channels, Root: n - 1, ChunkBytes: 1024})
	if err != nil {
		t.Fatal(err)
	}
	for k, count := range []int64{0, 1, int64(n) - 1, 97, 5003} {
		g := p.Size(count, 4)
		inPlace := k%2 == 0 && op.InPlace()
		runRight(t, newRun(p, collective.Int32, collective.Sum, inPlace), p, g, 1+k%3)
		if n > 1 && !op.Reduces() && count > 97 && g.Loops == 1 {
			t.Errorf("%s %v: %d elements take one loop; more should be tried", a.Name, op, count)
		}
	}
	p.ChunkBytes = 0
	runRight(t, newRun(p, collective.Int32, collective.Sum, false), p, p.Size(1<<22, 4).Scale(0), 2)
}

// Parts of unlike length: the counts at which some are empty, and a scale model.
func TestUnlikePartsGiveWhatTheyMust(t *testing.T) {
	for _, name := range []string{"direct", "pairwise"} {
		for _, n := range []int{1, 2, 3, 8} {
			p, err := collective.Build(name, collective.AllToAllV, collective.Uniform(1, n), collective.Options{Channels: 2})
			if err != nil {
				t.Fatal(err)
			}
			for k, count := range []int64{0, 1, int64(n) - 1, int64(n), 1000, 100_003} {
				run := newRun(p, collective.Float32, collective.Sum, false)
				runRight(t, run, p, p.Size(count, 4), 1+k%2)
				runRight(t, run, p, p.Size(count*100, 4).Scale(0), 1)
			}
		}
	}
}

// A part that goes to the wrong rank is seen: its elements are others'.
func TestSwappedPartsAreSeen(t *testing.T) {
	p, err := collective.Build("direct", collective.AllToAllV, collective.Uniform(1, 4), collective.Options{Channels: 1})
	if err != nil {
		t.Fatal(err)
	}
	c := newCluster(t, newRun(p, collective.Int32, collective.Sum, false), p, p.Size(100, 4), 1)
	swapped := false
	c.pushed = func(h *host, conn int) {
		h.Tamper(conn, func(waiting [][]byte) {
			m := waiting[len(waiting)-1]
			if !swapped && len(m) > 8 {
				copy(m, m[4:]) // one element on
				swapped = true
			}
		})
	}
	c.run(t)
	if c.wrong() == 0 {
		t.Error("elements that moved by one are right")
	}
}
