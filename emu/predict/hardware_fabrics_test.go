package predict_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/catalog"
	"github.com/railyard/railyard/emu/fabric"
)

// bare returns one dgx-h100 whose NVLinks have been taken out.
func bare(t *testing.T) emu.Cluster {
	t.Helper()
	sys, err := catalog.LookupSystem("dgx-h100")
	if err != nil {
		t.Fatal(err)
	}
	m := sys.Machine()
	m.Name, m.NVLinks = "h100-without", nil
	var c emu.Cluster
	c.Machines = append(c.Machines, m)
	c.Groups = []emu.Group{{Count: 1, Machine: m.Name}}
	return c
}

func one(g emu.Group, f emu.Fabric) emu.Cluster {
	return emu.Cluster{Groups: []emu.Group{g}, Fabric: f, Seed: 1}
}

func bySockets(v figures) (int64, string) {
	most := v.between * v.eff / 1000
	return most, fmt.Sprintf("a ring crosses from socket to socket once each way, and that link carries %s GB/s: × %d ‰ data = %s",
		gb(v.between), v.eff, gb(most))
}

func byHost(v figures) (int64, string) {
	most := 16 * v.host
	return most, fmt.Sprintf("each of 16 channels has one SM that copies to host memory at %s GB/s: %s, or %s a NIC; NICs that read GPUs would carry 8 × %s × %d ‰ = %s",
		gb(v.host), gb(most), gb(most/8), gb(v.nic), v.eff, gb(8*v.nic*v.eff/1000))
}

// bySlotOrNIC is a ring of servers with one GPU and one NIC.
func bySlotOrNIC(v figures) (int64, string) {
	most := min(v.nic, v.slot) * v.eff / 1000
	return most, fmt.Sprintf("the NIC sends %s GB/s, its slot carries %s: the lesser × %d ‰ data = %s", gb(v.nic), gb(v.slot), v.eff, gb(most))
}

func serverQuestions(t *testing.T) []question {
	t.Helper()
	reduce := collective.AllReduce
	xdr := emu.Fabric{Link: "xdr"}
	return []question{
		{what: "8 × H100 in one server without NVLink", flags: "--cluster FILE --algo ring", cluster: bare(t), op: reduce, algo: "ring", bytes: 1 << 30, most: bySockets, least: 95},
		{what: "8 × L40S, a server that is sold without NVLink", flags: "--system pcie-gen5-l40s --nodes 1 --algo ring", cluster: one(some(1, "pcie-gen5-l40s"), emu.Fabric{}),
			op: reduce, algo: "ring", bytes: 1 << 30, most: bySockets, least: 95},
		{what: "2 servers, GPUDirect on", flags: "--nodes 2 --algo ring", cluster: groupsOf(2), op: reduce, algo: "ring", bytes: 1 << 30, most: byNICs(8), least: 95},
		{what: "the same, GPUDirect off", flags: "--cluster FILE --algo ring", cluster: one(emu.Group{Count: 2, System: "dgx-h100", NoGDR: true}, emu.Fabric{}),
			op: reduce, algo: "ring", bytes: 256 << 20, most: byHost, least: 95},
		{what: "a NIC of XDR in a slot of PCIe 5", flags: "--nodes 2 --gpus-per-node 1 --fabric rail-xdr --algo ring", cluster: one(emu.Group{Count: 2, System: "dgx-h100", GPUs: 1}, xdr),
			op: reduce, algo: "ring", bytes: 256 << 20, most: bySlotOrNIC, least: 95},
		{what: "a NIC of XDR in a slot of PCIe 6", flags: "--system dgx-b300 --nodes 2 --gpus-per-node 1 --algo ring", cluster: one(emu.Group{Count: 2, System: "dgx-b300", GPUs: 1}, xdr),
			op: reduce, algo: "ring", bytes: 256 << 20, most: bySlotOrNIC, least: 95},
	}
}

// Orders of 32 servers, four to a leaf, in which each sends to one on another leaf.
var (
	// nextLeaf: the four of a leaf send to four places of the next.
	nextLeaf = []int{0, 4, 8, 12, 16, 20, 24, 28, 1, 5, 9, 13, 17, 21, 25, 29, 2, 6, 10, 14, 18, 22, 26, 30, 3, 7, 11, 15, 19, 23, 27, 31}
	// onePlace: the four of a leaf send to four leaves, to the same place on each.
	onePlace = []int{0, 16, 4, 17, 8, 18, 12, 23, 1, 20, 5, 21, 9, 22, 13, 27, 2, 24, 6, 25, 10, 26, 14, 31, 3, 28, 7, 29, 11, 30, 15, 19}
)

// sharing is a ring of which so many halves of flows, one a channel, meet on a
// link between leaf and spine.
func sharing(halves int64, why string) func(figures) (int64, string) {
	return func(v figures) (int64, string) {
		most := v.nic * 2 / max(halves, 2) * v.eff / 1000
		return most, fmt.Sprintf("%s: %s × 2 / %d × %d ‰ = %s", why, gb(v.nic), max(halves, 2), v.eff, gb(most))
	}
}

// ranksFlag writes an order as --ranks takes it.
func ranksFlag(order []int) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(order), "[]"), " ", ",")
}

// meeting returns how many flows of a ring, each channel for itself, the fullest
// link between leaf and spine has, found by asking for each flow's way.
func meeting(t *testing.T, c emu.Cluster, order []int) int64 {
	t.Helper()
	f := built(t, c)
	on, most := map[fabric.PortID]int64{}, int64(0)
	for i, from := range order {
		for channel := range 2 {
			way := f.Route(from, order[(i+1)%len(order)], channel, collective.Simple)
			for _, port := range way.Wire.Ports {
				if strings.HasPrefix(f.PortName(port), "leaf") {
					on[port]++
					most = max(most, on[port])
				}
			}
		}
	}
	return most
}

func routingQuestions(t *testing.T) []question {
	t.Helper()
	ring := func(what, routing string, order []int, why string) question {
		c := one(emu.Group{Count: 32, System: "dgx-h100", GPUs: 1}, emu.Fabric{Kind: "fat-tree", Link: "ndr", Routing: routing, HostsPerSwitch: 4})
		halves := meeting(t, c, order)
		if strings.Contains(why, "%d") {
			why = fmt.Sprintf(why, halves)
		}
		return question{what: what + ", " + routing, flags: "--cluster FILE --algo ring --seed 1 --routing " + routing + " --ranks " + ranksFlag(order),
			cluster: c, op: collective.AllReduce, algo: "ring", bytes: 64 << 20, most: sharing(halves, why), least: 90, channels: 2, ranks: order}
	}
	const next, place = "to the next leaf", "to one place on four leaves"
	return []question{
		ring(next, "adaptive", nextLeaf, "4 flows over the pool of 4 links, 2 channels each"),
		ring(next, "static", nextLeaf, "4 destinations of 4 places, so each flow has a link for its 2 channels"),
		ring(next, "hash", nextLeaf, "a channel of a flow is hashed for itself, and on the fullest link %d meet"),
		ring(place, "adaptive", onePlace, "as before: a pool has no places"),
		ring(place, "static", onePlace, "4 destinations of one place are reached by the same link, which carries 4 flows of 2 channels"),
		ring(place, "hash", onePlace, "a hash knows no places; on the fullest link %d channels meet"),
	}
}

// treeNICs is a tree over 2 NICs a server.
func treeNICs(v figures) (int64, string) {
	most := 2 * v.nic * v.eff / 1000 * 31 / 32
	return most, fmt.Sprintf("a server is inside one of two trees and a leaf of the other: 4 halves of the buffer come in by 2 NICs: 2 × %s × %d ‰ / 2, × 2 × 31/32 (bus) = %s",
		gb(v.nic), v.eff, gb(most))
}

// exchange16 is an all-to-all of 16 servers of 2.
func exchange16(v figures) (int64, string) {
	most := v.nic * v.eff / 1000 * 32 / 30 * 31 / 32
	return most, fmt.Sprintf("30 of a GPU's 32 parts leave by its NIC: %s × %d ‰ × 32/30 × 31/32 (bus) = %s", gb(v.nic), v.eff, gb(most))
}

// flyReduce is an all-reduce by the fullest link of a dragonfly.
func flyReduce(v figures) (int64, string) {
	most := v.nic * v.eff / max(v.fullest, 1) * 2 * 31 / 32
	return most, fmt.Sprintf("%d ‰ of a buffer cross the fullest link between switches, %s, as counted in the run: %s × %d ‰ / %d ‰ × 2 × 31/32 (bus) = %s",
		v.fullest, v.link, gb(v.nic), v.eff, v.fullest, gb(most))
}

func flyExchange(v figures) (int64, string) {
	most := v.nic * v.eff / max(v.fullest, 1) * 31 / 32
	return most, fmt.Sprintf("8 × 8 parts go from group to group over 2 links, so 32 parts each, or 1000 ‰ of a buffer, were they spread evenly; on the fullest, %s, the run counts %d ‰: %s × %d ‰ / %d ‰ × 31/32 (bus) = %s",
		v.link, v.fullest, gb(v.nic), v.eff, v.fullest, gb(most))
}

func shapeQuestions() []question {
	row := func(kind, algo string, most func(figures) (int64, string), least int64) question {
		perSwitch := map[string]int{"fat-tree": 4, "dragonfly": 2}[kind]
		q := question{what: algo + ", " + kind, flags: "--cluster FILE --seed 1 --algo " + algo, op: collective.AllReduce, algo: algo, bytes: 64 << 20, most: most, least: least, channels: 4,
			cluster: one(emu.Group{Count: 16, System: "dgx-h100", GPUs: 2}, emu.Fabric{Kind: kind, Link: "ndr", HostsPerSwitch: perSwitch})}
		if algo == "direct" {
			q.what, q.op = "all-to-all, "+kind, collective.AllToAll
		}
		return q
	}
	return []question{
		row("rail-optimized", "ring", byNICs(2), 95), row("fat-tree", "ring", byNICs(2), 95), row("dragonfly", "ring", flyReduce, 95),
		row("rail-optimized", "tree", treeNICs, 80), row("fat-tree", "tree", treeNICs, 80), row("dragonfly", "tree", flyReduce, 80),
		row("rail-optimized", "direct", exchange16, 90), row("fat-tree", "direct", exchange16, 90), row("dragonfly", "direct", flyExchange, 65),
	}
}

const serversHead = `
## Without NVLink, without GPUDirect, in faster slots

As above. FILE of the first is ` + "`dgx-h100`" + `'s machine under ` + "`spec.machines`" + ` with its NVLinks left out: no such DGX is sold, so
the one below it is a server that is. FILE with GPUDirect off is ` + "`nodes: [{count: 2, system: dgx-h100, gdr: false}]`" + `.
`

const routingHead = `
## Static, adaptive and hashed routing at 32 servers

FILE is ` + "`nodes: [{count: 32, system: dgx-h100, gpus: 1}]`" + ` and ` + "`fabric: {kind: fat-tree, link: ndr, hostsPerSwitch: 4}`" + `: eight
leaves with four servers and four links up each. In a ring in the order of servers only one flow leaves a leaf, and
routing does not matter; so ranks are dealt out over leaves, in two orders made to show it.
`

const shapesHead = `
## Rail-optimised, fat tree and dragonfly

FILE is ` + "`nodes: [{count: 16, system: dgx-h100, gpus: 2}]`" + ` with ` + "`fabric: {kind: rail-optimized, link: ndr}`" + `, with kind fat-tree and
` + "`hostsPerSwitch: 4`" + `, or dragonfly and ` + "`hostsPerSwitch: 2`" + `: four groups of four switches, a server at each, two links between
each two groups. All are routed adaptively.
`
