// Package emu holds the nouns of an emulated cluster, which everything else
// speaks in:
//
//	cluster.go  Cluster: the declared hardware, as a cluster file says it
//	forwarding.go  whether GPUs forward to owners of rails, and rings change rails
//	load*.go    reading, validating and printing cluster files
//	scenario.go Scenario: operations, faults and what is expected
//	load*.go    reading, validating and printing cluster files; load_scenario*.go those of scenarios
//	slice.go    slices of TPU pods: shape, optical circuits, what is dark
//	rewire.go   Rewired: circuits set anew, for the next run
//	custom.go   fabrics that list their own switches and links
//	run.go      Run: one execution of one plan at one size; Batch: runs in flight together
//	fault.go    Fault: a declared change of the hardware; Resilience: how runs bear it
//	failure.go  Failure: why a run did not end well
//	outcome.go  Outcome: when ranks ended, and the steady-state period of an iteration
//	record.go   Record: one line of a timeline
//
// Its rooms hold the machinery, all of it pure:
//
//	machine/   the inside of a server as a graph; files of other tools that tell it
//	catalog/   systems, links and fabrics of the field, with figures and sources
//	network/   switches, links and the ways through them; files of other tools that describe them
//	fabric/    a Cluster made concrete: ports, and the paths between GPUs
//	transit/   the event queue, and frames hopping over shared ports
//	kernel/    the node kernel: executes plans in emulated time
//	payload/   real elements: what the kernel's moves do to a rank's buffers
//	window/    the virtual clock's arithmetic: horizons, grants, frames in flight
//	pace/      the paced clock's arithmetic: emulated time against the wall
//	wiring/    ids of blocks and connections, and how their ends are joined
//	timeline/  records as text
//	predict/   one kernel, the whole cluster, to the end
//	tuner/     NCCL's published cost model: which algorithm, protocol, channels
//	experiment/ a scenario carried out: attempts, policies, expectations
//	rehearse/  scenarios in one kernel
//	fault/     declared faults, made into what each part is like at each instant
//	trial/     when a batch that faults struck is over, and why
//	sweep/     from what a user asks of bench or predict to batches, and rows
//	topo/      which way bytes go and what limits them, asked before anything runs
//	draw/      pictures of servers and of the switches between them
//	suggest/   did you mean
//	emutest/   a plan on an emulated cluster inside go test, in one call
//	simtest/   random clusters: predict against virtual (test support)
//
// May import: collective, shaping, suggest, machine, network. Imported by:
// everything above the purity line. No goroutine, clock, socket or log down
// here.
package emu
