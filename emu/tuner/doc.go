// Package tuner chooses algorithm, protocol and channel count as NCCL does:
// from NCCL's published cost model, never from Railyard's own figures.
//
//	tuner.go      Choose: the cheapest legal pair, and every estimate
//	constants.go  the constants of NCCL 2.30, src/graph/tuning.cc
//	channels.go   how many channels a message of a size is worth
//
// Costs are integers (picoseconds, bytes per second): a choice decides
// instants, and floats may differ between processors.
//
// May import: collective, shaping. Imported by emu/sweep.
package tuner
