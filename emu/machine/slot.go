package machine

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/railyard/railyard/shaping"
)

// Slot is a PCIe link. The zero value is one that nobody described.
type Slot struct {
	Gen   int // 1 to 6
	Lanes int // 1, 2, 4, 8, 12, 16, 32
}

// generation is what a lane of a PCIe generation moves in each direction.
type generation struct {
	transfers int64  // megatransfers per second, one bit each (PCI-SIG)
	text      string // the same as Linux says it
	// data of every code bits are data: 8b/10b, 128b/130b, or 242 of the 256
	// bytes of a flit (PCIe 6.0 base specification).
	data, code int64
}

var generations = [...]generation{
	1: {2_500, "2.5", 8, 10},
	2: {5_000, "5.0", 8, 10},
	3: {8_000, "8.0", 128, 130},
	4: {16_000, "16.0", 128, 130},
	5: {32_000, "32.0", 128, 130},
	6: {64_000, "64.0", 242, 256},
}

// MaxGen is the latest PCIe generation known.
const MaxGen = len(generations) - 1

var laneCounts = []int{0, 1, 2, 4, 8, 12, 16, 32} // PCIe base specification; 0 unknown

// Rate returns what the link carries in each direction before packet headers:
// transfers × lanes × code, rounded down to whole bytes per second. It is 0
// when generation or lanes are unknown. A slot of generation 5 with 16 lanes:
// 32 GT/s × 16 × 128/130 / 8 = 63.015 GB/s.
func (s Slot) Rate() shaping.Rate {
	if s.Gen < 1 || s.Gen > MaxGen {
		return 0
	}
	g := generations[s.Gen]
	return shaping.Rate(g.transfers * 1_000_000 * int64(s.Lanes) * g.data / g.code / 8)
}

// Transfers returns the speed of a lane as Linux says it ("32.0 GT/s PCIe"),
// empty when the generation is unknown.
func (s Slot) Transfers() string {
	if s.Gen < 1 || s.Gen > MaxGen {
		return ""
	}
	return generations[s.Gen].text + " GT/s PCIe"
}

// GenOf returns the PCIe generation of a speed as Linux and NCCL write it, by
// what it begins with: "8 GT/s", "8.0 GT/s PCIe", "8GT/s". It is 0 for anything
// else.
func GenOf(speed string) int {
	number, _, ok := strings.Cut(speed, "GT/s")
	if !ok {
		return 0
	}
	number = strings.TrimSuffix(strings.TrimSpace(number), ".0")
	for gen := 1; gen <= MaxGen; gen++ {
		if number == strings.TrimSuffix(generations[gen].text, ".0") {
			return gen
		}
	}
	return 0
}

// String returns "gen5x16"; a part that is unknown is left out, and a slot of
// which nothing is known is empty.
func (s Slot) String() string {
	text := ""
	if s.Gen != 0 {
		text = fmt.Sprintf("gen%d", s.Gen)
	}
	if s.Lanes != 0 {
		text += fmt.Sprintf("x%d", s.Lanes)
	}
	return text
}

// ParseSlot reads what String returns.
func ParseSlot(text string) (Slot, error) {
	gen, lanes, wide := strings.Cut(text, "x")
	s, err := Slot{}, error(nil)
	if digits, ok := strings.CutPrefix(gen, "gen"); ok {
		s.Gen, err = strconv.Atoi(digits)
	} else if gen != "" {
		err = strconv.ErrSyntax
	}
	if wide && err == nil {
		s.Lanes, err = strconv.Atoi(lanes)
	}
	if err != nil || s.String() != text || !s.valid() {
		return Slot{}, fmt.Errorf("slot %q: allowed are a generation from 1 to %d and 1, 2, 4, 8, 12, 16 or 32 lanes: gen5x16", clip(text), MaxGen)
	}
	return s, nil
}
