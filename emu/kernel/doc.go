// Package kernel is the node kernel: it executes plans in emulated time for the
// ranks of the nodes that one participant hosts. The same code, driven three
// ways, is predict (it hosts every node), the virtual clock (it runs from
// horizon to horizon) and the paced clock.
//
//	kernel.go   Kernel: batches, the event loop, effects
//	layout.go   from a batch to blocks and connections
//	block.go    a block: what its next slice waits for
//	step.go     how a slice is carried out
//	engine.go   the SM that carries it out
//	fence.go    what it costs to know that a slice has arrived
//	conn.go     a connection: slots, credits, messages ready
//	queue.go    FIFOs of connections
//	proxy.go    across nodes: buffer, proxy, NIC; proxy and flush on receipt
//	transport.go  reliable connections over ways that lose frames
//	failover.go   … by other NICs, and round what is dead
//	halt.go     GPUs that stop, processes that are killed
//	call.go     who calls what when; how far ranks have come
//	rank.go     iterations: the launch floor, and when a rank is done
//	bound.go    Out: the earliest stamp of anything it may still send
//	admit.go    Check: whether a header from elsewhere can be accepted
//	use.go      where the time went
//	pace.go     Pace: under the wall clock, where nothing is promised
//	stuck.go    who waits for whom, when nothing moves any more
//
// One slice of one step, inside a node:
//
//	slot free, message here, block idle
//	   │ SM books the bytes, and the GPU's NVLink egress with them
//	   │ the slot of the message consumed is announced free, as of the end
//	   └─► block busy until the last byte has left
//	          └─► tail reaches the peer's ingress ─► message ready ─► peer's block
//
// A thousand ranks are more than a core's cache holds, and then lines fetched are
// what an event costs. So what every slice asks for stands close together, in
// block, conn and engine, numbers take the place of pointers, and what is asked
// for less often stands apart. BenchmarkEvents tells what that brings.
//
// The kernel is a state machine: events in, effects out (moves of real data for
// emu/payload, frames for other participants, records, ends). It has no
// goroutine, clock or lock. May import: emu, collective, shaping and the rooms
// fabric, fault, catalog, transit, wiring.
package kernel
