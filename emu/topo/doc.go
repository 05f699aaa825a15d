// Package topo answers what people ask of hardware before they run anything:
// which way bytes go, what limits them, and what a copy or a verbs program would
// measure.
//
//	place.go  Place: "gpu3@node1", "nic0@node5"
//	way.go    Way: hop by hop from one place to another
//	kinds.go  Kinds: all ways of a cluster, those that are alike together
//	perf.go   Measure: peer copies, host copies, ib_write_bw, ib_write_lat
//	wire.go   messages over ports, one after another, without any protocol of NCCL's
//
// Ways and ports are those of emu/fabric, and time passes in emu/transit: what is
// shown is what runs. The package decides no figure but the pause of a queue pair.
//
// May import: shaping, collective, emu/suggest, emu/catalog, emu/fabric, emu/transit.
package topo
