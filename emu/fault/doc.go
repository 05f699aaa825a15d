// Package fault turns declared faults into what they do to the parts of one
// cluster, instant by instant.
//
//	kinds.go     the table of types: words, targets, parameters, what each is like
//	params.go    parameters under their words, for files, flags and the wire: Set
//	table.go     the table as docs/faults.md and `fault list --kinds` show it
//	target.go    from "node1/nic3" to ports, GPUs and nodes
//	when.go      from at, every and chance to instants
//	build.go     what is added to a schedule while it is made
//	compile.go   Compile: faults in, Schedule out, or all that is wrong with them
//	schedule.go  Schedule: what kernels ask
//	culprit.go   Culprit: what to blame for a way that is dead
//	live.go      faults that are added, and taken back, while a session lasts
//	line.go      Line: what becomes of one port or GPU over time
//	print.go     a schedule for people
//
// and one file for each type:
//
//	process  kill.go pause.go slowstart.go coordinatorcrash.go
//	GPU      gpulost.go gpuslow.go gpuecc.go gpuhang.go skip.go reorder.go mismatch.go
//	NVLink   nvlinkdown.go nvlinkerrors.go nvswitchdown.go
//	PCIe     pciedegraded.go gdrlost.go
//	fabric   down.go flap.go rate.go latency.go jitter.go loss.go corrupt.go partition.go
//	         congestion.go
//	data     bitflip.go
//
// A Schedule is a value that every participant of a session has, so each knows
// in advance what the others' parts will do; that is what keeps runs with faults
// as deterministic as runs without. Fabric makes the cluster's fabric ready for the
// faults first, and all must use that one. What is not here: time passing
// (emu/transit, emu/kernel), and what a run does about it (emu/experiment).
//
// May import: emu, emu/fabric, emu/suggest, shaping.
package fault
