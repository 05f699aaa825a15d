// Package fabric makes a declared cluster concrete: which ports there are, who
// owns them, and which of them the bytes between two GPUs cross.
//
//	fabric.go  New: nodes, GPUs, port numbers, names
//	inside.go  ports within a server, made of its graph; which NIC is whose
//	figures.go their rates
//	within.go  ways within a node: NVLink, PCIe, host memory
//	cross.go   whether rings change rails from node to node
//	toward.go  ways between a GPU and its node's NICs
//	domain.go  NVLink domains of several nodes
//	ici.go     slices of TPU pods: the torus of chips over several hosts, its ways
//	weave.go   rings round a torus without a link in common
//	notes.go   what a user should know of machines given in full
//	rings.go   rings round GPUs that are joined one to one
//	join.go    the network between NICs: its ports, and the way of a flow
//	route.go   Route: the way from one GPU to another on one channel
//	switch.go  the engines of switches, and the ways to and from them
//	parts.go   which ports belong to a NIC, a GPU, a switch or a cable: what faults strike
//	around.go  routes round dead switches, and by another NIC
//	device.go  the ways of copies and of verbs programs, without a channel
//	shape.go   the communicator's Shape, as algorithms see it
//
//	GPU ─ SM ═ NVLink out ═(switch)═ NVLink in ═ GPU            same node
//	GPU ─ SM ═ [NVLink to the rail's owner] ═ buffer            another node:
//	      └ proxy ─ slot ─ slot ─ NIC out ═(leaf, uplinks)═     first to a buffer,
//	        NIC in ─ slot ─ slot ─ proxy ─ GPU                  then NIC to NIC
//	GPU ─ DMA ═ router ═ link ═ router ═ link ═ router ═ GPU      another TPU of the slice
//	GPU ─ SM ─ slot ─ switch ─ DRAM ─ switch ─ slot ─ NIC       without GPUDirect
//
// What is not here: time passing. Ports carry rates and paths latencies;
// emu/transit books them. May import: emu, catalog, machine, network, collective,
// shaping.
package fabric
