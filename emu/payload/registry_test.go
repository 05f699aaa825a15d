package payload

import (
	"testing"

	"github.com/railyard/railyard/collective"
)

// Every algorithm of the registry gives the right answer on real elements: any
// root, a count that nothing divides, several loops and slices, in place and
// not, with ranks on one machine and on several.
func TestEveryAlgorithmIsRight(t *testing.T) {
	for _, a := range collective.Algorithms() {
		for _, op := range a.Ops {
			tried := false
			for i, s := range []collective.Shape{
				collective.Uniform(1, 1), collective.Uniform(1, 2), collective.Uniform(3, 1), collective.Uniform(1, 8),
				collective.Uniform(2, 3), collective.Uniform(7, 1), collective.Uniform(3, 5), collective.Uniform(16, 1),
			} {
				s.NVLS, s.SHARP = true, true
				n := s.NRanks()
				use := collective.Use{Op: op, DType: collective.Int32, RedOp: collective.Sum}
				if a.Check(use, s) != nil {
					continue
				}
				tried = true
				p, err := collective.Build(a.Name, op, s, collective.Options{Channels: 1 + i%3, Root: i * 5 % n})
				if err != nil {
					t.Fatal(err)
				}
				for _, inPlace := range []bool{false, true} {
					if inPlace && !op.InPlace() {
						continue
					}
					for _, count := range []int64{0, 1, 1013} {
						runRight(t, newRun(p, collective.Int32, collective.Sum, inPlace), p, geometry(p, count, 2, 2), 1+i%3)
					}
				}
				if t.Failed() {
					t.Fatalf("%s %s on %d ranks of %d nodes", a.Name, op, n, len(s.Nodes))
				}
			}
			if !tried {
				t.Errorf("%s %s is legal on none of the shapes", a.Name, op)
			}
		}
	}
}
