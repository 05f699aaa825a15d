// Package catalog holds the hardware Railyard knows: systems, links and
// fabrics, as table literals.
//
//	system.go  System: a server, its GPUs, NVLink, PCIe and NICs; the list of them
//	board.go   Board: how its parts hang together; its graph, a machine.Machine
//	parts.go   what several systems have alike: slots, SMs, proxies
//	like.go    Like: whose figures stand for a machine that was imported
//	text.go    Text: the tables as written, with their sources
//	system_volta.go      DGX-1, DGX-2
//	system_ampere.go     DGX A100
//	system_hopper.go     DGX H100 and its kin, GH200
//	system_blackwell.go  DGX B200, B300, racks of GB200 and GB300
//	system_cards.go      servers of cards without NVLink
//	system_others.go     AMD
//	system_tpu.go        hosts of Google's TPUs
//	system_cloud.go      instances of clouds, with what their images set for NCCL
//	link.go    Link: what a NIC speaks
//	way.go     Way: a link as a stream meets it, NVLink and PCIe included
//	device.go  switches, and what cables are made of, with watts
//	shape.go   Fabric shapes: what stands between servers
//	source.go  which sources an entry cites, read from the text of the tables
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
//	[sharp]  the maintainers in NVIDIA/nccl#320: DGX A100, HDR NICs, SHARP; limits of
//	         trees: NVIDIA SHARP 3.13 documentation, general information
//	[tpu]    Google Cloud documentation: TPU v4, TPU v5p, TPU7x (Ironwood)
//	[ofi]    aws/aws-ofi-nccl, src/platform-aws.cpp and topology/p4d-24xl-topo.xml
//	[smt]    aws/sagemaker-training-toolkit, commit 9a5ed9f
//	[gct]    GoogleCloudPlatform/cluster-toolkit, examples/machine-learning: nemo-framework/Dockerfile
//	         of a3-highgpu-8g, a3-megagpu-8g and a3-ultragpu-8g
//	[cal]    calibrated by us so that plateaus and small-message times of public
//	         nccl-tests tables come out; one value for all sizes
//	[assumed] no source found
//
// What is not here: which port is where (emu/fabric), and time. May import:
// collective, shaping, emu/machine.
package catalog
