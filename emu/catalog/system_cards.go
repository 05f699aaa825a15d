package catalog

import (
	"github.com/railyard/railyard/emu/machine"
	"github.com/railyard/railyard/shaping"
)

// Servers of cards without NVLink.
var cards = []System{{
	Name:    "pcie-gen5-l40s",
	About:   "8 × L40S behind 4 PCIe 5 switches, with 2 GPUs and a ConnectX-7 NDR each",
	GPUs:    8, // [assumed]
	NICs:    4, // [assumed]
	Model:   "NVIDIA L40S",
	Compute: 89, // sm_89 [hw]
	CPU:     Intel,
	SM:      ampereSM, PCIe: pcie5, Proxy: onIntel,
	Board: Board{Sockets: 2, Switches: 4, // [assumed]
		Gen:     4,                      // of the cards [hw]
		Memory:  307_200 * shaping.MBps, // 8 channels of DDR5-4800 [assumed]
		Between: 22 * shaping.GBps,      // Sapphire Rapids [nccl]
		P2P:     machine.PXB},
	Link: "ndr", Fabric: "rail-optimized",
}, {
	Name:    "pcie-gen4-4090",
	About:   "8 × RTX 4090 at the roots of two sockets, no peer to peer in the driver, 2 × EDR",
	GPUs:    8, // [assumed]
	NICs:    2, // [assumed]
	Model:   "NVIDIA GeForce RTX 4090",
	Compute: 89, // sm_89 [hw]
	CPU:     AMD,
	SM:      ampereSM, PCIe: pcie4, Proxy: onAMD,
	Board: Board{Sockets: 2, // [assumed]
		Memory:  204_800 * shaping.MBps, // 8 channels of DDR4-3200 [assumed]
		Between: 20_500 * shaping.MBps}, // 41 GB/s both directions across sockets [hw]
	Link: "edr", Fabric: "rail-optimized",
}}
