package catalog

import (
	"github.com/railyard/railyard/emu/machine"
	"github.com/railyard/railyard/shaping"
)

// hopperBoard is that of DGX and HGX H100, and of what is sold beside them.
var hopperBoard = Board{Sockets: 2, Switches: 8, Roots: true, // a GPU and a NIC each, as nvidia-smi shows them [hw]
	Memory:  307_200 * shaping.MBps, // 8 channels of DDR5-4800 [assumed]
	Between: 22 * shaping.GBps,      // Sapphire Rapids [nccl]
	P2P:     machine.PXB,
	Planes:  4} // [hw]

// nvlink4 is 18 links of NVLink 4 through switches that compute.
var nvlink4 = NVLink{
	Wire:     450 * shaping.GBps, // 18 links × 25 GB/s [hw]
	Links:    18,                 // [hw]
	Usable:   881,                // 396.4 of 450: H200 pair copy, nvbandwidth [hw]
	SMUsable: 1052,               // all of that: with its fences a ring has the 363 to 367 GB/s of bus bandwidth of 8 × H200 at 16 GiB [cal]
	Steps:    overNVLink,
	Fence:    fenceNVLink,
	Credit:   600 * ns, // one flag over NVLink, as LL's hop [nccl]
	NVLS: NVLS{
		Rate:   450 * shaping.GBps, // keeps up with what every GPU puts in; no figure published [assumed]
		Usable: 820,                // gives the 480 GB/s of bus bandwidth that 8 × H200 have at 8 GiB; NCCL reckons with 850 [cal]
		Fence:  2100 * ns,          // of H200's table h200-azure-1n-allreduce-aibench, where chunks of 64 KiB have 451 GB/s and of 128 KiB 480 [cal]
		Step:   13 * us,            // 2 MiB take 41 µs there; two of 10 and a kernel are NVLS's 25 [cal]
	},
}

// Systems of Hopper.
var hopper = []System{{
	Name:    "dgx-h100",
	About:   "8 × H100 SXM, NVLink 4 through 4 NVSwitches, 8 × ConnectX-7 NDR",
	GPUs:    8, // [hw]
	NICs:    8, // [hw]
	Model:   "NVIDIA H100 80GB HBM3",
	Compute: 90,    // sm_90 [hw]
	CPU:     Intel, // 2 × Xeon 8480C [hw]
	NVLink:  nvlink4,
	SM:      hopperSM, PCIe: pcie5, Proxy: onIntel, Board: hopperBoard,
	Link: "ndr", Fabric: "rail-optimized",
}, {
	Name:    "dgx-h200",
	About:   "8 × H200 SXM, NVLink 4 through 4 NVSwitches, 8 × ConnectX-7 NDR",
	GPUs:    8, // [hw]
	NICs:    8, // [hw]
	Model:   "NVIDIA H200",
	Compute: 90, // sm_90 [hw]
	CPU:     Intel,
	NVLink:  nvlink4,
	SM:      hopperSM, PCIe: pcie5, Proxy: onIntel, Board: hopperBoard,
	Link: "ndr", Fabric: "rail-optimized",
}, {
	Name:    "h800",
	About:   "8 × H800 SXM, 8 links of NVLink 4 through 4 NVSwitches, 8 × ConnectX-7 NDR",
	GPUs:    8, // [hw]
	NICs:    8, // [assumed]
	Model:   "NVIDIA H800",
	Compute: 90, // sm_90 [hw]
	CPU:     Intel,
	NVLink: NVLink{
		Wire:     200 * shaping.GBps, // 8 links × 25 GB/s [hw]
		Links:    8,                  // [hw]
		Usable:   881,                // as H200's [assumed]
		SMUsable: 1052,               // as H200's [cal]
		Steps:    overNVLink,
		Fence:    fenceNVLink,
		Credit:   600 * ns, // [nccl]
		NVLS: NVLS{
			Rate:   200 * shaping.GBps, // as the links [assumed]
			Usable: 820,                // as H200's [cal]
			Fence:  2100 * ns,          // as H200's [cal]
			Step:   13 * us,            // as H200's [cal]
		},
	},
	SM: hopperSM, PCIe: pcie5, Proxy: onIntel, Board: hopperBoard,
	Link: "ndr", Fabric: "rail-optimized",
}, {
	Name:    "h20",
	About:   "8 × H20 SXM, NVLink 4 through 4 NVSwitches, 8 × ConnectX-7 NDR",
	GPUs:    8, // [hw]
	NICs:    8, // [assumed]
	Model:   "NVIDIA H20",
	Compute: 90, // sm_90 [hw]
	CPU:     Intel,
	NVLink:  nvlink4,
	SM:      hopperSM, PCIe: pcie5, Proxy: onIntel, Board: hopperBoard,
	Link: "ndr", Fabric: "rail-optimized",
}, {
	Name:    "gh200",
	About:   "4 × GH200 joined one to one by NVLink 4, a NIC of 200 Gb/s each (on Alps Slingshot-11; here HDR)",
	GPUs:    4, // [hw]
	NICs:    4, // [hw]
	Model:   "NVIDIA GH200 120GB",
	Compute: 90, // sm_90 [hw]
	CPU:     Arm,
	NVLink: NVLink{
		Wire:   450 * shaping.GBps, // 18 links × 25 GB/s [hw]
		Links:  18,                 // [hw]
		Usable: 881,                // as H200's [assumed]
		Steps:  overNVLink,
		Fence:  fenceNVLink,
		Credit: 600 * ns, // [nccl]
	},
	SM: hopperSM, PCIe: pcie5, Proxy: onIntel, // NCCL_NET_OVERHEAD knows no Arm
	Board: Board{Sockets: 4, // a Grace each [hw]
		Memory:  500 * shaping.GBps, // LPDDR5X [assumed]
		Between: 6 * shaping.GBps,   // Arm [nccl]
		P2P:     machine.PXB,
		Mesh:    "0-1x6 0-2x6 0-3x6 1-2x6 1-3x6 2-3x6",
		C2C:     450 * shaping.GBps}, // [hw]
	Link: "hdr", Fabric: "rail-optimized",
}}
