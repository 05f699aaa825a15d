// Package shaping holds emulated time and the one thing that makes it pass: a
// port that carries bytes at a rate.
//
//	units.go     Time, Duration, Bytes, Rate: integers, 128-bit arithmetic
//	parse.go     how users write them ("400Gb/s", "64K", "2us") and how they print
//	calendar.go  Calendar: a port's busy time, and how a transfer is booked on it
//	hop.go       Hop: rate, latency, jitter and loss that a stream meets
//	chain.go     Chain: streams on ports in a row; what jitter and loss draw
//	histogram.go Histogram: spans counted by size, to a sixteenth
//
// What is not here: which ports exist (emu/fabric), who shares them fairly and
// in which order (emu/transit), and wall time: shaping/pacer waits, shaping/link
// does to connections what a Chain says. Nothing in this package knows what a GPU is.
//
// The package is pure: no goroutine, clock, socket, float in any path that
// decides an instant. Everybody may import it; it imports nothing of ours.
package shaping
