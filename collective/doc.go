// Package collective says what a collective is and how it is done: operations,
// element types, and plans.
//
//	op.go        Op, Protocol: what, and in which wire style
//	dtype.go     DType, RedOp: element types and reductions
//	arith*.go    Combine: the reduction kernels over raw elements
//	data*.go     test data: what each rank puts in, and what must come out
//	shape.go     Shape: ranks on nodes on rails, all an algorithm may know of a cluster
//	plan.go, block.go, step.go  Plan, Block, Step: the representation of every algorithm
//	geometry.go  Geometry: which elements of a buffer a chunk and a slice are
//	lengths.go   parts of unlike length, of AllToAllV
//	registry*.go the table of algorithms, and as text
//	ring.go, ring_chain.go, tree.go, recursive_doubling.go, halving_doubling.go,
//	binomial.go, binomial_parts.go, bruck.go, pat.go  one algorithm each
//	direct*.go, pairwise.go, hierarchical*.go  exchanges between all ranks
//	nvls.go, nvlstree.go, collnet_direct.go, collnet_chain.go  in switches that compute
//	channels.go, fold.go, rounds.go, tracks.go  what several algorithms share
//	check*.go    Check, Judge: prove a plan without running it
//	print.go     Print: a plan to be read
//
// What is not here: time. A plan knows no rate, no latency and no message
// size; emu/kernel executes it, emu/fabric says what is between two ranks.
//
// The package is pure, and public on purpose: an algorithm is one file written
// against Plan. It imports nothing of ours.
package collective
