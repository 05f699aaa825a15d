// Package topoxml reads and writes the topology files of NCCL and RCCL: what
// NCCL_TOPO_DUMP_FILE writes and NCCL_TOPO_FILE reads.
//
//	element.go  the file as a tree of elements, within limits
//	read.go     Read: which file it is; its hosts
//	pci.go      the PCIe tree of a host
//	gpu.go      GPUs, and the models that their ids stand for
//	nic.go      network devices
//	nvlink.go   NVLink, XGMI, C2C
//	remark.go   what the file left out
//	write*.go   Write: the tree; what devices say of themselves
//	ours.go     attributes of ours that carry what NCCL has no word for
//
// A file is a system of cpus, one for each NUMA node, with trees of pci below.
// Dumps say which of them are GPUs and NICs; templates leave it to the PCI
// class. A search graph (NCCL_GRAPH_FILE) is another thing, and refused.
//
// What Write writes, Read reads back as the same machine in canonical order;
// NCCL reads it as well, and ignores the attributes it does not know.
//
// The package is pure. It imports emu/machine and shaping.
package topoxml
