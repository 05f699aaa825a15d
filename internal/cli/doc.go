// Package cli is what users type and read: the commands of the coordinator and
// of nodesim, their flags, and the way from results to the screen.
//
//	app.go       App: runs one command line; signals; errors to exit codes
//	exit.go      ExitError and the codes
//	root.go      the tree of commands, those of later versions included
//	setting.go   setting: a flag, its environment variable, its default
//	common.go    flags that every command has; loggers
//	cluster.go   flags that choose the hardware, with or without a file
//	config.go    BenchConfig: everything bench and predict were told
//	nccl.go      the flags of nccl-tests, same letters, same meaning
//	ranks.go     the flags that say where ranks are, and in which communicator
//	own.go       the flags that are ours
//	choice.go    --algo, --proto and --nccl
//	variables.go what NCCL's environment variables say
//	unread.go    variables of NCCL that nobody here reads
//	profile.go   what the environment of a cloud sets below them
//	debug.go     NCCL_DEBUG
//	check.go     what flags must satisfy together
//	bench.go     bench and predict
//	effective.go --print-effective
//	keep.go      files that survive a crash
//	outlet.go    stdout and stderr, which may be full, closed or halted
//	sink.go      from a run's rows to tables, JSON and CSV
//	records.go   CSV of whatever else is printed
//	progress.go  a bar on a terminal, lines elsewhere
//	plan.go      plan show and export; plan_list.go, plan_check.go and plan_import.go the others
//	plan_line.go the flags of all of them, and the plan they name
//	plan_use.go  the plan of --plan
//	topo.go      topo: machines read from files of other tools, and written; topo_matrix.go
//	             prints them
//	systems.go   systems; figures.go reads the catalog's tables for it
//	fabrics.go   fabrics: links, shapes and switches of the catalog; what one takes
//	topo_text.go the encodings of such files, and what stands around in them
//	topo_file.go --topo-file and NCCL_TOPO_FILE: a machine of a file as the system
//	topo_fabric.go topo import: networks read from files of other tools
//	topo_line.go topo on a whole cluster: topo_ways.go shows paths, topo_perf.go
//	             measures, topo_graph.go draws
//	run.go       run: an experiment from a scenario file
//	reach.go     which running cluster a verb means
//	up.go        up and down
//	fault.go     fault: faults in force on a running cluster, and the types there are
//	account.go   explain: what became of the last bench, and who waited for whom
//	serve.go, status.go, doctor.go, validate.go, version.go, completion.go, nodesim.go,
//	proxy.go     one command each
//
// A flag is a line of a table: name, default, what it does to a config. Values
// are kept as text until all of them are known, so that one run of the program
// reports everything that is wrong with its command line.
//
// What is not here: running anything. Hosts says what a program must bring;
// internal/coordinator and internal/nodesim do the work.
//
// Imports: report, emu with its catalog, network, fabric, fault, topo, draw, suggest and sweep, collective and its
// msccl, shaping and its link, for what --link says.
// Imported by cmd, and by whatever stands behind Hosts.
package cli
