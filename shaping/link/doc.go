// Package link shapes real connections in wall time: what is written leaves and
// arrives when it would on a named link ("ndr / 1000"), or on a chain of rate,
// latency, jitter and loss.
//
//	spec.go      Parse: how users write a chain
//	link.go      Link: two directions that any number of connections share
//	flow.go      flow: one connection's bytes in one direction, from put to take
//	fifo.go      fifo: segments in a queue
//	conn.go      Conn: a net.Conn on two flows
//	pumps.go     the two goroutines of a Conn, to and from the connection below
//	direct.go    small segments that the pacer writes itself
//	deadline.go  deadlines of reads and writes
//
//	Write ──► put ─ waiting ─► Chain.Pass ─ flying ─► ready ──► pump ──► connection below
//	                  ▲ leave event           arrive event ▲
//	                  └──────────── pacer ─────────────────┘
//	Read  ◄── take ◄─ the same, the other way ◄── intake ◄── connection below
//
// Delay is a time-ordered queue: what is under way does not hold back what comes
// after, so latency costs no throughput. A segment's departure is computed from that
// of the one before it, not from when the host got round to it, so a late wake-up
// costs no rate, nor does a late writer that waits for room.
//
// What is not here: the arithmetic of links (shaping), waiting (shaping/pacer),
// gRPC (shaping/grpcshape). Anybody may import it.
package link
