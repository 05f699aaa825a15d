// Package network is what joins servers: switches, the links between them, and
// the way a message takes.
//
//	config.go     Config: shape, routing, rates and latencies
//	network.go    Network: switches, links, ports; New
//	clos.go       single switch, fat tree, rail-optimised, rail-only: folded Clos networks of one to three tiers
//	clos_path.go  the way up and down a folded Clos network
//	dragonfly.go  dragonfly and dragonfly+
//	plane.go      several networks of one shape beside each other
//	torus.go      torus of any number of dimensions, rings or rows, links missing or not
//	idle.go       settings that change nothing, and ratios that whole links can't have
//	graph.go      ways through any graph: shortest, static or by hash, or by a random middle (Valiant)
//	cables.go     Trunks: which switches the cables join
//	cut.go        what ports lose with a switch or a cable
//	around.go     ways round what does not work
//	count.go      Bill: how many switches, cables and ports
//
// A port is a directed link, or a pool of parallel ones, that several messages
// can contend for. Where routing spreads every message evenly (adaptive, spray)
// the links that it spreads over are one pool; where it sticks to one (static
// tables, flow hash) each link is a port of its own, and two messages may meet
// there though others are idle. What cannot be contended has no port.
//
// Spreading is as good as it can be over parallel links, and stops there: among
// ways by different neighbours (which group of a dragonfly, which middle switch
// of a graph) a flow keeps to one that a hash chose. A torus goes dimension by
// dimension whatever the routing.
//
//	host ─ leaf ─[up]─ spine ─[up]─ core ─[down]─ spine ─[down]─ leaf ─ host
//
// The ports of the hosts' own NICs are not here. The package is pure and knows
// nothing of GPUs. May import: shaping. Imported by emu and emu/fabric.
package network
