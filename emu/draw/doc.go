// Package draw makes pictures of hardware: servers with what is in them, and the
// switches between them.
//
//	graph.go    Graph: boxes within boxes, and links between them
//	server.go   a machine as boxes: what hangs on what is a box within a box
//	cluster.go  Cluster: servers and the network; what would not fit stands for many
//	dot.go      Graphviz, mermaid.go Mermaid: other people's layout
//	layout.go   where boxes stand, row by row
//	inside.go   the same within a server
//	lines.go    where links run, and the legend
//	svg.go      SVG: the layout as text
//
//	spine0            spine1         a row a tier
//	leaf0   leaf1 …   leaf7
//	┌ node0 ─────────────────────┐
//	│ ┌ socket0 ──┐ ┌ socket1 ─┐ │
//	│ │ [NIC][NIC]│ │[NIC][NIC]│ │   a frame around them is a PCIe switch
//	│ │ [GPU][GPU]│ │[GPU][GPU]│ │
//	│ └───────────┘ └──────────┘ │
//	│     [NVSwitch 0] [ … 3]    │
//	└────────────────────────────┘
//
// The same graph gives the same bytes. The package is pure and knows neither
// catalog nor time. May import: shaping, emu/machine, emu/network.
package draw
