package machine

import (
	"cmp"
	"slices"
)

// Canonical returns the same machine in the order in which an export comes
// back: sockets as NUMA nodes name them, each bridge before what hangs on it
// and that before the next, links by their ends. Sockets without a NUMA node
// and bridges that nothing hangs on are gone. The machine must be valid.
func (m *Machine) Canonical() Machine {
	c := *m
	c.NUMA, c.GPUs, c.NICs = slices.Clone(m.NUMA), slices.Clone(m.GPUs), slices.Clone(m.NICs)
	c.NVLinks = slices.Clone(m.NVLinks)
	slices.SortStableFunc(c.NVLinks, func(a, b NVLink) int {
		return cmp.Or(cmp.Compare(a.GPU, b.GPU), -compareBool(a.Plane, b.Plane), cmp.Compare(a.To, b.To))
	})
	c.Told = slices.Clone(m.Told)
	slices.SortFunc(c.Told, func(a, b Told) int {
		return cmp.Or(-compareBool(a.A.Before(b.A), b.A.Before(a.A)), -compareBool(a.B.Before(b.B), b.B.Before(a.B)))
	})
	c.orderSockets(m)
	c.orderBridges(m)
	return c
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	default:
		return -1
	}
}

func (c *Machine) orderSockets(m *Machine) {
	c.Sockets, c.SocketLinks = nil, nil
	at := map[int]int{}
	for i, n := range m.NUMA {
		if _, ok := at[n.Socket]; !ok {
			at[n.Socket] = len(c.Sockets)
			c.Sockets = append(c.Sockets, m.Sockets[n.Socket])
		}
		c.NUMA[i].Socket = at[n.Socket]
	}
	for _, l := range m.SocketLinks {
		a, okA := at[l.A]
		b, okB := at[l.B]
		if okA && okB {
			c.SocketLinks = append(c.SocketLinks, SocketLink{min(a, b), max(a, b), l.Rate})
		}
	}
	slices.SortFunc(c.SocketLinks, func(a, b SocketLink) int {
		return cmp.Or(cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B))
	})
}

func (c *Machine) orderBridges(m *Machine) {
	under := map[Place][]int{}
	used := make([]bool, len(m.Bridges))
	use := func(p Place) {
		if p.Bridge {
			used[p.Index] = true
		}
	}
	for i := range m.GPUs {
		use(m.GPUs[i].At)
	}
	for i := range m.NICs {
		use(m.NICs[i].At)
	}
	for i := len(m.Bridges) - 1; i >= 0; i-- {
		if b := &m.Bridges[i]; used[i] {
			use(b.At)
			under[b.At] = append(under[b.At], i) // the last first
		}
	}
	c.Bridges = nil
	at := make([]int, len(m.Bridges))
	var stack []int
	for n := len(m.NUMA) - 1; n >= 0; n-- {
		stack = append(stack, under[OnNUMA(n)]...)
	}
	for len(stack) > 0 {
		i := stack[len(stack)-1]
		stack = append(stack[:len(stack)-1], under[OnBridge(i)]...)
		at[i] = len(c.Bridges)
		c.Bridges = append(c.Bridges, m.Bridges[i])
	}
	move := func(p *Place) {
		if p.Bridge {
			p.Index = at[p.Index]
		}
	}
	for i := range c.Bridges {
		move(&c.Bridges[i].At)
	}
	for i := range c.GPUs {
		move(&c.GPUs[i].At)
	}
	for i := range c.NICs {
		move(&c.NICs[i].At)
	}
}
