// Package rehearse carries scenarios out in one kernel, in this process.
//
//	rehearse.go  Prepare: instants of faults that strike after an operation, or at a step
//	local.go     Local: an executor of a scenario's batches, with real elements
//
// What is not here: what a scenario is and what follows a failure (emu/experiment),
// and real processes (internal/coordinator), of which Local is the reference: both
// give the same report.
//
// May import: emu and its rooms experiment, kernel, payload, predict; shaping.
package rehearse
