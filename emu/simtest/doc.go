// Package simtest checks the law: for the same spec, predict and the virtual
// clock give the same picoseconds, however the nodes are spread over
// participants and in whichever order frames arrive.
//
//	virtual.go  Virtual: the virtual clock in one goroutine, without sockets,
//	            with frames handed over in an order drawn from a seed
//	elements.go the payload machines of the participants
//	draw.go     Case: a random cluster and random runs on it
//	check.go    Compare, and checkers that stand outside the kernel
//	shrink_test.go  a failing case made smaller
//
// `make sim SEED=… N=…` draws N cases. It is a test-support package: hosts do
// not import it. May import: emu and its rooms.
package simtest
