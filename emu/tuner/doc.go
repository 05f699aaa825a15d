// Package tuner chooses algorithm, protocol, channels and chunk as NCCL does:
// from NCCL's published cost model, never from Railyard's own figures.
//
//	tuner.go      Estimates: every way to do an operation, with its cost; Choose
//	machine.go    Communicator: what NCCL knows of a cluster; its graph search
//	latency.go    the latency of each algorithm
//	bandwidth.go  the bandwidth of each algorithm
//	release.go    the constants, by NCCL version
//	caps.go       the constants, by GPU generation
//	channels.go   how many channels a message of a size is worth
//	chunk.go      how large a chunk it is cut into
//	filter.go     Filter: what NCCL_ALGO and NCCL_PROTO say
//	settings.go   Settings: what else its environment may say
//
// The model is that of NVIDIA/nccl v2.30.7, src/graph/tuning.cc, search.cc and
// src/enqueue.cc, with what other versions have instead. Costs are integers
// (picoseconds, bytes per second): a choice decides instants, and floats may
// differ between processors.
//
// May import: collective, shaping. Imported by emu/sweep, and by
// internal/cli, internal/wire and internal/verbs for its words.
package tuner
