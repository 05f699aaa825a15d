package smi

import (
	"cmp"
	"slices"

	"github.com/railyard/railyard/emu/machine"
)

// mostDirect is how many NVLinks a GPU can share out between peers: 18 from
// Hopper on (Rubin, with 36, comes with switches only). A row that adds up to
// more is the same links counted for every peer: a switch.
const mostDirect = 18

// links joins the GPUs of each connected group by a plane or point to point.
func (b *builder) links() {
	for _, part := range b.connected() {
		direct := slices.ContainsFunc(part, func(i int) bool { return b.sum(i) > 0 }) &&
			!slices.ContainsFunc(part, func(i int) bool { return b.sum(i) > mostDirect })
		switch {
		case direct:
			b.mesh(part)
		case b.switched(part):
			b.plane(part)
		default:
			b.say(machine.Odd, "nvlinks", "more links than a GPU has (%d), but not as a switch gives them; taken as point to point", mostDirect)
			b.mesh(part)
		}
	}
	slices.SortStableFunc(b.m.NVLinks, func(a, b machine.NVLink) int {
		return cmp.Or(cmp.Compare(a.GPU, b.GPU), cmp.Compare(a.To, b.To))
	})
}

// nv returns how many links the table says are between two GPUs.
func (t *table) nv(i, j int) int {
	if c := t.cells[i][j]; c.known && c.Nearness == machine.NV {
		return c.Links
	}
	return 0
}

func (t *table) sum(i int) int {
	n := 0
	for j := range t.gpus {
		n += t.nv(i, j)
	}
	return n
}

// most returns the largest number of links to any peer.
func (t *table) most(i int) int {
	n := 0
	for j := range t.gpus {
		n = max(n, t.nv(i, j))
	}
	return n
}

// connected returns the groups of GPUs that NVLink joins.
func (b *builder) connected() [][]int {
	g := apart(b.gpus)
	for i := range b.gpus {
		for j := range i {
			if b.nv(i, j) > 0 {
				g.join(i, j)
			}
		}
	}
	members := make([][]int, b.gpus)
	for i := range b.gpus {
		h := g.of(i)
		members[h] = append(members[h], i)
	}
	return slices.DeleteFunc(members, func(part []int) bool { return len(part) < 2 })
}

// switched reports whether a switch gives these counts: between any two the
// links of the one that has fewer. What the table does not say fits.
func (b *builder) switched(part []int) bool {
	for _, i := range part {
		for _, j := range part {
			if i != j && b.cells[i][j].known && b.nv(i, j) != min(b.most(i), b.most(j)) {
				return false
			}
		}
	}
	return true
}

func (b *builder) plane(part []int) {
	p := len(b.m.Planes)
	b.m.Planes = append(b.m.Planes, machine.Plane{BusID: busID(planeDomain, p)})
	for _, i := range part {
		b.m.NVLinks = append(b.m.NVLinks, machine.NVLink{GPU: i, Plane: true, To: p, Count: b.most(i)})
	}
}

func (b *builder) mesh(part []int) {
	for _, i := range part {
		for _, j := range part {
			if n := b.nv(i, j); i < j && n > 0 {
				b.m.NVLinks = append(b.m.NVLinks, machine.NVLink{GPU: i, To: j, Count: n})
			}
		}
	}
}
