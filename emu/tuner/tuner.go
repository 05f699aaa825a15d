package tuner

import (
	"fmt"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/shaping"
)

// Estimate is what the model says of one way to do an operation.
type Estimate struct {
	Algorithm string // a registry name
	Protocol  collective.Protocol
	// Time is the model's; zero where NCCL has none: it has no choice, or not the
	// algorithm.
	Time shaping.Duration
	// Why says why it may not be used; empty when it may.
	Why string
}

// Names of NCCL's algorithms in collective's registry.
const (
	Tree          = "tree"
	Ring          = "ring"
	CollNetDirect = "collnetdirect"
	CollNetChain  = "collnetchain"
	NVLS          = "nvls"
	NVLSTree      = "nvlstree"
	PAT           = "pat"
	Direct        = "direct" // ncclSend and ncclRecv to everybody
)

// protocols in the order in which NCCL compares them.
var protocols = []collective.Protocol{collective.LL, collective.LL128, collective.Simple}

// Estimates returns one estimate for each pair of algorithm and protocol that
// NCCL has for the operation, in the order in which it compares them, those that
// it would not use on this communicator with the reason. Bytes is the size of
// the larger buffer of a rank.
func Estimates(op collective.Op, c Communicator, bytes shaping.Bytes) []Estimate {
	switch op {
	case collective.AllReduce, collective.Barrier:
		return c.all(op, bytes, Tree, Ring, CollNetDirect, CollNetChain, NVLS, NVLSTree)
	case collective.AllGather, collective.ReduceScatter:
		return c.all(op, bytes, Ring, CollNetDirect, NVLS, PAT)
	case collective.Broadcast, collective.Reduce:
		return c.all(op, bytes, Ring)
	default:
		return Unmodelled(Direct, c.Message(op, int64(bytes)))
	}
}

// Message returns the bytes that go from one rank to another when everybody
// sends to everybody whom the operation joins, and a rank's larger buffer has
// the given size.
func (c *Communicator) Message(op collective.Op, bytes int64) int64 {
	switch op {
	case collective.SendRecv, collective.Broadcast, collective.Reduce:
		return bytes
	default:
		return bytes / int64(max(c.Ranks, 1))
	}
}

// leastSimple is the largest message between two ranks that goes by LL, in bytes
// (NCCL_P2P_LL_THRESHOLD).
const leastSimple = 16 << 10

// Unmodelled returns the protocols of an algorithm for which NCCL has no
// estimate, the best one first: as between two ranks, LL while messages, in
// bytes, are short.
func Unmodelled(algorithm string, message int64) []Estimate {
	order := []collective.Protocol{collective.Simple, collective.LL, collective.LL128}
	if message <= leastSimple {
		order[0], order[1] = order[1], order[0]
	}
	var all []Estimate
	for _, p := range order {
		all = append(all, Estimate{Algorithm: algorithm, Protocol: p})
	}
	return all
}

func (c *Communicator) all(op collective.Op, bytes shaping.Bytes, algorithms ...string) []Estimate {
	var all []Estimate
	for _, a := range algorithms {
		for _, p := range protocols {
			if a != Ring && a != Tree && p != collective.Simple {
				continue
			}
			e := Estimate{Algorithm: a, Protocol: p, Why: c.refuses(a, p)}
			if c.Ranks > 1 && c.models(a) {
				e.Time = c.cost(a, op, p, bytes)
			}
			all = append(all, e)
		}
	}
	return all
}

// models reports whether there is anything to compute for an algorithm: some of
// NCCL's figures exist only where its hardware does.
func (c *Communicator) models(a string) bool {
	return a != NVLS && a != NVLSTree || c.GPU >= Hopper && c.Heads() >= 2
}

// refuses says why NCCL would not consider a pair here; empty: it would.
func (c *Communicator) refuses(a string, p collective.Protocol) string {
	switch {
	case c.Ranks == 1 && (a != Ring || p != collective.Simple):
		return "one rank alone copies"
	case p == collective.LL128 && c.GPU < Hopper && c.Nodes > 1 && 2*c.NICs < c.perNode():
		return "LL128 needs GPUs within a PCIe switch of their NICs, up to Ampere"
	}
	switch a {
	case CollNetDirect, CollNetChain:
		return c.noCollnet()
	case NVLS, NVLSTree:
		return c.noNVLS(a)
	case PAT:
		switch {
		case c.Version < sincePAT:
			return fmt.Sprintf("NCCL has PAT since 2.%d", sincePAT)
		case c.perNode() > 1:
			return "PAT is for one GPU a node"
		}
	}
	return ""
}

// maxCollnet is how many GPUs of a node CollNet joins.
const maxCollnet = 8

func (c *Communicator) noCollnet() string {
	switch {
	case c.Nodes < 2:
		return "CollNet is for two nodes and more"
	case !c.CollNet:
		return "CollNet is off (NCCL_COLLNET_ENABLE=1, or name it)"
	case c.perNode() > maxCollnet:
		return fmt.Sprintf("CollNet joins up to %d GPUs a node", maxCollnet)
	}
	return ""
}

func (c *Communicator) noNVLS(a string) string {
	switch {
	case c.GPU < Hopper:
		return "NVLS is there from Hopper on"
	case !c.NVLS:
		return "NVLS is off (NCCL_NVLS_ENABLE=0)"
	case a == NVLSTree && c.Nodes == 1:
		return "NVLSTree is for two nodes and more"
	case a == NVLS && c.Nodes > 1 && !c.CollNet:
		return "NVLS over several nodes needs CollNet (NCCL_COLLNET_ENABLE=1)"
	case c.Heads() < 2:
		return "NVLS needs two heads a node"
	}
	return ""
}

// cost returns latency + bytes / algorithm bandwidth.
func (c *Communicator) cost(a string, op collective.Op, p collective.Protocol, bytes shaping.Bytes) shaping.Duration {
	all, _ := c.steps(op)
	// A ring's algorithm bandwidth is the bus's × ranks / steps.
	byRing := func(bus shaping.Rate) shaping.Duration {
		return bus.Time(bytes) / shaping.Duration(c.Ranks) * shaping.Duration(all)
	}
	switch a {
	case Tree:
		return c.treeLatency(p) + 2*corrected(c.treeRate(p), p, bytes).Time(bytes)
	case Ring:
		return c.plateau(op, p, bytes, c.ringLatency(op, p)) + byRing(c.ringRate(op, p))
	case CollNetDirect:
		return c.collnetLatency(false) + c.collnetRate(op, false).Time(bytes)
	case CollNetChain:
		return c.collnetLatency(true) + c.collnetRate(op, true).Time(bytes)
	case NVLS:
		return c.nvlsLatency() + c.nvlsTime(op, false, bytes, byRing)
	case NVLSTree:
		return c.nvlsTreeLatency() + c.nvlsTime(op, true, bytes, byRing)
	default: // PAT
		g := c.ring()
		return c.patLatency() + (shaping.Rate(g.channels) * c.each(g)).Permille(750).Time(bytes)
	}
}

// plateau lengthens the latency of long all-reduces over several nodes.
func (c *Communicator) plateau(op collective.Op, p collective.Protocol, bytes shaping.Bytes, lat shaping.Duration) shaping.Duration {
	reduces := op == collective.AllReduce || op == collective.Barrier
	if !reduces || p != collective.Simple || c.Nodes == 1 || int64(bytes)/int64(c.Channels*c.Ranks) < plateauTrigger {
		return lat
	}
	if c.GPU < Ampere {
		return lat * plateauVolta / 1000
	}
	return lat * plateau / 1000
}

// Choose returns the position of the cheapest estimate that may be used, the
// first of equals; −1 when none may. Those without a time come last, in order.
func Choose(all []Estimate) int {
	best := -1
	for i := range all {
		if all[i].Why == "" && (best < 0 || all[i].before(&all[best])) {
			best = i
		}
	}
	return best
}

func (e *Estimate) before(o *Estimate) bool {
	return e.Time > 0 && (o.Time == 0 || e.Time < o.Time)
}
