// Command shapebench measures what shaping/link promises on this host: `make
// bench-shaping`. It prints a table, once with the host as it is and once with a
// process beside it that uses all it can get.
//
//	main.go     flags, both rounds, the exit code
//	table.go    a line: what was measured, what is promised, whether it was kept
//	rate.go     one flow, eight flows, and a flow on a long link
//	latency.go  single messages; what a seed repeats
//	host.go     how busy others keep the host; the process beside it
//
// It exits with 1 when a promise is broken on an idle host, with 2 when one is
// broken and others used the host meanwhile, so that nobody can say why. Beside a
// busy process nothing is promised but what a seed repeats.
//
// Imports shaping/link; nobody imports it.
package main
