package emu

import "github.com/railyard/railyard/shaping"

// Fault is a declared change of the hardware: what happens, to what, and when.
// Its words are those of a scenario file; emu/fault's table says which types
// there are, what each may strike, and which of the parameters it reads.
type Fault struct {
	// Name is what reports call it. Empty: its type and position.
	Name string
	Type string // of emu/fault's table: "kill", "flap" …
	// Off: it was taken back before it struck, and strikes nothing. It keeps its place
	// among the faults of a session, by which they draw.
	Off bool
	// Target is what it strikes: "node1", "node1/gpu3", "node1/nic0", "rail2",
	// "spine0", "link:leaf0-spine1", "group0", "node0-3 | node4-7", "random".
	Target string
	When   When

	// Parameters. Zero: the type's default.
	DownFor shaping.Duration // how long each outage lasts
	Share   int64            // what is left of a rate, in millionths
	Rate    shaping.Rate     // … or the rate itself
	Latency shaping.Duration
	Jitter  shaping.Duration
	Loss    int64  // chance that a packet is lost or damaged, in billionths
	Links   int    // how many of parallel links
	Width   int    // lanes left of a PCIe slot
	Gen     int    // PCIe generation left
	Element int64  // of a buffer; -1: drawn
	Bit     int    // of that element; -1: drawn
	By      string // what a rank calls with instead; or who is blamed for congestion
	Count   int64  // elements, where a rank calls with another size; NoElements: none
}

// NoElements is the Count of a call without any.
const NoElements = -1

// When says at which instants a fault strikes. Instants count from the start of
// the scenario.
type When struct {
	At shaping.Duration
	// Until is when it is over. 0: never, unless the type has an end of its own.
	Until shaping.Duration
	// Every repeats it after so long, Times times in all (0: to the end).
	Every shaping.Duration
	Times int
	// AfterOps counts from the end of that many operations; Step from the instant
	// at which a rank begins a step of a plan. They are resolved before a run by a
	// rehearsal in one kernel, since times are known to the picosecond.
	AfterOps int
	Step     *PlanStep
	// Chance is the probability, in millionths, that it strikes at each of its
	// instants, drawn from the seed. 0 means always.
	Chance int64
}

// PlanStep is a step of a plan, as it is carried out by one rank.
type PlanStep struct {
	Op, Rank, Channel, Step int
}

// Resilience is how transports and runs bear faults.
type Resilience struct {
	// IBTimeout is NCCL_IB_TIMEOUT: a try lasts 4.096 µs × 2^IBTimeout; 0 and 32
	// or more are without end. IBRetry is NCCL_IB_RETRY_CNT, 0 to 7.
	IBTimeout, IBRetry int
	// Failover lets a connection go on by another NIC of its node
	// (NCCL_IB_RESILIENCY_PORT_FAILOVER), after Probe; Failback lets it return
	// (NCCL_IB_RESILIENCY_PORT_RECOVERY), after Recover.
	Failover, Failback bool
	Probe, Recover     shaping.Duration
	// Sweep is how long the subnet manager takes to route round a dead switch or
	// link. 0: it never does.
	Sweep shaping.Duration
	// Control is how long news takes from one node to all others: of a broken
	// socket, of an abort.
	Control shaping.Duration
	// Replan is how long survivors take from an abort to the next attempt: to agree on
	// a communicator, and to make its connections.
	Replan shaping.Duration
	// Watchdog ends an operation that makes no progress, so long after its start.
	Watchdog shaping.Duration
}

// DefaultResilience is NCCL's, with PyTorch's watchdog.
func DefaultResilience() Resilience {
	return Resilience{
		IBTimeout: 20, IBRetry: 7, // NCCL since 2.23 (docs: NCCL_IB_TIMEOUT, NCCL_IB_RETRY_CNT)
		Probe:    10 * shaping.Millisecond,  // NCCL 2.30 resiliency: probe delay
		Recover:  200 * shaping.Millisecond, // NCCL 2.30 resiliency: start delay of port recovery
		Replan:   500 * shaping.Millisecond, // assumed: ncclCommShrink or ncclCommInit of some hundred ranks
		Control:  200 * shaping.Microsecond, // assumed: a message over the management network to every node
		Watchdog: 600 * shaping.Second,      // PyTorch: process-group timeout of NCCL, 10 min
	}
}

// Try returns how long a transport waits for an acknowledgement before it sends
// again; 0 is without end.
func (r *Resilience) Try() shaping.Duration {
	if r.IBTimeout <= 0 || r.IBTimeout >= 32 {
		return 0
	}
	const unit = 4096 * shaping.Nanosecond // InfiniBand's local ACK timeout, 4.096 µs × 2^n
	return unit << r.IBTimeout
}
