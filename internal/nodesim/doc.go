// Package nodesim is the daemon of one server, or of several: it hosts their
// ranks, runs the node kernel for them, and exchanges frames with its peers.
//
//	config.go   Config: what a nodesim is told
//	nodesim.go  Run: sockets, discovery, and when to exit
//	service.go  the gRPC handlers, which only translate and post
//	actor.go    the one goroutine that owns the kernel
//	batch.go    a batch of runs: wiring, payload, verification
//	window.go   a grant: frames awaited, events handled, effects carried out
//	paced.go    the same under the paced clock: when things happen
//	outbox.go   frames gathered into batches
//	passing.go  frames that come and go under the paced clock
//	struck.go    faults that strike a session
//	severed.go  gossip that a partition keeps from others
//	peers.go    the streams to other nodesims, opened once and kept
//	late.go     a process that comes, or comes back, when its nodes are hosted already
//	mailbox.go  how everything reaches the actor
//
//	coordinator ◄── Session ──► service ── mailbox ──► actor ── kernel, payload
//	peer        ◄── Exchange ──► peers  ──────┘           │
//	                  ▲────────── outbox ◄────────────────┘
//
// The kernel decides all times; this package moves bytes and waits. May import:
// internal/wire, internal/gossip, internal/wallclock, emu and its rooms, collective, shaping.
package nodesim
