package collective

// Op is a collective operation: what is to be done, not how.
type Op uint8

// The operations of nccl-tests, two that other benchmarks have, and one that
// has no definition.
const (
	AllReduce Op = iota
	AllGather
	ReduceScatter
	Broadcast
	Reduce
	AllToAll
	SendRecv
	Gather
	Scatter
	AllToAllV // all-to-all whose parts differ in length
	Barrier   // nobody leaves before all have come: an all-reduce of one element
	Custom    // whatever the author of an imported plan meant; promises nothing
	numOps
)

var opNames = [numOps]string{
	AllReduce: "all_reduce", AllGather: "all_gather", ReduceScatter: "reduce_scatter",
	Broadcast: "broadcast", Reduce: "reduce", AllToAll: "alltoall",
	SendRecv: "sendrecv", Gather: "gather", Scatter: "scatter",
	AllToAllV: "alltoallv", Barrier: "barrier", Custom: "custom",
}

// String returns the name of nccl-tests' program without "_perf".
func (o Op) String() string { return name(opNames[:], int(o)) }

// Ops returns every operation that has a definition, in declaration order: all
// but Custom.
func Ops() []Op {
	ops := make([]Op, Custom)
	for i := range ops {
		ops[i] = Op(i)
	}
	return ops
}

// Parts returns into how many rank-sized parts an operation's input and output
// buffers fall on n ranks: an all-gather reads one and writes n. Each part has
// as many elements as the operation's count.
func (o Op) Parts(n int) (input, output int) {
	switch o {
	case AllGather, Gather:
		return 1, n
	case ReduceScatter, Scatter:
		return n, 1
	case AllToAll, AllToAllV:
		return n, n
	default:
		return 1, 1
	}
}

// Reduces reports whether the operation combines elements of several ranks.
func (o Op) Reduces() bool {
	return o == AllReduce || o == ReduceScatter || o == Reduce || o == Barrier
}

// reducesForAll reports whether every rank gets the whole sum: a barrier is an
// all-reduce of one element.
func (o Op) reducesForAll() bool { return o == AllReduce || o == Barrier }

// InPlace reports whether the operation has a form in which input and output
// share memory.
func (o Op) InPlace() bool { return o != AllToAll && o != AllToAllV && o != SendRecv }

// Protocol is a wire style of NCCL: it decides slice sizes, the bytes on the
// wire for a byte of data, and the latency of a step.
type Protocol uint8

// The protocols of NCCL.
const (
	// Simple sends plain data and one flag a slice, behind a memory fence.
	Simple Protocol = iota
	// LL sends a 4 B flag with every 4 B of data: no fence, half the rate.
	LL
	// LL128 sends 120 B of data in every 128 B line.
	LL128
	numProtocols
)

var protocolNames = [numProtocols]string{Simple: "simple", LL: "ll", LL128: "ll128"}

// String returns the protocol's lower-case name.
func (p Protocol) String() string { return name(protocolNames[:], int(p)) }

// Protocols returns every protocol.
func Protocols() []Protocol { return enumerate[Protocol](numProtocols) }

// ParseProtocol returns the protocol with the given lower-case name. The error
// lists what is allowed.
func ParseProtocol(s string) (Protocol, error) {
	for _, p := range Protocols() {
		if s == p.String() {
			return p, nil
		}
	}
	return 0, unknown("protocol", s, Protocols())
}

// StepBytes returns how much data one step of a connection's FIFO holds: the
// buffer NCCL allocates by default, divided by its 8 steps, less flags.
// Simple 4 MiB, LL 512 KiB of which half is flags, LL128 4.7 MiB at 120/128
// (NCCL 2.30 src/include/device.h).
func (p Protocol) StepBytes() int64 {
	switch p {
	case LL:
		return 512 << 10 / 8 / 2
	case LL128:
		return 120 * 640 * 8 // elements × threads × 8 B a step
	default:
		return 4 << 20 / 8
	}
}

// StepOf returns how much data a step holds when a connection's buffer has the
// given size, flags included (NCCL_BUFFSIZE).
func (p Protocol) StepOf(buffer int64) int64 {
	step := buffer / 8
	switch p {
	case LL:
		step /= 2
	case LL128:
		step = step * 120 / 128
	}
	return max(step, 1)
}

func name(names []string, i int) string {
	if i < 0 || i >= len(names) {
		return "unknown"
	}
	return names[i]
}
