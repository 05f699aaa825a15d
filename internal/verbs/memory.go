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

// checkMemory refuses payload that this host has no memory for: it would thrash
// for minutes before the first row. A scale model has some elements for every
// slice, which for sizes of terabytes are many too. Hosts that don't say what they have
// are taken at their word.
func checkMemory(sw *sweep.Sweep, available int64) error {
	if available <= 0 {
		return nil
	}
	for i := range sw.Cases {
		c := &sw.Cases[i]
		if need := c.Buffers(); need > available {
			less := "scaled or auto"
			if c.Payload == sweep.PayloadScaled {
				less = "none"
			}
			return wire.Failf(wire.Config, "--payload %s: at %d bytes the buffers of all ranks take %s, and this host has %s to spare; take --payload %s",
				c.Payload, c.Size, shaping.Bytes(need), shaping.Bytes(available), less)
		}
	}
	return nil
}

// Slices a second that a kernel carries out, roughly, on the machines that this
// was tried on; and how much work is worth a word before it begins.
const (
	slicesPerSecond = 500_000
	muchWork        = 120 * slicesPerSecond
)

// tellCost says what will take minutes: wall time grows with the size, and the
// first row may be long in coming.
func tellCost(sw *sweep.Sweep, say func(string)) {
	var all int64
	for i := range sw.Cases {
		all += sw.Cases[i].Work
	}
	if all > muchWork {
		say(fmt.Sprintf("some %d million slices to emulate: about %d minutes", all/1e6, all/slicesPerSecond/60))
	}
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
