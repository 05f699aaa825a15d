package simtest

import (
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
)

// A bit that flips between two participants is seen, with uncontended links and
// through the fabric, where elements travel apart from their headers.
func TestSpoiltElementsAreSeen(t *testing.T) {
	for _, over := range []int{1, 4} {
		f, err := fabric.New(emu.Cluster{Groups: []emu.Group{{Count: 1, System: "dgx-h100", GPUs: 2}, {Count: 1, System: "dgx-h100", GPUs: 2}},
			Fabric: emu.Fabric{Oversubscription: over}})
		if err != nil {
			t.Fatal(err)
		}
		run := emu.Run{Op: collective.AllReduce, Algorithm: "ring", Options: collective.Options{Channels: 1}, Comm: f.All(),
			Count: 1000, Real: 1000, DType: collective.Int32, Iterations: 1}
		v := NewVirtual(f, []int{0, 1}, 1, false)
		if _, err := v.Execute(emu.Batch{Runs: []emu.Run{run}}); err != nil {
			t.Fatal(err)
		}
		if err := Right(emu.Batch{Runs: []emu.Run{run}}, v.Verdicts()); err != nil {
			t.Errorf("oversubscription %d: %v", over, err)
		}
		once := true
		v = NewVirtual(f, []int{0, 1}, 1, false)
		v.spoil = func(elements []byte) {
			if once && len(elements) > 0 {
				elements[0] ^= 1
				once = false
			}
		}
		if _, err := v.Execute(emu.Batch{Runs: []emu.Run{run}}); err != nil {
			t.Fatal(err)
		}
		if Right(emu.Batch{Runs: []emu.Run{run}}, v.Verdicts()) == nil {
			t.Errorf("oversubscription %d: a flipped bit passes", over)
		}
	}
}
