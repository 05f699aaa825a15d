// Package machine is the inside of a server as a graph: what there is, where it
// hangs, how near two devices are. Files of other tools are read into it, and
// ports and paths are made out of it.
//
//	machine.go    Machine and its parts
//	slot.go       Slot: generation and lanes of a PCIe link, and the rate they give
//	place.go      Place: where a device hangs
//	distance.go   Distance between two devices, in the words of nvidia-smi
//	cpulist.go    lists of CPUs: "0-47,96-143", and NCCL's hexadecimal masks of them
//	canonical.go  Canonical: the order in which exports come back
//	validate.go   what a machine must be
//	note.go       Import: machines as a file tells them, with what it does not tell
//
//	numa0 ─┬─ host bridge ─── GPU0              GPU0 to GPU1  PHB
//	       │       └───────── GPU1              GPU0 to GPU2  NODE
//	       └─ host bridge ─── switch ─┬─ GPU2   GPU2 to NIC0  PIX
//	                                  └─ NIC0
//	numa1 ─── GPU3                              GPU0 to GPU3  SYS
//
// What is not here: reading and writing (smi, topoxml; package emu for cluster
// files), and anything that decides time. Rates are kept as they were declared,
// 0 where nobody said; what is made of them is the business of the catalog and
// the fabric.
//
// The package is pure. It imports shaping, for rates.
package machine
