// Package predict runs a batch in one kernel that holds the whole cluster, to
// its end: the reference answer, and the way to clusters no host can emulate.
//
// The node kernel is the same as in a nodesim. It owns every port here, the
// shared ones included, so nothing leaves it and no window is needed.
//
// May import: emu and its rooms. Imported by internal/verbs, emu/emutest
// and tests, never by the coordinator, whose times must come from the nodesims.
package predict
