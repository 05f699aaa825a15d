// Package catalog holds the hardware Railyard knows: systems, links and
// fabrics, as table literals.
//
//	system.go  System: a server, its GPUs, NVLink, PCIe and NICs
//	board.go   Machine: the inside of a server as a graph
//	link.go    Link: what a NIC speaks
//	shape.go   Fabric shapes: what stands between servers
//	protocol.go  what a protocol adds to the bytes of data, on links and in SMs
//
// Every figure carries its unit and its source on its line. A wire rate and
// the efficiencies that make it a usable rate stand apart, so that a reader can
// check both. Sources are cited as
//
//	[hw]     vendor and community figures, stas00/ml-engineering network/README.md (2026-08)
//	[nccl]   NVIDIA/nccl v2.30.7, src/graph/tuning.cc and topo.h
//	[ib]     ib_write_bw and ib_write_lat over 256 NIC pairs, rouge3877/ns3-msccl-data
//	[pod]    NVIDIA DGX SuperPOD reference architecture, B200, scalable infrastructure
//	[sharp]  the maintainers in NVIDIA/nccl#320: DGX A100, HDR NICs, SHARP
//	[cal]    calibrated by us so that plateaus and small-message times of public
//	         nccl-tests tables come out; one value for all sizes
//	[assumed] no source found
//
// What is not here: which port is where (emu/fabric), and time. May import:
// machine, collective, shaping.
package catalog
