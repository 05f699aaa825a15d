// Package survey reads networks as other tools describe them, into one neutral
// description: hosts, switches, links, NVLink domains, and notes on what the
// file does not tell.
//
//	survey.go       Survey and its parts; building one, within bounds
//	read.go         Read: which kind of file is it, by its content
//	finish.go       what is odd about a network: several roots, islands, lone switches
//	hostlist.go     lists of names: "a[1-3,7],b09"
//	slurm.go        Slurm's topology.conf: tree and block
//	slurm_yaml.go   Slurm's topology.yaml: tree, block, flat, ring, torus3d
//	ibnet.go        what ibnetdiscover prints
//	topograph.go    cluster models of topograph
//	netq.go         answers of NetQ's topology API
//	clab.go         containerlab topologies
//	infragraph.go   InfraGraph: devices, instances and connections
//	infra_edge.go   … its ways to write a connection
//	htsim.go        htsim's .topo: tiers of a Clos network
//	simai.go        SimAI's topologies for ns-3
//	kollaps.go      Kollaps experiments
//	simgrid.go      SimGrid platforms: clusters
//	unit.go         rates and latencies in other people's units
//	cluster.go      Cluster: a cluster file's nodes out of a description
//	cluster_link.go … its switches and links
//	parts.go        … the one network of several that only hosts join
//	yaml.go         YAML as a tree, refused before it costs time
//	xml.go          XML as a tree, likewise
//
// What a file does not tell stays unset here, with a note; what is taken for it
// is the business of who asks. The package is pure. May import: shaping,
// emu. Imported by internal/cli.
package survey
