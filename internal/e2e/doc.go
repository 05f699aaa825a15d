// Package e2e tests Railyard from outside: real processes on loopback, known by
// their command line alone. `make e2e` runs it; without the build tag e2e there
// is nothing here.
//
//	binary_test.go   the binaries: those in RAILYARD_BIN, else built for the run
//	program_test.go  a process: what it says as it says it, how it ends
//	left_test.go     that nothing of it is left
//	demo_test.go     the main job, and its table
//	law_test.go      bench and predict write the same timeline
//	end_test.go      processes that are killed, interrupted or stopped
//	chaos_test.go    the same at random, over and over (make chaos)
//	detect_test.go   how soon it is known, and never wrongly (make detect, make soak)
//	hostile_test.go  peers that send rubbish to every port
//	outlet_test.go   disks that are full, pipes that are closed, slow terminals
//	usage_test.go    bad input
//	serve_test.go    a cluster that is started by hand
//	proxy_test.go    other people's programs on an emulated link
//	fleet_test.go    sixteen processes, and how much memory an idle one takes
//	bench_test.go    whole commands against the clock on the wall
//
// Tests of what a single package does belong to that package, where they are
// cheaper. Imports nothing of ours; nobody imports it.
package e2e
