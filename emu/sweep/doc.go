// Package sweep turns what a user asks of bench or predict into batches of
// runs, and outcomes into rows. Both verbs share it, so that both run the same
// things at the same instants of the session.
//
//	spec.go     Spec: the question, in types
//	place.go    Placement: on which GPU each rank is; host files
//	split.go    Split: which ranks form a communicator together
//	world.go    the ranks, their communicators and roots
//	sizes.go    which sizes, and how many elements each is for an operation
//	case.go     Case: one line of the table, with everything chosen for it
//	choose.go   algorithm, protocol, channels and chunk of a case
//	payload.go  how many real elements a run moves
//	plan.go     a plan from a file in place of an algorithm
//	sweep.go    Sweep: the loop over cases
//	use.go      Use: where the time of a batch went
//
// What is not here: flags (internal/cli), how a row prints (internal/report),
// who executes a batch (emu/predict, internal/coordinator). May import: emu and
// its rooms fabric and tuner, collective, shaping.
package sweep
