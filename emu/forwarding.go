package emu

// PXN says whether a GPU hands what it sends over NVLink to the GPU that owns the
// NIC on the wanted rail (NCCL 2.12 and later), or sends it by its own NIC.
type PXN uint8

// What PXN may be.
const (
	PXNDefault PXN = iota // nothing said: on
	PXNOn                 // NCCL_PXN_DISABLE=0
	PXNOff                // NCCL_PXN_DISABLE=1
)

// CrossNIC says whether a ring may leave a server by another NIC than it enters
// by, as NCCL_CROSS_NIC does.
type CrossNIC uint8

// What CrossNIC may be.
const (
	CrossDefault  CrossNIC = iota // nothing said: if that is faster
	CrossNever                    // 0: rings, and all else, keep to the rail of their channel
	CrossAlways                   // 1: rings leave by the NIC of the last GPU
	CrossIfFaster                 // 2: as 1, but the other way round on every second server, so that rails meet
)

// crossNICs are the values of NCCL_CROSS_NIC.
var crossNICs = map[string]CrossNIC{"0": CrossNever, "1": CrossAlways, "2": CrossIfFaster}

// ParseCrossNIC reads a value of NCCL_CROSS_NIC, and reports whether it is one.
func ParseCrossNIC(s string) (CrossNIC, bool) {
	c, ok := crossNICs[s]
	return c, ok
}

// String returns the value of NCCL_CROSS_NIC, empty for the default.
func (c CrossNIC) String() string { return [...]string{"", "0", "1", "2"}[c] }
