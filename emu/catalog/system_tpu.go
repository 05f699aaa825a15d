package catalog

import (
	"github.com/railyard/railyard/emu/machine"
	"github.com/railyard/railyard/shaping"
)

// overICI is the latency at the two ends of a way over ICI, whatever lies between:
// Google publishes none.
var overICI = PerProtocol{Simple: 1 * us, LL: 600 * ns, LL128: 1 * us} // [assumed]

// tpuDMA stands in for SMs: engines that move what a channel carries, fast enough
// for a link each. 12 channels go evenly on 2, 4 and 6 rings.
var tpuDMA = SM{Rate: 100 * shaping.GBps, Channels: 12, Kernel: 5 * us, Host: 12 * shaping.GBps} // [assumed]

// Hosts of Google's TPUs, as they come in slices of three dimensions: four chips,
// 2×2×1, which NIC and CPU serve as they do GPUs.
var tpus = []System{{
	Name:    "tpu-v4",
	About:   "4 × TPU v4, six ICI links each, a 3-D torus of up to 4096 chips",
	GPUs:    4, // a host is 2x2x1 [tpu]
	NICs:    1, // [assumed]
	Model:   "Google TPU v4",
	Compute: 80, // no such thing; the tuner takes it for an Ampere [assumed]
	CPU:     AMD,
	NVLink: NVLink{
		Wire:   300 * shaping.GBps, // 6 links × 50 GB/s, unverified [hw]
		Links:  6,                  // to either neighbour in three dimensions [tpu]
		Usable: 900,                // [assumed]
		Steps:  overICI,
		Credit: 600 * ns, // as NVLink's [assumed]
	},
	SM: tpuDMA, PCIe: pcie3, Proxy: onAMD,
	Board: Board{Sockets: 2, // NUMA nodes [assumed]
		Memory:  204_800 * shaping.MBps, // 8 channels of DDR4-3200 [assumed]
		Between: 16 * shaping.GBps,      // AMD [nccl]
		P2P:     machine.PXB,
		Mesh:    tpuHost,
		ICI: ICI{Chips: 4096, Slice: 4096, // pod [tpu]
			Hop: 500 * ns}, // [assumed]
	},
	Link: "roce-100", Fabric: "fat-tree",
}, {
	Name:    "tpu-v5p",
	About:   "4 × TPU v5p, six ICI links each, a 3-D torus of up to 6144 chips",
	GPUs:    4, // a host is 2x2x1 [tpu]
	NICs:    1, // 4 chips × 50 Gb/s of data-center network are one of 200 [tpu]
	Model:   "Google TPU v5p",
	Compute: 90, // no such thing; the tuner takes it for a Hopper [assumed]
	CPU:     AMD,
	NVLink: NVLink{
		Wire:   600 * shaping.GBps, // 1200 GB/s a chip, both directions [tpu]
		Links:  6,                  // to either neighbour in three dimensions [tpu]
		Usable: 900,                // as v4 [assumed]
		Steps:  overICI,
		Credit: 600 * ns, // as NVLink's [assumed]
	},
	SM: tpuDMA, PCIe: pcie4, Proxy: onAMD,
	Board: Board{Sockets: 2, // NUMA nodes [assumed]
		Memory:  204_800 * shaping.MBps, // as v4 [assumed]
		Between: 16 * shaping.GBps,      // AMD [nccl]
		P2P:     machine.PXB,
		Mesh:    tpuHost,
		ICI: ICI{Chips: 8960, Slice: 6144, // pod, largest job [tpu]
			Hop: 500 * ns}, // [assumed]
	},
	Link: "roce-200", Fabric: "fat-tree",
}, {
	Name:    "tpu-ironwood",
	Alias:   "tpu7x",
	About:   "4 × TPU7x Ironwood, six ICI links each, a 3-D torus of up to 9216 chips",
	GPUs:    4, // a virtual machine has four [tpu]
	NICs:    2, // one a NUMA node [tpu]
	Model:   "Google TPU7x",
	Compute: 100, // no such thing; the tuner takes it for a Blackwell [assumed]
	CPU:     AMD,
	NVLink: NVLink{
		Wire:   600 * shaping.GBps, // 1200 GB/s a chip, 200 an axis link, both directions [hw]
		Links:  6,                  // to either neighbour in three dimensions [hw]
		Usable: 900,                // as v4 [assumed]
		Steps:  overICI,
		Credit: 600 * ns, // as NVLink's [assumed]
	},
	SM: tpuDMA, PCIe: pcie5, Proxy: onAMD,
	Board: Board{Sockets: 2, // NUMA nodes [tpu]
		Memory:  307_200 * shaping.MBps, // 8 channels of DDR5-4800 [assumed]
		Between: 16 * shaping.GBps,      // AMD [nccl]
		P2P:     machine.PXB,
		Mesh:    tpuHost,
		ICI: ICI{Chips: 9216, Slice: 9216, // pod [tpu]
			Hop: 500 * ns}, // [assumed]
	},
	Link: "roce-200", Fabric: "fat-tree",
}}

// tpuHost is the links of a host's chips among each other: 2×2.
const tpuHost = "0-1 0-2 1-3 2-3"
