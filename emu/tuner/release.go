package tuner

import (
	"fmt"

	"github.com/railyard/railyard/shaping"
)

// Versions that the model knows: 2.Oldest to 2.Newest.
const (
	Oldest = 18
	Newest = 30
)

const (
	ns   = shaping.Nanosecond
	us   = shaping.Microsecond
	mbps = shaping.MBps
)

// perProtocol is a latency for LL, LL128 and Simple.
type perProtocol [3]shaping.Duration

// hops is the latency of a hop by what it crosses.
type hops struct{ nvlink, pcie, network perProtocol }

// release holds the constants that differ between versions.
type release struct {
	first int // minor version from which on they hold
	// Base latency, once an operation.
	tree, ring                  perProtocol
	collnet, nvlsBase, nvlsTree shaping.Duration // Simple alone
	// Latency a hop.
	treeHop, ringHop               hops
	nvls, nvlsNetwork, nvlsTreeNet shaping.Duration // NVLink; network, NVLS; network, NVLSTree
}

// Latency a hop of rings, the same in all versions from 2.18 on.
var ringHops = hops{
	nvlink:  perProtocol{600 * ns, 1900 * ns, 3400 * ns},
	pcie:    perProtocol{1000 * ns, 2500 * ns, 5700 * ns},
	network: perProtocol{2700 * ns, 4 * us, 14 * us},
}

// treeHops is the latency a hop of trees; that of Simple over the network went
// up for some versions.
func treeHops(network shaping.Duration) hops {
	return hops{
		nvlink:  perProtocol{600 * ns, 1250 * ns, 4 * us},
		pcie:    perProtocol{1 * us, 1900 * ns, 4 * us},
		network: perProtocol{5 * us, 8500 * ns, network},
	}
}

// releases are the tables of 2.18.3, 2.19.3 and 2.30.7 (baseLatencies,
// hwLatencies). A version in between has those of the last one before it, and
// 2.23 and later those of 2.30: base latencies say that the tables changed at
// 2.19 and at 2.23. 2.22 counts as 2.21.
var releases = []release{
	{
		first: 18,
		tree:  perProtocol{6800 * ns, 14 * us, 0}, ring: perProtocol{6600 * ns, 14 * us, 8400 * ns},
		nvlsBase: 23 * us, nvlsTree: 23 * us, // later a hop's
		treeHop: treeHops(14 * us), ringHop: ringHops,
		nvlsNetwork: 18 * us, nvlsTreeNet: 19 * us,
	}, {
		first: 19,
		tree:  perProtocol{6800 * ns, 14 * us, 0}, ring: perProtocol{6600 * ns, 14 * us, 8400 * ns},
		treeHop: treeHops(28 * us), ringHop: ringHops,
		nvls: 23 * us, nvlsNetwork: 18 * us, nvlsTreeNet: 14 * us,
	}, {
		first: 23,
		tree:  perProtocol{6800 * ns, 14 * us, 8400 * ns}, ring: perProtocol{6600 * ns, 14 * us, 8400 * ns},
		treeHop: treeHops(14 * us), ringHop: ringHops,
		nvls: 25 * us, nvlsNetwork: 18 * us, nvlsTreeNet: 20900 * ns,
	},
}

// Latencies that no version has changed.
const (
	collnetHop     = 3700 * ns // CollNetDirect, NVLink and PCIe
	collnetNet     = 31 * us   // CollNetDirect, network
	chainHop       = 2800 * ns // CollNetChain, NVLink and PCIe
	chainNet       = 30 * us   // CollNetChain, network
	collnetArity   = 400 * ns  // CollNetDirect, for each further GPU of a node
	patBase        = 8 * us
	patNet         = 14 * us
	patRank        = 2800 * ns // for each rank
	postIntel      = 1 * us    // posting to the NIC (NCCL_NET_OVERHEAD), Intel x86 and others
	postAMD        = 2 * us
	plateau        = 1400 // ‰ of latency of long ring all-reduces over nodes
	plateauVolta   = 1900 // before Ampere
	plateauTrigger = 64   // bytes a channel and rank from which on the plateau holds
)

// First minor versions that have something.
const (
	sincePAT       = 23
	sinceHalfLL    = 19 // a ring's LL counts half the bus; before a quarter to a third
	sinceHopperLL  = 22 // LL caps of Hopper; before it has Ampere's
	sinceNVLSSteps = 28 // NVLS's bandwidth is a bus's less an efficiency, NVLSTree has a cap, on Blackwell and x86 the tree's correction; before 5/6 of the channels' speed
	sinceLogTree   = 19 // NVLSTree's hops are log2 of the nodes; before all of them
)

// constants returns those of version 2.minor.
func constants(minor int) *release {
	if minor < Oldest || minor > Newest {
		panic(fmt.Sprintf("tuner: version 2.%d", minor))
	}
	r := &releases[0]
	for i := range releases {
		if releases[i].first <= minor {
			r = &releases[i]
		}
	}
	return r
}
