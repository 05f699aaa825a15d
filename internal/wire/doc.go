// Package wire is the only translator between the contract in
// proto/railyard/v1 and the core, and the data plane's way through grpc.
//
//	Control plane, one Encode and one Decode a noun:
//	cluster.go   emu.Cluster
//	run.go       emu.Run, emu.Batch, emu.End
//	pace.go      how well the paced clock kept time
//	plan.go      plans that runs and sweeps carry as text
//	record.go    emu.Record, many at a time, by column
//	header.go    transit.Header: frames to and from the fabric
//	enums.go     operations, protocols, element types, reductions (enum.go: how they pair)
//	check.go     faults: all that is wrong with a message, at once
//	failure.go   Failure: a typed cause and where it struck
//	status.go    … as a gRPC status
//	bench.go     sweep.Spec and sweep.Row
//	tuning.go    what both carry of the tuner
//	version.go   the number of the contract
//
//	Data plane, which sees every byte of payload:
//	frame.go     Frame, Batch, Send, Recv: who owns a payload when
//	codec.go     Codec: a Batch is a FrameBatch on the wire, without copies
//	encode.go    … written
//	decode.go    … read, over the buffers that grpc received (cursor.go)
//	pool.go      where its buffers come from
//
//	network.go   what streams go over: TCP, or what a test brings
//	options.go   how every server and client of ours is configured, and why
//
// Encoding cannot fail: what the contract can't say is a bug and panics.
// Decoding trusts nothing: errors name the field, the value and what is
// allowed, and no message makes it panic or allocate without measure. Whether
// a cluster or a plan makes sense is not decided here.
//
// What is not here: servers, clients, streams' lives (internal/nodesim,
// internal/coordinator). May import: proto/railyard/v1 and the core's nouns.
// Imported by those two hosts and by cmd.
package wire
