package catalog

import (
	"github.com/railyard/railyard/emu/machine"
	"github.com/railyard/railyard/shaping"
)

// cubeMesh is DGX-1's: two squares with diagonals, corner joined to corner.
const cubeMesh = "0-1 0-2 0-3 0-4 1-2 1-3 1-5 2-3 2-6 3-7 4-5 4-6 4-7 5-6 5-7 6-7"

// cubeMeshV has two more links a GPU, as nvidia-smi shows them on DGX-1V.
const cubeMeshV = "0-1 0-2 0-3x2 0-4x2 1-2x2 1-3 1-5x2 2-3x2 2-6 3-7 4-5 4-6 4-7x2 5-6x2 5-7 6-7x2"

// Systems of Pascal and Volta.
var volta = []System{{
	Name:    "dgx-1-p100",
	About:   "8 × P100 SXM2, NVLink 1 as a cube mesh, 4 × ConnectX-4 EDR",
	GPUs:    8, // [hw]
	NICs:    4, // [assumed]
	Model:   "Tesla P100-SXM2-16GB",
	Compute: 60, // sm_60 [hw]
	CPU:     Intel,
	NVLink: NVLink{
		Wire:   80 * shaping.GBps, // 4 links × 20 GB/s [hw]
		Links:  4,                 // [hw]
		Usable: 947,               // 18 of 20 GB/s a link, which Simple's 950 ‰ are in [nccl]
		Steps:  overNVLink,
		Fence:  fenceNVLink,
		Credit: 600 * ns, // [nccl]
	},
	SM: voltaSM, PCIe: pcie3, Proxy: onIntel,
	Board: Board{Sockets: 2, Switches: 4, // [assumed]
		Memory:  76_800 * shaping.MBps, // 4 channels of DDR4-2400 [assumed]
		Between: 6 * shaping.GBps,      // QPI [nccl]
		P2P:     machine.PXB, Mesh: cubeMesh},
	Link: "edr", Fabric: "rail-optimized",
}, {
	Name:    "dgx-1-v100",
	About:   "8 × V100 SXM2, NVLink 2 as a cube mesh, 4 × ConnectX-5 EDR",
	GPUs:    8, // [hw]
	NICs:    4, // [assumed]
	Model:   "Tesla V100-SXM2-32GB",
	Compute: 70, // sm_70 [hw]
	CPU:     Intel,
	NVLink: NVLink{
		Wire:   150 * shaping.GBps, // 6 links × 25 GB/s [hw]
		Links:  6,                  // [hw]
		Usable: 842,                // 20 of 25 GB/s a link, which Simple's 950 ‰ are in [nccl]
		Steps:  overNVLink,
		Fence:  fenceNVLink,
		Credit: 600 * ns, // [nccl]
	},
	SM: voltaSM, PCIe: pcie3, Proxy: onIntel,
	Board: Board{Sockets: 2, Switches: 4, // [assumed]
		Memory:  76_800 * shaping.MBps, // 4 channels of DDR4-2400 [assumed]
		Between: 6 * shaping.GBps,      // QPI [nccl]
		P2P:     machine.PXB, Mesh: cubeMeshV},
	Link: "edr", Fabric: "rail-optimized",
}, {
	Name:    "dgx-2",
	About:   "16 × V100 SXM3 on two boards, NVLink 2 through 12 NVSwitches, 8 × ConnectX-5 EDR",
	GPUs:    16, // [hw]
	NICs:    8,  // [assumed]
	Model:   "Tesla V100-SXM3-32GB",
	Compute: 70, // sm_70 [hw]
	CPU:     Intel,
	NVLink: NVLink{
		Wire:   150 * shaping.GBps, // 6 links × 25 GB/s [hw]
		Links:  6,                  // [hw]
		Usable: 842,                // 20 of 25 GB/s a link, which Simple's 950 ‰ are in [nccl]
		Steps:  overNVLink,
		Fence:  fenceNVLink,
		Credit: 600 * ns, // [nccl]
	},
	SM: voltaSM, PCIe: pcie3, Proxy: onIntel,
	Board: Board{Sockets: 2, Switches: 8, // [assumed]
		Memory:  128 * shaping.GBps, // 6 channels of DDR4-2666 [assumed]
		Between: 10 * shaping.GBps,  // UPI of Skylake [nccl]
		P2P:     machine.PXB,
		Planes:  6}, // of each board; 8 links join each to its like, as many as it has GPUs: one crossbar [hw]
	Link: "edr", Fabric: "rail-optimized",
}}
