package network

import "fmt"

// buildDragonfly joins groups of switches to one another. In a dragonfly all
// switches of a group are alike: p hosts, a link to each of the a−1 others, h
// links to other groups, balanced as a = 2p = 2h (Kim, Dally, Scott, Abts:
// Technology-driven, highly-scalable dragonfly topology, ISCA 2008). In a
// dragonfly+ half of a group are leaves with hosts, half are spines with links
// to other groups (Shpiner et al., HiPINEB 2017).
//
//	group 0        group 1
//	r0 ─ r1 ─global─ r2 ─ r3        (p = 1, a = 2, h = 1: three groups)
func (n *Network) buildDragonfly() error {
	g := newGraph(n)
	plus := n.Shape == DragonflyPlus
	p := max((n.Radix+1)/4, 1) // hosts a switch
	if plus {
		p = max(n.Radix/2, 1)
	}
	if n.PerSwitch > 0 {
		p = n.PerSwitch
	}
	a, h := 2*p, p
	if plus {
		a = p // leaves, and spines, of a group
	}
	per := p * a // hosts a group
	groups := ceil(len(n.Hosts), per)
	if most := a*h + 1; groups > most {
		return fmt.Errorf("%d NICs: a %s of %d-port switches joins at most %d in %d groups; take fewer NICs or larger switches",
			len(n.Hosts), n.Shape, n.Radix, most*per, most)
	}
	size := a
	if plus {
		size = 2 * a
	}
	g.groups = groups
	for i := range groups * size {
		tier := 0
		if i%size >= a {
			tier = 1
		}
		g.addSwitch(fmt.Sprintf("group%d/switch%d", i/size, i%size), tier)
		g.group = append(g.group, i/size)
	}
	for i := range n.Hosts {
		g.hang(i, i/per*size+i%per/p)
	}
	for k := range groups {
		g.joinGroup(k*size, a, plus)
	}
	g.joinGroups(groups, size, a, h, plus)
	return g.measure()
}

// joinGroup joins the switches of a group: all with all, or leaves with spines.
func (g *graph) joinGroup(first, a int, plus bool) {
	for i := range a {
		from := 0
		if !plus {
			from = i + 1
		}
		for j := from; j < a; j++ {
			to := first + j
			if plus {
				to += a
			}
			g.join(first+i, to, 1, g.Rate, 0)
		}
	}
}

// joinGroups gives every pair of groups the same number of links, and deals them
// out over the switches of both.
func (g *graph) joinGroups(groups, size, a, h int, plus bool) {
	if groups == 1 {
		return
	}
	each := a * h / (groups - 1)
	dealt := make([]int, groups) // links dealt out so far, by group
	seat := func(group int) int {
		s := group*size + dealt[group]%a
		if plus {
			s += a
		}
		dealt[group]++
		return s
	}
	type pair struct{ a, b int }
	links := map[pair]int{}
	var order []pair
	for i := range groups {
		for j := i + 1; j < groups; j++ {
			for range each {
				p := pair{seat(i), seat(j)}
				if links[p] == 0 {
					order = append(order, p)
				}
				links[p]++
			}
		}
	}
	for _, p := range order {
		g.join(p.a, p.b, links[p], g.Rate, g.Global)
		g.GlobalCables += links[p]
	}
}
