// Package lab writes down what became of a scenario, for people and for programs.
//
//	results.go  Results: a report as JSON, in integers, the same bytes each time
//	table.go    the same for people: verdict first, then runs, faults, expectations
//	junit.go    the same for CI
//	trace.go    a Chrome trace, which opens in Perfetto: attempts, faults, who was in which operation
//	html.go     a page that needs nothing else: a timeline for each attempt
//	store.go    Store: a folder for each time a scenario is run, written as things happen
//	wall.go     Wall: how it was executed, and all that the host's clock said
//
// What the host's clock says is in Wall alone; all the rest is the same bytes for
// the same scenario and seed, whoever executed it.
//
// What is not here: running anything (emu/experiment, internal/verbs). May import:
// shaping, emu, emu/experiment. Imported by internal/verbs.
package lab
