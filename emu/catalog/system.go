package catalog

import "github.com/railyard/railyard/shaping"

// System is a kind of server.
type System struct {
	Name  string
	About string
	GPUs  int
	NICs  int    // NIC i stands on rail i, at the PCIe switch of GPU i × GPUs / NICs
	Model string // what nvidia-smi calls the GPU
	// Compute is the GPU's compute capability × 10: 70 Volta, 80 Ampere, 90
	// Hopper, 100 Blackwell. CPU is whose the host's is.
	Compute int
	CPU     CPU

	NVLink NVLink
	SM     SM
	PCIe   Slot
	Proxy  Proxy
	// Link and Fabric are what the system ships with: names of this catalog.
	Link, Fabric string
}

// NVLink is the domain that joins the GPUs of a server through NVSwitch.
type NVLink struct {
	Wire   shaping.Rate // one GPU, one direction
	Usable int64        // ‰ of Wire that a copy engine moves
	Steps  PerProtocol  // latency from a sender's last store to the receiver's reaction
	Credit shaping.Duration
	NVLS   NVLS
}

// NVLS is what an NVSwitch computes. The zero value is one that only switches.
type NVLS struct {
	// Rate is how many bytes of result the reduction engines of the domain turn
	// out a second, and its multicast engines take in.
	Rate   shaping.Rate
	Usable int64            // ‰ of what a step of Simple reaches on a link that multimem accesses reach
	Step   shaping.Duration // from a sender's last store through the switch to a receiver's reaction
}

// SM is the streaming multiprocessor that runs one channel's thread blocks.
type SM struct {
	Rate     shaping.Rate     // what one SM moves: reads its inputs, writes its outputs, one pass
	Channels int              // how many channels NCCL opens on this system
	Kernel   shaping.Duration // from the end of one kernel to the first step of the next, on the device
}

// Slot is a PCIe slot, GPU's and NIC's alike.
type Slot struct {
	Wire   shaping.Rate // one direction, after line coding
	Usable int64        // ‰ of Wire left after headers and flow control
}

// Proxy is the host thread that drives the NIC for one GPU.
type Proxy struct {
	Post    shaping.Duration // one work request; posts of a GPU follow one another
	Receive PerProtocol      // from the NIC's last write to the receiver's reaction: flush and fence for Simple, polling for LL and LL128
}

// CPU is a maker of host processors, as far as NCCL tells them apart.
type CPU uint8

// The makers of host processors.
const (
	Intel CPU = iota
	AMD
	Arm
)

// PerProtocol is a latency for each protocol of NCCL.
type PerProtocol struct{ Simple, LL, LL128 shaping.Duration }

const (
	ns = shaping.Nanosecond
	us = shaping.Microsecond
)

var systems = []System{{
	Name:    "dgx-h100",
	About:   "8 × H100 SXM, NVLink 4 through 4 NVSwitches, 8 × ConnectX-7 NDR",
	GPUs:    8, // [hw]
	NICs:    8, // [hw]
	Model:   "NVIDIA H100 80GB HBM3",
	Compute: 90,    // sm_90 [hw]
	CPU:     Intel, // 2 × Xeon 8480C [hw]
	NVLink: NVLink{
		Wire:   450 * shaping.GBps,                                             // 18 links × 25 GB/s [hw]
		Usable: 881,                                                            // 396.4 of 450: H200 pair copy, nvbandwidth [hw]
		Steps:  PerProtocol{Simple: 3400 * ns, LL: 600 * ns, LL128: 1900 * ns}, // ring per-hop latency [nccl]
		Credit: 600 * ns,                                                       // one flag over NVLink, as LL's hop [nccl]
		NVLS: NVLS{
			Rate:   450 * shaping.GBps, // keeps up with what every GPU puts in; no figure published [assumed]
			Usable: 820,                // gives the 480 GB/s of bus bandwidth that 8 × H200 have at 8 GiB; NCCL reckons with 850 [cal]
			Step:   10 * us,            // two of them and a kernel are NVLS's 25 µs [nccl]
		},
	},
	SM: SM{
		Rate:     40 * shaping.GBps, // 38.7–41.4 GB/s a channel, Hopper tree cap [nccl]
		Channels: 16,                // 8 rings found, each doubled [nccl]
		Kernel:   5 * us,            // with the LL hops gives 13–16 µs at 8 B on 8 GPUs [cal]
	},
	PCIe: Slot{
		Wire:   63 * shaping.GBps, // gen 5 x16 [hw]
		Usable: 880,               // 55.4 of 63: H2D copy, H200 [hw]
	},
	Proxy: Proxy{
		Post:    1 * us,                                                     // NCCL_NET_OVERHEAD on Intel [nccl]
		Receive: PerProtocol{Simple: 5 * us, LL: 300 * ns, LL128: 300 * ns}, // flush and fence; poll [cal], of LL128 as of LL [assumed]
	},
	Link:   "ndr",
	Fabric: "rail-optimized",
}}

// Systems returns every system in listing order.
func Systems() []System { return append([]System(nil), systems...) }

// LookupSystem returns the system with the given name.
func LookupSystem(name string) (System, error) {
	return lookup("system", name, systems, func(s System) string { return s.Name })
}
