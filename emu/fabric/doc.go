// Package fabric makes a declared cluster concrete: which ports there are, who
// owns them, and which of them the bytes between two GPUs cross.
//
//	fabric.go  New: nodes, GPUs, port numbers, names
//	network.go Network: the switches between NICs
//	route.go   Route: the way from one GPU to another on one channel
//	switch.go  the engines of switches, and the ways to and from them
//	device.go  the ways of copies and of verbs programs, without a channel
//	shape.go   the communicator's Shape, as algorithms see it
//
//	GPU ─ SM ═ NVLink out ═(switch)═ NVLink in ═ GPU            same node
//	GPU ─ SM ═ [NVLink to the rail's owner] ═ buffer            another node:
//	      └ proxy ─ slot ─ slot ─ NIC out ═(leaf, uplinks)═     first to a buffer,
//	        NIC in ─ slot ─ slot ─ proxy ─ GPU                  then NIC to NIC
//
// What is not here: time passing. Ports carry rates and paths latencies;
// emu/transit books them. May import: emu, catalog, network, collective, shaping.
package fabric
