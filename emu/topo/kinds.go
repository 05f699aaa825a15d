package topo

import (
	"fmt"
	"strings"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu/fabric"
)

// Kind is a number of ways that are alike: in what they pass, in rate, latency
// and the port that limits.
type Kind struct {
	What string
	Way  // the first of them
	Ways int
}

// mostSampled is how many nodes of a cluster are looked at: the first, second
// and last of each group. Others are like them.
const mostSampled = 12

// Kinds returns the kinds of way of a cluster, from the inside of servers out.
func Kinds(f *fabric.Fabric, p collective.Protocol) []Kind {
	k := kinds{f: f, p: p, at: map[string]int{}}
	nodes := sampled(f)
	for _, n := range nodes {
		k.inside(n)
	}
	for _, a := range nodes {
		for _, b := range nodes {
			if a != b {
				k.gpus(a, b)
			}
		}
	}
	for _, a := range nodes {
		for _, b := range nodes {
			if a != b {
				k.nics(a, b)
			}
		}
	}
	return k.all
}

// sampled returns nodes that stand for all.
func sampled(f *fabric.Fabric) []int {
	var nodes []int
	first := 0
	for _, g := range f.Cluster.Groups {
		last := -1
		for _, n := range []int{first, first + 1, first + g.Count - 1} {
			if n > last && n < first+g.Count && len(nodes) < mostSampled {
				nodes = append(nodes, n)
				last = n
			}
		}
		first += g.Count
	}
	return nodes
}

type kinds struct {
	f   *fabric.Fabric
	p   collective.Protocol
	all []Kind
	at  map[string]int // key → position in all
}

// add counts a way. All places are of the cluster and differ, so there is one.
func (k *kinds) add(what string, from, to Place, channel int) {
	w, err := Between(k.f, from, to, channel, k.p)
	if err != nil {
		panic("topo: no way between places of the cluster: " + err.Error())
	}
	key := fmt.Sprintf("%s|%s|%d|%d|%s|%d", what, w.Via, w.Rate, w.Latency, family(w.Limit), len(w.Hops))
	if i, ok := k.at[key]; ok {
		k.all[i].Ways++
		return
	}
	k.at[key] = len(k.all)
	k.all = append(k.all, Kind{what, *w, 1})
}

// family is a port's name without its numbers.
func family(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, name)
}

func (k *kinds) inside(node int) {
	_, gpus := k.f.GPURange(node)
	for a := range gpus {
		for b := range gpus {
			if a != b {
				k.add("GPU to GPU, same server", Place{Node: node, Index: a}, Place{Node: node, Index: b}, 0)
			}
		}
	}
	for nic := range k.f.NICs(node) {
		near := placeOf(k.f, k.f.Near(node, nic))
		k.add("GPU to its NIC", near, Place{node, true, nic}, 0)
		k.add("NIC to its GPU", Place{node, true, nic}, near, 0)
	}
}

// gpus adds the ways of every channel between the GPUs of two nodes.
func (k *kinds) gpus(a, b int) {
	_, gpus := k.f.GPURange(a)
	_, there := k.f.GPURange(b)
	for src := range gpus {
		for channel := range max(k.f.NICs(a), 1) {
			k.add("GPU to GPU, other server", Place{Node: a, Index: src}, Place{Node: b, Index: src % there}, channel)
		}
	}
}

func (k *kinds) nics(a, b int) {
	for i := range k.f.NICs(a) {
		for j := range k.f.NICs(b) {
			k.add("NIC to NIC", Place{a, true, i}, Place{b, true, j}, 0)
		}
	}
}
