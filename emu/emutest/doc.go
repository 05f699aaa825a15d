// Package emutest runs a plan on an emulated cluster inside go test, in one
// call: it proves the plan, moves real elements through it, compares them with
// what the operation must give, and says how long the hardware would have taken; under
// faults, if the case has some, also why it failed.
//
//	case.go     Case: what to run, and on what
//	run.go      Run: the one call
//	input_test.go the same on data of one's own: cancellation, overflow
//	fault_test.go the same under faults
//	star_test.go  the algorithm of CONTRIBUTING.md, written and tried
//
// It is for other people's tests as much as for ours: an algorithm is a function
// that returns a collective.Plan, and needs no registration. May import: emu and
// its rooms. Imported by tests.
package emutest
