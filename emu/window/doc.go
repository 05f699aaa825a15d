// Package window is the arithmetic of the virtual clock: conservative parallel
// simulation in windows. Participants (processes that host nodes, and the
// fabric) run their kernels only up to a horizon before which nothing can reach
// them any more.
//
//	conductor.go  Conductor: reports in, grants out, one round at a time
//	report.go     Report, Grant: what is said in a round
//
//	        report(next, out, sent)                 grant(until, frames expected)
//	node 0 ─────────────────────────┐  horizon =  ┌─────────────────────────► node 0
//	node 1 ─────────────────────────┤  min(out)   ├─────────────────────────► node 1
//	fabric (first, in the same      ├─────────────┤   (node 2 has nothing
//	round)                          │             │    before it: not granted)
//
// The law it serves: whatever the number of participants, and in whichever
// order frames arrive, every participant handles the same events. What is not
// here: kernels, streams, waiting. May import: emu, emu/transit, shaping.
package window
