package fault

import (
	"fmt"
	"strings"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/suggest"
)

// Kind is a type of fault.
type Kind struct {
	Word string
	// Also are words of other tools that mean it: Toxiproxy's, netem's, Xid numbers,
	// NCCL's.
	Also []string
	// Family is what it happens to, for tables: process, gpu, nvlink, pcie, fabric
	// or data.
	Family string
	// Strikes are the parts that it may strike; see Class for what stands for what.
	Strikes []Class
	// Means says in a line what it does here, Default what parameters are when they
	// are left out, Hardware what follows where the machine is real, and Source who
	// says so.
	Means, Default, Hardware, Source string

	takes   string // parameters; one that it needs ends in !
	words   [][2]string
	fill    func(*emu.Fault) // sets defaults that decide when it strikes; nil: none
	compile func(*strike)
}

// When a fault of a type may strike.
const (
	once   = "at afterOps chance"                        // and for good
	often  = "at every times afterOps chance"            // each time for an instant
	lasts  = "at to every times downFor afterOps chance" // each time for a while, or for good
	atCall = "afterOps times chance"                     // at calls, counted from 0
)

// NVIDIA's list of Xids, which several types cite.
const xids = "NVIDIA, XID Errors (GPU deployment and management documentation)"

// kinds are all types of faults.
var kinds = []Kind{
	kill, pause, slowStart, coordinatorCrash,
	gpuLost, gpuSlow, gpuECC, gpuHang, skip, reorder, mismatch,
	nvlinkDown, nvlinkErrors, nvswitchDown, pcieDegraded, gdrLost,
	down, flap, rate, latency, jitter, loss, corrupt, partition, congestion,
	bitflip,
}

// Kinds returns all types of faults, in the order of tables.
func Kinds() []Kind { return append([]Kind(nil), kinds...) }

// Lookup returns the type of a word, or of a word that another tool has for it.
func Lookup(word string) (*Kind, error) {
	var known, also []string
	for i := range kinds {
		k := &kinds[i]
		if k.Word == word {
			return k, nil
		}
		known, also = append(known, k.Word), append(also, k.Also...)
	}
	for i := range kinds {
		for _, w := range kinds[i].Also {
			if strings.EqualFold(w, word) {
				return &kinds[i], nil
			}
		}
	}
	if word == "" {
		return nil, fmt.Errorf("type: is missing; allowed are %s", strings.Join(known, ", "))
	}
	hint := suggest.Hint(word, known)
	if hint == "" {
		hint = suggest.Hint(word, also)
	}
	return nil, fmt.Errorf("type: %q is unknown; allowed are %s%s", suggest.Clip(word), strings.Join(known, ", "), hint)
}

func (k *Kind) strikes(c Class) bool {
	for _, s := range k.Strikes {
		if s == c {
			return true
		}
	}
	return false
}

// Targets says in words what a type may strike.
func (k *Kind) Targets() string {
	var all []string
	for _, c := range k.Strikes {
		all = append(all, c.String())
	}
	return strings.Join(all, ", ")
}
