// Package simtest checks the law: for the same spec, predict and the virtual
// clock give the same picoseconds, however the nodes are spread over
// participants and in whichever order frames arrive.
//
//	virtual.go  Virtual: the virtual clock in one goroutine, without sockets,
//	            with frames handed over in an order drawn from a seed
//	elements.go the payload machines of the participants
//	draw.go     Case: a random cluster and random runs on it
//	check.go    Compare, and checkers that stand outside the kernel
//	shrink_test.go  a failing case made smaller
//
// and for scenarios, with faults and what is done about failures:
//
//	scenario.go     DrawScenario: cluster, operations, policies; scenario_faults.go
//	                faults of every type and class of target, at random instants
//	play.go         Play: a scenario on one kernel and on several, compared batch by batch
//	truth.go        Check: every run ends, and its answer is right or its cause true;
//	truth_ways.go   ways that were cut, hangs, bytes conserved
//	cover.go        Cover: what was drawn and came about, so that it can be seen
//	faults_test.go  states that no scenario file could ask for, on the cases of draw.go
//	smaller_test.go a failing scenario made smaller, and printed as a file
//
// `make sim SEED=… N=…` draws N cases and N scenarios. It is a test-support package: hosts do
// not import it. May import: emu and its rooms.
package simtest
