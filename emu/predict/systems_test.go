package predict_test

import (
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/catalog"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/predict"
)

func make1(t *testing.T, g ...emu.Group) *fabric.Fabric {
	t.Helper()
	f, err := fabric.New(emu.Cluster{Groups: g})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func bus(t *testing.T, f *fabric.Fabric, channels int) int64 {
	run := allReduce(f, "ring", collective.Options{Channels: channels, Slices: 1}, 256<<20)
	out := execute(t, predict.New(f, false), run)
	return busbw(256<<20, f.GPUs(), out.Period(0, &run, 0))
}

func TestExplore(t *testing.T) {
	for _, s := range catalog.Systems() {
		ch := s.SM.Channels
		one := bus(t, make1(t, emu.Group{Count: 1, System: s.Name}), ch)
		two := bus(t, make1(t, emu.Group{Count: 2, System: s.Name}), ch)
		off := bus(t, make1(t, emu.Group{Count: 2, System: s.Name, NoGDR: true}), ch)
		t.Logf("%-16s 1: %7d  2: %7d  off %7d", s.Name, one, two, off)
	}
}
