package catalog

import (
	"github.com/railyard/railyard/emu/machine"
	"github.com/railyard/railyard/shaping"
)

// nvlink5 is 18 links of NVLink 5 through switches that compute.
var nvlink5 = NVLink{
	Wire:   900 * shaping.GBps, // 18 links × 50 GB/s [hw]
	Links:  18,                 // [hw]
	Usable: 856,                // 770 of 900: pair copy of a GB200, nvbandwidth [hw]
	Steps:  overNVLink,
	Fence:  fenceNVLink,
	Credit: 600 * ns, // [nccl]
	NVLS: NVLS{
		Rate:   900 * shaping.GBps,    // as on Hopper [assumed]
		Usable: 740,                   // its share on Blackwell [nccl]
		Fence:  3400 * ns,             // of tables b200-1n-allreduce-mleng and b300-1n-allreduce-ringpolicy, where chunks of 64 KiB have 735 to 762 GB/s and of 128 KiB 840 [cal]
		Step:   25 * us,               // 116 µs for 8 and 16 MiB on 8 × B200 [cal]
		SM:     49_500 * shaping.MBps, // as Fence [cal]
	},
}

// nvlinkRack is nvlink5 in a rack, where trays share the NVSwitches.
var nvlinkRack = NVLink{
	Wire:   900 * shaping.GBps, // 18 links × 50 GB/s [hw]
	Links:  18,                 // [hw]
	Usable: 856,                // as nvlink5's [hw]
	Steps:  overNVLink,
	Fence:  fenceNVLink,
	Credit: 600 * ns, // [nccl]
	NVLS: NVLS{
		Rate:   900 * shaping.GBps, // as on Hopper [assumed]
		Usable: 740,                // its share on Blackwell [nccl]
		Step:   25 * us,            // as nvlink5's [cal]
		SM:     36 * shaping.GBps,  // without a fence, as chunks of 64 and of 128 KiB have the same rate, gives the 839 GB/s of bus bandwidth at 4 GiB, 835 at 8 GiB, of a GB200 NVL72 of 72 GPUs; links alone give 1023 [cal]
	},
}

// blackwellBoard is that of DGX and HGX B200 and B300.
var blackwellBoard = Board{Sockets: 2, Switches: 8, Roots: true, // as H100's [assumed]
	Memory:  358_400 * shaping.MBps, // 8 channels of DDR5-5600 [assumed]
	Between: 40 * shaping.GBps,      // Emerald Rapids [nccl]
	P2P:     machine.PXB,
	Planes:  2} // [assumed]

// tray is a compute tray of a rack: four GPUs, two Graces.
var tray = Board{Sockets: 2, Switches: 4, // [assumed]
	Memory:  500 * shaping.GBps, // LPDDR5X [assumed]
	Between: 6 * shaping.GBps,   // Arm [nccl]
	P2P:     machine.PXB,
	Planes:  18,                 // 9 switch trays of 2 chips, one link of each GPU to each [hw]
	C2C:     450 * shaping.GBps, // [hw]
	Domain:  18}                 // trays, 72 GPUs [hw]

// Systems of Blackwell and Rubin.
var blackwell = []System{{
	Name:    "dgx-b200",
	About:   "8 × B200 SXM, NVLink 5 through 2 NVSwitches, 8 × ConnectX-7 NDR",
	GPUs:    8, // [hw]
	NICs:    8, // [hw]
	Model:   "NVIDIA B200",
	Compute: 100, // sm_100 [hw]
	CPU:     Intel,
	NVLink:  nvlink5,
	SM:      blackwellSM, PCIe: pcie5, Proxy: onIntel, Board: blackwellBoard,
	Link: "ndr", Fabric: "rail-optimized",
}, {
	Name:    "dgx-b300",
	About:   "8 × B300 SXM, NVLink 5 through 2 NVSwitches, 8 × ConnectX-8 XDR on PCIe 6",
	GPUs:    8, // [hw]
	NICs:    8, // [hw]
	Model:   "NVIDIA B300",
	Compute: 103, // sm_103 [hw]
	CPU:     Intel,
	NVLink:  nvlink5,
	SM:      blackwellSM, PCIe: pcie6, Proxy: onIntel, Board: blackwellBoard,
	Link: "xdr", Fabric: "rail-optimized",
}, {
	Name:    "gb200-nvl72",
	About:   "a tray of 4 × GB200; 18 trays are an NVLink 5 domain of 72 GPUs; 4 × ConnectX-7 NDR a tray",
	GPUs:    4, // [hw]
	NICs:    4, // [hw]
	Model:   "NVIDIA GB200",
	Compute: 100, // sm_100 [hw]
	CPU:     Arm,
	NVLink:  nvlinkRack,
	SM:      blackwellSM, PCIe: pcie5, Proxy: onIntel, Board: tray,
	Link: "ndr", Fabric: "rail-optimized",
}, {
	Name:    "gb300-nvl72",
	About:   "a tray of 4 × GB300; 18 trays are an NVLink 5 domain of 72 GPUs; 4 × ConnectX-8 XDR a tray",
	GPUs:    4, // [hw]
	NICs:    4, // [assumed]
	Model:   "NVIDIA GB300",
	Compute: 103, // sm_103 [hw]
	CPU:     Arm,
	NVLink:  nvlinkRack,
	SM:      blackwellSM, PCIe: pcie6, Proxy: onIntel, Board: tray,
	Link: "xdr", Fabric: "rail-optimized",
}, {
	Name:    "vera-rubin-nvl72",
	Alias:   "vr-nvl144",
	About:   "a tray of 4 × Rubin; 18 trays are an NVLink 6 domain of 72 GPUs, 144 dies; NICs of 800 Gb/s",
	GPUs:    4, // [hw]
	NICs:    4, // [assumed]
	Model:   "NVIDIA Rubin",
	Compute: 107, // [assumed]
	CPU:     Arm,
	NVLink: NVLink{
		Wire:   1800 * shaping.GBps, // 36 links × 50 GB/s [hw]
		Links:  36,                  // [hw]
		Usable: 856,                 // as NVLink 5's [assumed]
		Steps:  overNVLink,
		Fence:  fenceNVLink,
		Credit: 600 * ns, // [nccl]
		NVLS: NVLS{
			Rate:   1800 * shaping.GBps, // as on Hopper [assumed]
			Usable: 740,                 // as on Blackwell [assumed]
			Step:   25 * us,             // as Blackwell's [assumed]
		},
	},
	SM: rubinSM, PCIe: pcie6, Proxy: onIntel,
	Board: Board{Sockets: 2, Switches: 4, // [assumed]
		Memory:  1200 * shaping.GBps, // LPDDR5X of Vera [assumed]
		Between: 6 * shaping.GBps,    // Arm [nccl]
		P2P:     machine.PXB,
		Planes:  36,                 // one link of each GPU to each [assumed]
		C2C:     900 * shaping.GBps, // [hw]
		Domain:  18},                // trays, 72 packages [hw]
	Link: "xdr", Fabric: "rail-optimized",
}, {
	Name:    "nvl576",
	About:   "a tray of 4 × GB200; 144 trays are an NVLink 5 domain of 576 GPUs, the most that NVLink Switch joins",
	GPUs:    4, // [assumed]
	NICs:    4, // [assumed]
	Model:   "NVIDIA GB200",
	Compute: 100, // sm_100 [hw]
	CPU:     Arm,
	NVLink:  nvlinkRack,
	SM:      blackwellSM, PCIe: pcie5, Proxy: onIntel,
	Board: Board{Sockets: 2, Switches: 4, // [assumed]
		Memory:  500 * shaping.GBps, // LPDDR5X [assumed]
		Between: 6 * shaping.GBps,   // Arm [nccl]
		P2P:     machine.PXB,
		Planes:  18,                 // planes of chips over all chassis, taken for one crossbar each [assumed]
		C2C:     450 * shaping.GBps, // [hw]
		Domain:  144},               // trays, 576 GPUs [hw]
	Link: "ndr", Fabric: "rail-optimized",
}}

// rubinSM moves what NVLink 6 asks of as many channels.
var rubinSM = SM{Rate: 140 * shaping.GBps, LL: 17_624 * shaping.MBps, Channels: 32, Kernel: 5 * us, Host: 4_500 * shaping.MBps} // twice Blackwell's, else as that [assumed]
