package catalog

import (
	"github.com/railyard/railyard/emu/machine"
	"github.com/railyard/railyard/shaping"
)

// Servers of other makers' GPUs.
var others = []System{{
	Name:    "mi300x",
	About:   "8 × MI300X, Infinity Fabric from each to each, 8 × ConnectX-7 NDR",
	GPUs:    8, // [hw]
	NICs:    8, // [hw]
	Model:   "AMD Instinct MI300X",
	Compute: 90,       // no such thing; the tuner takes it for a Hopper [assumed]
	Arch:    "gfx942", // [hw]
	CPU:     Intel,
	NVLink: NVLink{
		Wire:   448 * shaping.GBps, // 7 links × 64 GB/s [hw]
		Links:  7,                  // [hw]
		Usable: 892,                // with its fences gives the 309 GB/s of bus bandwidth that a ring all-gather reaches over 6 of 7 links [cal]
		Steps:  overNVLink,
		Fence:  fenceNVLink,
		Credit: 600 * ns, // as NVLink's [assumed]
	},
	SM:   SM{Rate: 40 * shaping.GBps, LL: 8_812 * shaping.MBps, Channels: 24, Kernel: 5 * us, Host: 7_500 * shaping.MBps}, // as Hopper; four a ring and direction [assumed]
	PCIe: pcie5, Proxy: onIntel,
	Board: Board{Sockets: 2, Switches: 8, // a GPU and a NIC each [assumed]
		Memory:  307_200 * shaping.MBps, // 8 channels of DDR5-4800 [assumed]
		Between: 22 * shaping.GBps,      // Sapphire Rapids [nccl]
		P2P:     machine.PXB,
		Mesh: "0-1 0-2 0-3 0-4 0-5 0-6 0-7 1-2 1-3 1-4 1-5 1-6 1-7 2-3 2-4 2-5 2-6 2-7 " +
			"3-4 3-5 3-6 3-7 4-5 4-6 4-7 5-6 5-7 6-7"},
	Link: "ndr", Fabric: "rail-optimized",
}}
