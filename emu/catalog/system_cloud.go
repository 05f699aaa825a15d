package catalog

import (
	"github.com/railyard/railyard/emu/machine"
	"github.com/railyard/railyard/shaping"
)

// What the plugin of EFA, aws-ofi-nccl, sets for NCCL on A100, and on all later
// instances, where nothing else is set.
var (
	efaOldEnv = []string{
		"NCCL_BUFFSIZE=8388608",         // [ofi]
		"NCCL_P2P_NET_CHUNKSIZE=524288", // [ofi]
		"NCCL_PROTO=simple",             // EFA delivers out of order [smt]
	}
	efaEnv = []string{
		"NCCL_BUFFSIZE=8388608",              // [ofi]
		"NCCL_P2P_NET_CHUNKSIZE=524288",      // [ofi]
		"NCCL_NVLSTREE_MAX_CHUNKSIZE=524288", // [ofi]
		"NCCL_NVLS_CHUNKSIZE=524288",         // [ofi]
		"NCCL_NET_FORCE_FLUSH=0",             // [ofi]
	}
)

// What Google's images set, as far as it is not the name of a device, for
// GPUDirect-TCPX, for TCPXO, and for RoCE (gIB).
var (
	tcpxEnv = []string{
		"NCCL_NET=GPUDirectTCPX_v7",      // [gct]
		"NCCL_CROSS_NIC=0",               // [gct]
		"NCCL_ALGO=Ring",                 // [gct]
		"NCCL_PROTO=Simple",              // [gct]
		"NCCL_DYNAMIC_CHUNK_SIZE=524288", // [gct]
		"NCCL_P2P_NET_CHUNKSIZE=524288",  // [gct]
		"NCCL_BUFFSIZE=4194304",          // [gct]
		"NCCL_NET_GDR_LEVEL=PIX",         // [gct]
		"NCCL_P2P_PXN_LEVEL=0",           // [gct]
	}
	tcpxoEnv = []string{
		"NCCL_CROSS_NIC=0",                   // [gct]
		"NCCL_ALGO=Ring,Tree",                // [gct]
		"NCCL_PROTO=Simple",                  // [gct]
		"NCCL_MIN_NCHANNELS=4",               // [gct]
		"NCCL_DYNAMIC_CHUNK_SIZE=524288",     // [gct]
		"NCCL_P2P_NET_CHUNKSIZE=524288",      // [gct]
		"NCCL_BUFFSIZE=8388608",              // [gct]
		"NCCL_NET_GDR_LEVEL=PIX",             // [gct]
		"NCCL_TUNER_PLUGIN=libnccl-tuner.so", // [gct]
		"NCCL_NVLS_ENABLE=0",                 // [gct]
	}
	gibEnv = []string{
		"NCCL_NET=gIB",                  // [gct]
		"NCCL_CROSS_NIC=0",              // [gct]
		"NCCL_NET_GDR_LEVEL=PIX",        // [gct]
		"NCCL_P2P_NET_CHUNKSIZE=131072", // [gct]
		"NCCL_NVLS_CHUNKSIZE=524288",    // [gct]
		"NCCL_IB_ADAPTIVE_ROUTING=1",    // [gct]
		"NCCL_IB_QPS_PER_CONNECTION=4",  // [gct]
		"NCCL_IB_TC=52",                 // [gct]
		"NCCL_IB_FIFO_TC=84",            // [gct]
	}
)

// h100 is NVIDIA's board of 8 × H100 as clouds sell it, but for what lies between
// its GPUs and the network.
const h100 = "NVIDIA H100 80GB HBM3"

// aws are Amazon's instances. Their NICs are Elastic Fabric Adapters, of which the
// plugin joins those nearest to a GPU to one NIC.
var aws = []System{{
	Name:    "aws-p4d",
	About:   "AWS p4d.24xlarge: 8 × A100 40GB, 4 × EFA 100 Gb/s, one for two GPUs",
	GPUs:    8, // [hw]
	NICs:    4, // [hw]
	Model:   "NVIDIA A100-SXM4-40GB",
	Compute: 80,    // sm_80 [hw]
	CPU:     Intel, // [ofi]
	NVLink: NVLink{
		Wire:   300 * shaping.GBps, // 12 links × 25 GB/s [hw]
		Links:  12,                 // [hw]
		Usable: 842,                // as dgx-a100 [nccl]
		Steps:  overNVLink,
		Fence:  fenceNVLink,
		Credit: 600 * ns, // [nccl]
	},
	SM: ampereSM, PCIe: pcie3, Proxy: onIntel, // 8 GT/s x16 [ofi]
	Board: Board{Sockets: 2, Switches: 4, // two GPUs and a NIC each [ofi]
		Memory:  140_784 * shaping.MBps, // 6 channels of DDR4-2933 [assumed]
		Between: 10 * shaping.GBps,      // Skylake [nccl]
		P2P:     machine.PXB,
		Planes:  6}, // as dgx-a100 [assumed]
	Link: "efa", Fabric: "fat-tree",
	Reported: 75 * us, // [ofi]
	Env:      efaOldEnv,
}, {
	Name:    "aws-p5",
	About:   "AWS p5.48xlarge: 8 × H100, 32 × EFA 100 Gb/s, four for each GPU",
	GPUs:    8, // [hw]
	NICs:    8, // one a GPU, as the plugin shows them [ofi]
	Cards:   4, // 32 in all [hw]
	Model:   h100,
	Compute: 90,  // sm_90 [hw]
	CPU:     AMD, // EPYC 7R13 [assumed]
	NVLink:  nvlink4,
	SM:      hopperSM, PCIe: pcie5, Proxy: onAMD, // behind switches of generation 5 [assumed]
	Board: Board{Sockets: 2, Switches: 8, Roots: true, // as DGX H100's [assumed]
		Memory:  204_800 * shaping.MBps, // 8 channels of DDR4-3200 [assumed]
		Between: 16 * shaping.GBps,      // AMD [nccl]
		P2P:     machine.SYS,
		Planes:  4}, // as DGX H100's [assumed]
	Link: "efa-400", Fabric: "fat-tree",
	Reported: 75 * us, // [ofi]
	Env:      efaEnv,
}, {
	Name:    "aws-p5en",
	About:   "AWS p5en.48xlarge: 8 × H200, 16 × EFA 200 Gb/s, two for each GPU",
	GPUs:    8, // [hw]
	NICs:    8, // one a GPU, as the plugin shows them [ofi]
	Cards:   2, // 16 in all [hw]
	Model:   "NVIDIA H200",
	Compute: 90, // sm_90 [hw]
	CPU:     Intel,
	NVLink:  nvlink4,
	SM:      hopperSM, PCIe: pcie5, Proxy: onIntel, Board: hopperBoard,
	Link: "efa-400", Fabric: "fat-tree",
	Reported: 35 * us, // [ofi]
	Env:      efaEnv,
}, {
	Name:    "aws-p6-b200",
	About:   "AWS p6-b200.48xlarge: 8 × B200, 8 × EFA 400 Gb/s",
	GPUs:    8, // [hw]
	NICs:    8, // [hw]
	Model:   "NVIDIA B200",
	Compute: 100, // sm_100 [hw]
	CPU:     Intel,
	NVLink:  nvlink5,
	SM:      blackwellSM, PCIe: pcie5, Proxy: onIntel, Board: blackwellBoard,
	Link: "efa-400", Fabric: "fat-tree",
	Reported: 35 * us, // [ofi]
	Env:      efaEnv,
}, {
	Name:    "aws-p6-b300",
	About:   "AWS p6-b300.48xlarge: 8 × B300, 16 × EFA 400 Gb/s, two for each GPU",
	GPUs:    8, // [hw]
	NICs:    8, // one a GPU, as the plugin shows them [ofi]
	Cards:   2, // 16 in all [hw]
	Model:   "NVIDIA B300",
	Compute: 103, // sm_103 [hw]
	CPU:     Intel,
	NVLink:  nvlink5,
	SM:      blackwellSM, PCIe: pcie6, Proxy: onIntel, Board: blackwellBoard,
	Link: "efa-800", Fabric: "fat-tree",
	Reported: 35 * us, // [ofi]
	Env:      efaEnv,
}}

// gcpBoard is that of A3 with H100: two GPUs and their NICs behind a switch.
var gcpBoard = Board{Sockets: 2, Switches: 4, Roots: true, // [assumed]
	Memory:  307_200 * shaping.MBps, // 8 channels of DDR5-4800 [assumed]
	Between: 22 * shaping.GBps,      // Sapphire Rapids [nccl]
	P2P:     machine.PXB,
	Planes:  4} // as DGX H100's [assumed]

// gcp are Google's.
var gcp = []System{{
	Name:    "gcp-a3-high",
	About:   "GCP a3-highgpu-8g: 8 × H100, 4 × 200 Gb/s by GPUDirect-TCPX, one for two GPUs",
	GPUs:    8, // [hw]
	NICs:    4, // [hw]
	Model:   h100,
	Compute: 90, // sm_90 [hw]
	CPU:     Intel,
	NVLink:  nvlink4,
	SM:      hopperSM, PCIe: pcie5, Proxy: onIntel, Board: gcpBoard,
	Link: "tcpx", Fabric: "rail-optimized",
	Env: tcpxEnv,
}, {
	Name:    "gcp-a3-mega",
	About:   "GCP a3-megagpu-8g: 8 × H100, 8 × 200 Gb/s by GPUDirect-TCPXO",
	GPUs:    8, // [hw]
	NICs:    8, // [hw]
	Model:   h100,
	Compute: 90, // sm_90 [hw]
	CPU:     Intel,
	NVLink:  nvlink4,
	SM:      hopperSM, PCIe: pcie5, Proxy: onIntel, Board: gcpBoard,
	Link: "tcpxo", Fabric: "rail-optimized",
	Env: tcpxoEnv,
}, {
	Name:    "gcp-a3-ultra",
	About:   "GCP a3-ultragpu-8g: 8 × H200, 8 × RoCE 400 Gb/s",
	GPUs:    8, // [hw]
	NICs:    8, // [hw]
	Model:   "NVIDIA H200",
	Compute: 90, // sm_90 [hw]
	CPU:     Intel,
	NVLink:  nvlink4,
	SM:      hopperSM, PCIe: pcie5, Proxy: onIntel, Board: hopperBoard,
	Link: "roce-400", Fabric: "rail-optimized",
	Env: gibEnv,
}, {
	Name:    "gcp-a4",
	About:   "GCP a4-highgpu-8g: 8 × B200, 8 × RoCE 400 Gb/s",
	GPUs:    8, // [hw]
	NICs:    8, // [hw]
	Model:   "NVIDIA B200",
	Compute: 100, // sm_100 [hw]
	CPU:     Intel,
	NVLink:  nvlink5,
	SM:      blackwellSM, PCIe: pcie5, Proxy: onIntel, Board: blackwellBoard,
	Link: "roce-400", Fabric: "rail-optimized",
	Env: gibEnv, // as A3 Ultra's [assumed]
}}
