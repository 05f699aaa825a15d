// Package experiment carries a scenario out: its operations one after the other on
// a cluster that faults strike, what is done about those that fail, and whether it
// all came out as expected.
//
//	setup.go     Setup: a scenario made concrete, or all that is wrong with it
//	call.go      from an attempt at a phase to batches
//	run.go       Run: the phases in order; attempts and policies
//	known.go     who is known to be gone before a communicator is made
//	place.go     which fault a failure goes back to, and how long things took
//	report.go    Report: what came out, in integers, so that it is the same everywhere
//	expect.go    whether it is what was expected, and why not
//
// A batch is executed by whoever is given: emu/rehearse in one kernel, or the
// coordinator on real processes. Both say the same of it, to the picosecond, and so does the report.
// What a fault does is decided in emu/fault and emu/kernel, when a batch is over in
// emu/trial. Files and words for people are internal/lab's.
//
// May import: emu and its rooms fabric, fault, sweep; collective, shaping.
package experiment
