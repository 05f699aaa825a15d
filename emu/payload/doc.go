// Package payload is the payload machine: the real elements of the ranks that
// one process hosts, and what the steps of a plan do to them.
//
//	machine.go  Machine: the buffers of the hosted ranks, and where a chunk lies in them
//	apply.go    Move, Apply: one slice of one step
//	fifo.go     messages waiting on connections; Take and Put, to and from other processes
//	pool.go     message buffers, used again
//	verify.go   Verdict: a rank's output against what it must be
//
// The kernel says when and in which order, a Machine says what. On a connection
// between two hosted ranks a message goes from the sender's Apply straight to
// the receiver's; on others the host carries it:
//
//	Apply ──► FIFO of the connection ──► Apply          both ends here
//	Apply ──► FIFO ──► Take ──► the wire ──► Put ──► FIFO ──► Apply
//
// Every message is a buffer with one owner. A step that receives and sends
// reduces into the buffer that came and hands that on, so a ring copies a byte
// when it enters the ring and when it is stored, never to pass it on.
//
// What is not here: time, slots, credits (emu/kernel); which elements a chunk
// is, arithmetic and test data (collective). A run without payload has no
// Machine.
//
// The package is pure; a Machine belongs to one goroutine. May import:
// collective, emu, emu/wiring. Imported by the hosts.
package payload
