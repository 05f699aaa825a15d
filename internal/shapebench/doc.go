// Command shapebench measures what shaping/link promises on this host: `make
// bench-shaping`. It prints a table, once with the host as it is and once with a
// process beside it that uses all it can get.
//
//	main.go     flags, both rounds, the exit code
//	table.go    a line: what was measured, what is promised, whether it was kept
//	rate.go     one flow, eight flows, and a flow on a long link
//	latency.go  single messages; what a seed repeats
//	stamp_*.go  when bytes were in a socket, as the kernel says
//	host.go     how busy others keep the host; the process beside it
//
// A link's latency ends when bytes are in the socket of the far end. That a program
// has read them takes the host's waking it in addition, as it does without a link; both
// are printed.
//
// It exits with 1 when a promise is broken on a host that does nothing else, with 2
// when one is broken and others used the host meanwhile, so that nobody can say why.
// Beside a busy process of its own rates and shares are promised, and what a seed
// repeats, but no latency.
//
// Imports shaping/link; nobody imports it.
package main
