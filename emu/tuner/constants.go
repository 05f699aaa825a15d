package tuner

import (
	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/shaping"
)

// Version is the NCCL release whose constants these are.
const Version = "2.30"

const (
	ns   = shaping.Nanosecond
	us   = shaping.Microsecond
	gbps = shaping.GBps
)

// hop is the latency of one hop by link, and base the fixed cost of an
// operation, for LL and Simple (NCCL 2.30, baseLat and hwLat).
type latencies struct {
	base, nvlink, network [2]shaping.Duration // LL, Simple
}

var ringLatency = latencies{
	base:    [2]shaping.Duration{6600 * ns, 8400 * ns},
	nvlink:  [2]shaping.Duration{600 * ns, 3400 * ns},
	network: [2]shaping.Duration{2700 * ns, 14 * us},
}

var treeLatency = latencies{
	base:    [2]shaping.Duration{6800 * ns, 8400 * ns},
	nvlink:  [2]shaping.Duration{600 * ns, 4 * us},
	network: [2]shaping.Duration{5 * us, 14 * us},
}

// postOverhead is what posting to the NIC costs on Intel x86; an intra-node
// step of a ring over several nodes costs at least this, thrice for Simple
// (NCCL_NET_OVERHEAD).
const postOverhead = 1 * us

// Caps for Hopper on 1, 2, and 3 or more nodes (llMaxBws, perChMaxTreeBws).
var (
	llMax   = [3]shaping.Rate{141 * gbps, 45 * gbps, 35 * gbps}
	treeCap = [3]shaping.Rate{38_700 * shaping.MBps, 41_400 * shaping.MBps, 36 * gbps} // a channel
)

// Bus bandwidth that the graph search finds for 8 × H100: 370.8 GB/s of NVLink
// within a node, 48 GB/s a NIC between nodes (SM90 speed lists).
const (
	busNVLink = 360 * gbps
	busNIC    = 48 * gbps
)

// treeFactor multiplies the bandwidth of a tree, in ‰, by log2(bytes / 64) from
// 64 B to 512 MiB (treeCorrectionFactor), for LL and Simple.
var treeFactor = [2][24]int64{
	{1000, 1000, 1000, 1000, 900, 800, 700, 700, 700, 700, 600, 500, 400, 400, 500, 600, 700, 800, 900, 1000, 1000, 1000, 1000, 1000},
	{900, 900, 900, 900, 900, 900, 900, 800, 700, 600, 600, 500, 500, 500, 500, 600, 700, 800, 700, 700, 800, 900, 900, 900},
}

// Threads a channel runs, and how many bytes a thread is worth, decide how
// many channels a small message gets (NCCL_SIMPLE_MAX_NTHREADS,
// NCCL_SIMPLE_THREAD_THRESHOLD, NCCL_LL_THREAD_THRESHOLD).
const (
	threads         = 512
	simpleThreshold = 64
	llThreshold     = 8
)

// pick returns the index of a protocol in the tables: LL, Simple.
func pick(p collective.Protocol) int {
	if p == collective.LL {
		return 0
	}
	return 1
}
