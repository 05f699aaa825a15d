// Package pace ties emulated time to the wall clock: the arithmetic that the
// paced clock needs in a nodesim and in the coordinator alike.
//
//	mapping.go   Mapping: emulated = origin + (wall − start) / dilation
//	offset.go    Offset: how far the clock of another host is from ours
//	lateness.go  Lateness: how well a process kept time
//	outbound.go  Outbound: a time-ordered queue of what waits to depart
//	choose.go    Choose: the dilation that a host can keep, and what limits it
//
//	kernel ── Emission.Departs ──► Outbound ── at Wall(departs) ──► stream
//	stream ── at Emulated(now) ──► late? clamp, Lateness ──► kernel's queue
//
// Instants of the wall are numbers that somebody passes in. May import: shaping.
package pace
