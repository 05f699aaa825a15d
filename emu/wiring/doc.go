// Package wiring numbers the blocks and connections of a run and joins their
// ends, for the ranks that one process hosts.
//
// Ids are global: every process derives the same ones from the spec, so a
// frame can name its connection and an event its source. Inside a process
// blocks and connections are known by their position in the Wiring.
//
// May import: collective, emu. Imported by emu/kernel and emu/payload, which
// thus agree on what a connection is.
package wiring
