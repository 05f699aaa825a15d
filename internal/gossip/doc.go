// Package gossip is the roster: who is in this cluster, what each process
// hosts, and who has died. It puts Railyard's words on hashicorp/memberlist.
//
//	config.go     Config, and its presets Loopback and LAN
//	at.go         the preset that suits an address
//	tuning.go     memberlist's knobs for each preset, and why
//	member.go     Member: what a process says of itself; its metadata on the wire
//	nodes.go      Nodes: a set of node indexes, "0-7,9"
//	roster.go     Roster: start, look up, leave, close
//	join.go       from an address to join to a member of a cluster
//	transport.go  memberlist's sockets, bound to a context
//	ledger.go     the roster's own book of members; watching it
//	delegate.go   what memberlist calls: who may enter the book
//	cut.go        a network that is cut on purpose
//	farewell.go   telling a process that left from one that died
//	rejoin.go     looking for those that are missing
//	knock.go      certainty about those whose process has ended
//	await.go      waiting until the declared nodes are there
//	assemble.go   which members make up the cluster: pure, no network
//	verdict.go    the errors, each with what to do about it
//	memnet/       an in-memory network for tests under testing/synctest
//
// # One cluster, one roster
//
// Every process carries a cluster id in its metadata. A process of another
// cluster is refused where it would enter: when it joins, by both sides, and
// when gossip mentions it, so two clusters never merge through a third. The id
// is deliberately not memberlist's label: a label would keep strangers out in
// silence, with nothing but "EOF" for the one who typed the wrong address. The
// label is a constant that keeps out programs that are not Railyard.
//
// A process that starts with an address and no cluster id belongs to whichever
// cluster it finds there, and takes its id from then on.
//
// Nothing here is a secret: a peer that lies about its cluster id is believed.
// What a peer says is checked before it is used, so that garbage leads to a
// verdict and never to a crash.
//
// # Coming back
//
// A network that is cut in two, for however long, is one cluster again within
// 10 s (Loopback) or 30 s (LAN) of its being mended: see rejoin.go. A process
// that is started again under its name is another member, and need not wait
// until its predecessor is known to be dead; whoever waits for both to sort
// themselves out waits as long as a crash takes to be noticed.
//
// A network can be cut on purpose, where an emulated partition keeps processes
// apart: see cut.go. When such a cut is over, those apart meet again at once.
//
// # What is not here
//
// Plans, frames and time: they travel over gRPC, at the address that a
// member's metadata names. A death seen here is an opinion formed in wall time;
// hosts confirm it by the broken stream, and no emulated instant depends on it.
//
// May import: nothing of ours. Imported by the hosts, internal/coordinator and
// internal/nodesim, and by their commands.
package gossip
