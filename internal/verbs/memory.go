package verbs

import (
	"bufio"
	"bytes"
	"fmt"
	"os"

	"github.com/railyard/railyard/emu/sweep"
	"github.com/railyard/railyard/internal/wire"
	"github.com/railyard/railyard/shaping"
)

// checkMemory refuses full payload that this host has no memory for: it would
// thrash for minutes before the first row. Hosts that don't say what they have
// are taken at their word.
func checkMemory(sw *sweep.Sweep, available int64) error {
	if available <= 0 {
		return nil
	}
	for i := range sw.Cases {
		if need := sw.Cases[i].Buffers(); need > available {
			return wire.Failf(wire.Config, "--payload full: at %d bytes the buffers of all ranks take %s, and this host has %s to spare; take --payload scaled or auto",
				sw.Cases[i].Size, shaping.Bytes(need), shaping.Bytes(available))
		}
	}
	return nil
}

// memAvailable returns the bytes that Linux says can be had without swapping;
// 0 elsewhere.
func memAvailable() int64 {
	b, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	for s := bufio.NewScanner(bytes.NewReader(b)); s.Scan(); {
		var kib int64
		if n, _ := fmt.Sscanf(s.Text(), "MemAvailable: %d kB", &kib); n == 1 {
			return kib << 10
		}
	}
	return 0
}
