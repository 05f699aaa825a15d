// Package transit moves emulated time and carries frames over ports that
// several connections share.
//
//	key.go      Key: the total order of events
//	queue.go    Queue: a heap of events in that order
//	frame.go    Frame, Header: a message on its way, and how it is handed on
//	transit.go  Transit: booking at injection, and hop by hop after it
//	flow.go     fairness: one booking that ends after now for each connection
//	weather.go  what faults make of a port: its rate, its latency
//	loss.go     frames that get lost, and news of it for their senders
//	ways.go     routes by other NICs and other tables of switches
//	shared.go   Shared: the fabric participant, which owns the shared ports
//
// The node kernel embeds a Transit for the ports of its nodes; the coordinator
// drives a Shared for the fabric's. Both run the same rules in the same order,
// so it makes no difference which process a port lives in.
//
// What is not here: blocks, slots, credits, proxies (emu/kernel). May import:
// emu, emu/fabric, emu/fault, collective, shaping.
package transit
