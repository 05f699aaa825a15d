package verbs

import (
	"errors"
	"strings"
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/sweep"
	"github.com/railyard/railyard/internal/wire"
)

func TestFullPayloadThatDoesNotFit(t *testing.T) {
	f, err := fabric.New(emu.Cluster{Groups: []emu.Group{{Count: 1, System: "dgx-h100", GPUs: 2}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		payload   sweep.Payload
		available int64
		fits      bool
		says      string
	}{
		// 2 ranks × (input + output) × 64 KiB = 256 KiB
		{sweep.PayloadFull, 256 << 10, true, ""},
		{sweep.PayloadFull, 256<<10 - 1, false, "--payload full: at 65536 bytes the buffers of all ranks take 256KiB"},
		{sweep.PayloadFull, 0, true, ""}, // nobody knows
		{sweep.PayloadNone, 1, true, ""},
		{sweep.PayloadScaled, 1, false, "take --payload none"},
	} {
		sw, err := sweep.New(f, sweep.Spec{Op: collective.AllReduce, MinBytes: 64 << 10, MaxBytes: 64 << 10,
			DTypes: []collective.DType{collective.Float32}, RedOps: []collective.RedOp{collective.Sum},
			Algorithm: sweep.Auto, AutoProtocol: true, Payload: c.payload})
		if err != nil {
			t.Fatal(err)
		}
		err = checkMemory(sw, c.available)
		var failure *wire.Failure
		if c.fits != (err == nil) || !c.fits && (!errors.As(err, &failure) || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%v with %d bytes to spare: %v", c.payload, c.available, err)
		}
	}
}

// What takes minutes is said before it begins, what takes seconds is not.
func TestTellCost(t *testing.T) {
	f, err := fabric.New(emu.Cluster{Groups: []emu.Group{{Count: 1, System: "dgx-h100", GPUs: 2}}})
	if err != nil {
		t.Fatal(err)
	}
	for bytes, long := range map[int64]bool{1 << 30: false, 16 << 40: true} {
		sw, err := sweep.New(f, sweep.Spec{Op: collective.AllReduce, MinBytes: bytes, MaxBytes: bytes, Iterations: 20, Warmup: 1,
			DTypes: []collective.DType{collective.Float32}, RedOps: []collective.RedOp{collective.Sum},
			Algorithm: "ring", AutoProtocol: true, Payload: sweep.PayloadNone})
		if err != nil {
			t.Fatal(err)
		}
		said := ""
		tellCost(sw, func(text string) { said = text })
		if long != strings.Contains(said, "minutes") {
			t.Errorf("%d bytes: %q", bytes, said)
		}
	}
}
