package survey

import "slices"

// Hosts do not forward: two reach each other only where links join switches that
// both hang on. So a cluster's hosts either all hang on one network, or each has
// the same row of networks under its NICs: rails.

// oneNetwork leaves out what no network joins: where hosts hang on several in
// different ways it takes the network that most hang on.
func (b *builder) oneNetwork() {
	part := b.networks()
	var row []int // of the first host
	rails := true
	count := map[int]int{} // hosts on each network
	for i, ports := range b.ports {
		if !b.in[i] {
			continue
		}
		mine := make([]int, len(ports))
		for k, s := range ports {
			mine[k] = part[s]
		}
		if row == nil {
			row = mine
		}
		rails = rails && slices.Equal(row, mine)
		slices.Sort(mine)
		for _, p := range slices.Compact(mine) {
			count[p]++
		}
	}
	switch {
	case len(count) < 2:
	case rails && !b.Logical:
		b.Say(Odd, "no link joins the %d networks that NICs hang on: they are rails apart, and GPUs reach other rails by way of their server's", len(count))
	default:
		b.take(part, count)
	}
}

// take leaves the network that most hosts hang on, the first of several.
func (b *builder) take(part []int, count map[int]int) {
	best := -1
	for p := range b.Switches {
		if best < 0 || count[p] > count[best] {
			best = p
		}
	}
	left, links := 0, 0
	for i, ports := range b.ports {
		var kept []int
		var rates []Link
		for k, s := range ports {
			if part[s] == best {
				kept, rates = append(kept, s), append(rates, b.rates[i][k])
			}
		}
		if !b.in[i] || len(kept) == len(ports) {
			continue
		}
		links += len(ports) - len(kept)
		if b.ports[i], b.rates[i] = kept, rates; len(kept) == 0 {
			b.in[i] = false
			left++
		}
	}
	b.Say(Missing, "hosts do not forward, and no link joins the %d networks that they hang on: taken is the largest, of %d hosts; %d hosts and %d links of hosts are left out", len(count), count[best], left, links)
}

// networks returns for each switch the first of those that cables join it with.
func (b *builder) networks() []int {
	part := make([]int, len(b.Switches))
	for i := range part {
		part[i] = i
	}
	root := func(i int) int {
		for part[i] != i {
			part[i] = part[part[i]]
			i = part[i]
		}
		return i
	}
	for _, l := range b.cables {
		x, y := root(l.A.Index), root(l.B.Index)
		part[max(x, y)] = min(x, y)
	}
	for i := range part {
		part[i] = root(i)
	}
	return part
}
