// Package timeline writes records as text: one JSON object a line, in the order
// in which they are given, byte for byte the same on every machine.
//
//	writer.go  Writer: records as lines
//	trace.go   Trace: those lines as a trace that Perfetto opens
//
// predict and the coordinator write through the same Writer, so that `cmp` can
// tell whether they agree. Merging what several processes report is the
// coordinator's. May import: emu, collective, shaping.
package timeline
