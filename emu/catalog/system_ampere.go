package catalog

import (
	"github.com/railyard/railyard/emu/machine"
	"github.com/railyard/railyard/shaping"
)

// Systems of Ampere.
var ampere = []System{{
	Name:    "dgx-a100",
	About:   "8 × A100 SXM4, NVLink 3 through 6 NVSwitches, 8 × ConnectX-6 HDR",
	GPUs:    8, // [hw]
	NICs:    8, // [hw]
	Model:   "NVIDIA A100-SXM4-80GB",
	Compute: 80, // sm_80 [hw]
	CPU:     AMD,
	NVLink: NVLink{
		Wire:   300 * shaping.GBps, // 12 links × 25 GB/s [hw]
		Links:  12,                 // [hw]
		Usable: 842,                // 20 of 25 GB/s a link, which Simple's 950 ‰ are in [nccl]
		Steps:  overNVLink,
		Fence:  fenceNVLink,
		Credit: 600 * ns, // [nccl]
	},
	SM: ampereSM, PCIe: pcie4, Proxy: onAMD,
	Board: Board{Sockets: 2, Switches: 4, Roots: true, // two GPUs and two NICs a switch [assumed]
		Memory:  204_800 * shaping.MBps, // 8 channels of DDR4-3200 [assumed]
		Between: 16 * shaping.GBps,      // AMD [nccl]
		P2P:     machine.SYS,
		Planes:  6}, // [hw]
	Link: "hdr", Fabric: "rail-optimized",
}}
