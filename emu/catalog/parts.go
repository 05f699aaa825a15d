package catalog

import "github.com/railyard/railyard/shaping"

// What several systems have alike stands here once.

// The latencies of peers that meet over PCIe, and the PCIe slots with them. What
// headers and flow control leave was measured on generation 5 alone.
var (
	overPCIe = PerProtocol{Simple: 5700 * ns, LL: 1 * us, LL128: 2500 * ns} // ring per-hop latency [nccl]
	pcie3    = Slot{Gen: 3, Wire: 15_750 * shaping.MBps, Usable: 880,       // x16 [hw]; as gen 5 [assumed]
		Steps: overPCIe, Credit: 1 * us} // one flag, as LL's hop [nccl]
	pcie4 = Slot{Gen: 4, Wire: 31 * shaping.GBps, Usable: 880, // x16 [hw]; as gen 5 [assumed]
		Steps: overPCIe, Credit: 1 * us} // [nccl]
	pcie5 = Slot{Gen: 5, Wire: 63 * shaping.GBps, Usable: 880, // x16; 55.4 of 63: H2D copy, H200 [hw]
		Steps: overPCIe, Credit: 1 * us} // [nccl]
	pcie6 = Slot{Gen: 6, Wire: 121 * shaping.GBps, Usable: 880, // x16 [hw]; as gen 5 [assumed]
		Steps: overPCIe, Credit: 1 * us} // [nccl]
)

// overNVLink is the latency from a sender's last store to the receiver's reaction.
var overNVLink = PerProtocol{Simple: 3400 * ns, LL: 600 * ns, LL128: 1900 * ns} // ring per-hop latency [nccl]

// fenceNVLink is the fence of a slice over NVLink. NCCL's latency of a hop of Simple; with
// it, and no figure of their own, ring all_reduces on 8 × A100 come out as the tables
// a100-ndv4-1n-all_reduce-superbench and a100-azure-1n-allreduce-aibench have them.
const fenceNVLink = 3400 * ns // ring per-hop latency [nccl]

// The proxies of hosts with either make of CPU.
var (
	onIntel = Proxy{
		Post:    1 * us,                                                     // NCCL_NET_OVERHEAD on Intel [nccl]
		Receive: PerProtocol{Simple: 5 * us, LL: 300 * ns, LL128: 300 * ns}, // flush and fence; poll [cal], of LL128 as of LL [assumed]
	}
	onAMD = Proxy{
		Post:    2 * us,                                                     // NCCL_NET_OVERHEAD on AMD [nccl]
		Receive: PerProtocol{Simple: 12700 * ns, LL: 8 * us, LL128: 8 * us}, // 38 to 42 µs for 8 to 512 B on 2 × DGX A100 with LL [cal]; else as much more than on Intel [assumed]
	}
)

// SMs of each generation. Host is such that a NIC whose channels are all staged
// in host memory gets the 10 to 15 GB/s that nodes of B200 without
// nvidia_peermem report [hw]: two channels a NIC on Hopper, four on Blackwell.
// Earlier generations have no figure of their own.
var (
	voltaSM     = SM{Rate: 26_500 * shaping.MBps, LL: 3_250 * shaping.MBps, Channels: 12, Kernel: 5 * us, Host: 7_500 * shaping.MBps} // tree cap; LL 39 GB/s by 12 [nccl]; 6 links, doubled, kernel and host as Hopper [assumed]
	ampereSM    = SM{Rate: 24 * shaping.GBps, LL: 3_654 * shaping.MBps, Channels: 24, Kernel: 5 * us, Host: 7_500 * shaping.MBps}     // tree cap; LL 87.7 GB/s by 24 [nccl]; 12 links, doubled, kernel and host as Hopper [assumed]
	hopperSM    = SM{Rate: 40 * shaping.GBps, LL: 8_812 * shaping.MBps, Channels: 16, Kernel: 5 * us, Host: 7_500 * shaping.MBps}     // LL 141 GB/s by 16; 38.7–41.4 GB/s a channel, Hopper tree cap; 8 rings found, each doubled [nccl]; with the LL hops 13–16 µs at 8 B on 8 GPUs; host [cal]
	blackwellSM = SM{Rate: 70 * shaping.GBps, LL: 8_812 * shaping.MBps, Channels: 32, Kernel: 5 * us, Host: 4_500 * shaping.MBps}     // tree cap, channels; LL 282 GB/s by 32 [nccl]; kernel as Hopper [assumed]; host [cal]
)
