package sweep

import (
	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu/tuner"
	"github.com/railyard/railyard/shaping"
)

// Spec is what bench and predict are asked for. Names are those of
// nccl-tests' flags.
type Spec struct {
	Op                 collective.Op
	MinBytes, MaxBytes int64
	Factor             int64 // multiplies from size to size; 0 or 1: StepBytes adds
	StepBytes          int64
	Iterations, Warmup int
	Check              bool
	RedOps             []collective.RedOp
	DTypes             []collective.DType
	// Root is counted in the communicator. AllRoots runs every rank as root, one
	// after the other, whatever Root says.
	Root     int
	AllRoots bool
	Sync     bool // -z: the host waits for each iteration

	// Order is the GPU of each rank of the world; empty: all, in order. Split
	// makes communicators of them, which run at the same time.
	Order []int
	Split Split

	// Algorithm is a registry name, "auto", or whatever else NCCL_ALGO may say
	// (tuner.Filter).
	// AlgorithmBy and ProtocolBy are where the two were said, when that was not
	// --algo and --proto: the name of a variable.
	AlgorithmBy, ProtocolBy string

	Algorithm string
	// Protocol is the wire style; AutoProtocol leaves it to the tuner, among
	// those that Tuning allows.
	Protocol     collective.Protocol
	AutoProtocol bool
	Tuning       tuner.Settings
	Channels     int // 0: as many as the size is worth
	Slices       int // 0: the algorithm's own
	// Plan, when set, is carried out whatever the algorithm: see UsePlan.
	Plan    *collective.Plan
	File    []byte
	Layouts []bool

	Payload Payload
	// Budget is the memory that all ranks' buffers may take together, in
	// bytes, for auto to move everything.
	Budget int64
	Launch shaping.Duration // the host's issue interval
	// Paced has the wall clock drive the runs, Dilation times slower than the
	// hardware would be; 0: as fast as keeps the times.
	Paced    bool
	Dilation int64
	Seed     uint64
}

// Auto leaves the algorithm to the tuner.
const Auto = "auto"

// Payload says how many of the declared elements are real.
type Payload uint8

// The payload modes.
const (
	PayloadAuto   Payload = iota // full while the buffers fit the budget, else scaled
	PayloadFull                  // every byte is moved
	PayloadScaled                // every slice has some real elements
	PayloadNone                  // headers only
)

var payloadNames = []string{"auto", "full", "scaled", "none"}

// String returns the mode as users write it.
func (p Payload) String() string { return payloadNames[p] }

// Launch intervals: how often a host can issue an operation (measured
// small-message floors of public nccl-tests tables).
const (
	LaunchPerGPU  = 8 * shaping.Microsecond  // one process for each GPU
	LaunchPerNode = 33 * shaping.Microsecond // one process for eight GPUs, 31–35 µs
	LaunchTorch   = 48 * shaping.Microsecond // a framework on top
)
