// Package pacer makes things happen at an instant of wall time, to some
// microseconds, without a core spent on waiting.
//
//	pacer.go          Pacer: a time-ordered queue of events, and the one goroutine that runs them
//	shared.go         Acquire: the one pacer of a process
//	wait_timer.go     waiting by Go's timers: anywhere, and exact under testing/synctest
//	wait_linux.go     waiting by ppoll on a thread of its own, to the microsecond
//	wait_other.go     which of the two a host gets that is not Linux
//
//	Set ──► heap of (due, seq) ──► wait ──► Func(late)
//	              └── earlier than what is waited for: wake
//
// Go's timers are a millisecond coarse where nothing else happens: the
// runtime rounds the time-out of its poll up to whole milliseconds. A system
// call that sleeps is 60 µs late, with a timer slack of 1 ns 25 µs; longer
// sleeps of an idle host up to 200. The rest is spun, for at most 200 µs an event and
// a tenth of the time.
//
// What is not here: what a link does to bytes (shaping), and to connections
// (shaping/link). Anybody may import it; it imports shaping alone, for its histogram.
package pacer
