package cli

import (
	"time"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/sweep"
	"github.com/railyard/railyard/emu/tuner"
	"github.com/railyard/railyard/internal/report"
	"github.com/railyard/railyard/shaping"
)

// Auto leaves a choice to the host.
const Auto = "auto"

// BenchConfig is everything bench and predict were told, checked.
type BenchConfig struct {
	// NoGDR: NCCL_NET_GDR_LEVEL keeps NICs off the memory of GPUs.
	NoGDR bool
	// PXN and CrossNIC are what the environment says (NCCL_PXN_DISABLE,
	// NCCL_CROSS_NIC): stronger than defaults, weaker than the cluster file.
	PXN      emu.PXN
	CrossNIC emu.CrossNIC
	Common

	Op collective.Op

	// The sweep in bytes, as -b, -e, -f and -i give it. See Sizes.
	MinBytes, MaxBytes, StepFactor, StepBytes int64

	// Types and reductions to run, in this order, each over the whole sweep.
	DTypes []collective.DType
	RedOps []collective.RedOp
	// Root is counted in its communicator; AllRoots runs every one (-r -1).
	Root     int
	AllRoots bool

	// Placement says on which GPU each rank is, and PlacedBy which flag said so.
	// Split makes communicators of the ranks, which run at the same time.
	Placement sweep.Placement
	PlacedBy  string
	Split     sweep.Split

	// Iterations and Warmup are what nccl-tests would run. Emulated time is
	// exact: no more than the steady state needs must be.
	Iterations, Warmup int
	Check              int  // 0: results are not looked at
	Blocking           bool // the host waits for each iteration (-z 1)

	// Flags of nccl-tests that only the header shows.
	Threads, GPUs, Aggregated, Graph int

	// Cluster is the declared hardware, defaults left out. It is not set when
	// Connect names a coordinator whose cluster is used.
	Cluster emu.Cluster
	Seed    uint64 // of test data and every random draw; the cluster's, if that is set
	Connect string // host:port; empty starts processes of our own
	Procs   int    // processes to spread the nodes over; 0 is one a node
	Nodesim string // path of the nodesim binary; empty looks for it

	PlanFile string   // MSCCL file to run in place of an algorithm; empty for none
	Plan     *PlanUse // what it holds

	// AlgoBy and ProtoBy are the variables that said them, empty for flags.
	AlgoBy, ProtoBy string
	Algo            string // Auto, a name of collective's registry, or a list as NCCL_ALGO has it
	MSCCL           bool   // Algo named plans from files as well, as MSCCL's runtime has it
	Proto           string // Auto, a protocol, or a list as NCCL_PROTO has it
	Channels        int    // 0 is the host's choice
	Slices          int    // slices a chunk: 0 is the algorithm's own, else 1, 2 or 4
	NCCL            string // version whose tuner Auto follows, for example "2.30"
	// Tuning is what the environment says to NCCL, and the version.
	Tuning  tuner.Settings
	Debug   Debug
	Explain bool // say what was considered

	Profile string // a system whose environment's variables are taken; empty: the cluster's own

	Clock         string        // "virtual" or Paced
	Dilation      int64         // under Paced; 0 has it chosen
	Compare       bool          // under Paced, with what predict says
	Strict        bool          // times that can't be trusted are an error
	Payload       string        // Auto, "full", "scaled" or "none"
	PayloadBudget shaping.Bytes // Auto moves every byte while the cluster's buffers fit
	Launch        string        // how the host issues iterations: a name of launches
	LaunchEvery   shaping.Duration

	Timeline string // file for one JSON record a line; empty for none
	Trace    string // file for the same as a Chrome trace; empty for none
	JSON     string // file for nccl-tests' JSON (-J); empty for none
	// Timeout in wall time ends a run that takes longer; 0 for none.
	Timeout time.Duration
	// MinBusBandwidth in GB/s makes a run whose average is below 90 % of it
	// invalid (NCCL_TESTS_MIN_BW); 0 for none.
	MinBusBandwidth float64

	PrintEffective bool
	Args           []string // the command line
	Env            []string // NAME=value of variables that had a say
}

// Sizes returns the sizes of the sweep in bytes.
func (c *BenchConfig) Sizes() ([]int64, error) {
	return sweep.Sizes(c.MinBytes, c.MaxBytes, c.StepFactor, c.StepBytes)
}

// Header returns what the report says before the first row.
func (c *BenchConfig) Header(s report.Start, now time.Time) report.Header {
	blocking := 0
	if c.Blocking {
		blocking = 1
	}
	return report.Header{
		Op: c.Op, Ranks: s.Ranks, Devices: s.Devices, NCCLVersion: s.NCCLVersion,
		Config: report.Config{
			Threads: c.Threads, GPUs: c.GPUs,
			MinBytes: c.MinBytes, MaxBytes: c.MaxBytes, StepFactor: c.StepFactor, StepBytes: c.StepBytes,
			Warmup: c.Warmup, Iterations: c.Iterations, Aggregated: c.Aggregated,
			Check: c.Check, Graph: c.Graph, Blocking: blocking,
		},
		MinBusBandwidth: c.MinBusBandwidth,
		Args:            c.Args, Env: c.Env, Start: now,
	}
}

// launch is how a host issues iterations, and how long it takes between two
// (DESIGN: the launch is a floor, not an addend).
type launch struct {
	name  string
	every shaping.Duration
}

var (
	perGPU  = launch{"per-gpu", sweep.LaunchPerGPU}
	perNode = launch{"per-node", sweep.LaunchPerNode}
	torch   = launch{"torch", sweep.LaunchTorch}
)

var launches = []launch{perGPU, perNode, torch}
