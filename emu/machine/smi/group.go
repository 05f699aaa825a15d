package smi

import (
	"cmp"

	"github.com/railyard/railyard/emu/machine"
)

// groups is a partition of the devices: those that are as near as a level, or
// nearer, are in one group, whose number is that of its first device.
type groups []int

func apart(n int) groups {
	g := make(groups, n)
	for i := range g {
		g[i] = i
	}
	return g
}

func (g groups) of(i int) int {
	for g[i] != i {
		g[i] = g[g[i]]
		i = g[i]
	}
	return i
}

func (g groups) join(a, b int) {
	a, b = g.of(a), g.of(b)
	g[max(a, b)] = min(a, b)
}

// levels are what a tree of bridges tells apart, the nearest first.
var levels = [...]machine.Nearness{machine.PIX, machine.PXB, machine.PHB, machine.NODE}

// group partitions the devices at each level. What the table does not say
// joins nothing, except that GPUs of one NUMA node stand together unless
// something said keeps them apart.
func (t *table) group() [len(levels)]groups {
	var at [len(levels)]groups
	for l, level := range levels {
		at[l] = apart(len(t.labels))
		for i := range t.cells {
			for j := range i {
				c := t.cells[i][j]
				if c.known && c.Nearness != machine.NV && c.Nearness <= level {
					at[l].join(i, j)
				}
			}
		}
	}
	t.joinByAffinity(at[len(levels)-1])
	return at
}

// joinByAffinity joins groups whose GPUs name the same NUMA node, or without
// one the same CPUs.
func (t *table) joinByAffinity(node groups) {
	members := map[int][]int{}
	var heads []int
	for i := range t.labels {
		h := node.of(i)
		if members[h] == nil {
			heads = append(heads, h)
		}
		members[h] = append(members[h], i)
	}
	clusters := map[string][]int{} // heads with a label
	for _, h := range heads {
		label := t.home(members[h])
		if label == "" {
			continue
		}
		joined := false
		for _, c := range clusters[label] {
			if joined = !t.farApart(members[c], members[h]); joined {
				node.join(c, h)
				members[c] = append(members[c], members[h]...)
				break
			}
		}
		if !joined {
			clusters[label] = append(clusters[label], h)
		}
	}
}

// home returns what the first GPU that says so gives as its NUMA node or CPUs.
func (t *table) home(members []int) string {
	for _, i := range members {
		if i < t.gpus {
			if label := cmp.Or(t.of[i].nodes, t.of[i].cpus); label != "" {
				return label
			}
		}
	}
	return ""
}

// farApart reports whether the table puts a device of a on another NUMA node
// than one of b.
func (t *table) farApart(a, b []int) bool {
	for _, i := range a {
		for _, j := range b {
			if c := t.cells[i][j]; c.known && c.Nearness == machine.SYS {
				return true
			}
		}
	}
	return false
}
