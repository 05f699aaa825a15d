// Package coordinator is the daemon that runs clusters: it gathers nodesims,
// grants them windows of emulated time, gathers their timings and verdicts, and
// ends everything it started.
//
//	config.go    Config: what it is told
//	cluster.go   Start, Close: from nothing to a cluster that is ready
//	spawn.go     nodesim processes of its own; spawn_linux.go, spawn_other.go
//	member.go    one nodesim: its session stream
//	execute.go   a batch, in rounds
//	struck.go    sessions that faults strike: failures are outcomes, processes die as declared
//	verdict.go   how a batch ended: right, wrong, or stuck
//	timeline.go  records of all nodesims, merged as they come
//	bench.go     Bench: a sweep, row by row
//	under.go     BenchUnder: a sweep that faults strike
//	paced.go     a batch under the paced clock: computed, run, compared
//	choose.go    the dilation, when nobody names one
//	measure.go   what this host can carry
//	drive.go     the wall clock drives a batch: start, fabric, end
//	clocks.go    clocks of other hosts
//	pace_row.go  how well time was kept, on the wire
//	use.go       where the time went
//	failure.go   which process is to blame
//	vigil.go     processes that are stopped, or out of reach
//	parting.go   partitions, which gossip obeys; rifts.go: who does not hear whom
//	serve.go     the gRPC service of `coordinator serve`, which outlives clusters
//	losses.go    who is gone though the roster has it still
//	status.go    what goes on; shutting down
//	sender.go    a bench as messages
//	faults.go    faults in force there
//	live.go      faults that change while a bench runs
//	account.go   what became of the last bench there
//	client.go    Bench on a coordinator elsewhere
//
// Times come from the kernels in the nodesims. This package imports no node
// kernel, and archtest sees to that: it owns the shared ports of the fabric
// alone. May import: internal/wire, internal/gossip, internal/wallclock, emu (transit, window, fault, trial, suggest,
// fabric, sweep, timeline), collective, shaping.
package coordinator
