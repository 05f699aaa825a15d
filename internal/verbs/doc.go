// Package verbs is what the commands do: it joins the command line, which knows
// no host, to the hosts, which know no command line.
//
//	verbs.go    Hosts: the table of verbs
//	spec.go     from flags to a sweep
//	table.go    from a sweep's rows to a report's
//	lines.go    a timeline on its way to its file
//	explain.go  what was considered for each row
//	debug.go    NCCL's log, when NCCL_DEBUG asks for it
//	debug_plan.go  rings, trees and connections in it, from the plans and routes
//	pace.go     the paced clock: what its times are worth, and predict's beside them
//	doctor.go   what this host can carry
//	bench.go    bench, on processes of its own or on a coordinator elsewhere
//	memory.go   full payload that would not fit
//	processes.go  how many processes a host can be trusted with
//	predict.go  predict, in this process
//	run.go      run: a scenario, here or on processes of its own
//	serve.go    serve and status
//	up.go       up and down: a cluster that stays
//	standing.go where it is, for those who come later
//	fault.go    fault and explain, on a cluster that is up
//
// May import: internal/cli, internal/report, internal/coordinator,
// internal/gossip, internal/wallclock, internal/wire, emu and its rooms.
// Imported by cmd.
package verbs
