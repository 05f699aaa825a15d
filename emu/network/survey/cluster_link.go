package survey

import (
	"fmt"
	"slices"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/shaping"
)

// link chooses the fabric's link: the system's own, unless all links of hosts run
// at a rate that another one has.
func (b *builder) link() (string, error) {
	sys, err := b.system(b.Hosts[slices.Index(b.in, true)])
	if err != nil || len(b.Switches) == 0 {
		return "", err
	}
	own := sys.Link
	rate, unlike := b.hostLinks()
	if unlike {
		return own, nil
	}
	if rate == 0 {
		say := "; change fabric.link in the cluster file, or give --rate"
		if b.o.Rate > 0 {
			say = fmt.Sprintf(", those between switches at %v, as asked", b.o.Rate)
		}
		b.Say(Assumed, "links run at the rate of %s, what %s ships with, where the file does not say%s", own, sys.Name, say)
		return own, nil
	}
	name := ""
	for _, l := range b.o.Links {
		if l.Rate == rate && (name == "" || l.Name == own) {
			name = l.Name
		}
	}
	if name == "" {
		return own, nil
	}
	if name != own {
		b.Say(Assumed, "the hosts' links run at %v: taken is %s", rate, name)
	}
	return name, nil
}

// slow puts a switch before each NIC whose link is slower in the file than the
// fabric's: the cable between both has the file's rate and latency. Latencies of
// other links of hosts, and higher rates, are lost.
func (b *builder) slow(link string) error {
	i := slices.IndexFunc(b.o.Links, func(l KnownLink) bool { return l.Name == link })
	if i < 0 {
		return nil
	}
	slow, fast, late := 0, 0, 0
	for h, links := range b.rates {
		for k, l := range links {
			switch {
			case !b.in[h]:
			case l.Rate > 0 && l.Rate < b.o.Links[i].Rate:
				slow++
				p, err := b.add(fmt.Sprintf("%s/nic%d", b.Hosts[h].Name, k), true)
				if err != nil {
					return err
				}
				b.cables = append(b.cables, Link{p, Place{true, b.ports[h][k]}, 1, l.Rate, l.Latency})
				b.ports[h][k] = p.Index
			case l.Rate > b.o.Links[i].Rate:
				fast++
			case l.Latency > 0:
				late++
			}
		}
	}
	if slow > 0 {
		b.Say(Assumed, "%d links of hosts are slower than %s: a switch stands before each, and the cable behind it has the file's rate; that is one hop more", slow, link)
	}
	if fast > 0 {
		b.Say(Missing, "%d links of hosts are faster than %s, and run as that; change fabric.link in the cluster file", fast, link)
	}
	if late > 0 {
		b.Say(Missing, "latencies of %d links of hosts are not carried over: those of %s count", late, link)
	}
	return nil
}

// hostLinks returns the rate that all links of hosts have, or that they differ.
func (b *builder) hostLinks() (rate shaping.Rate, unlike bool) {
	first := true
	for i, links := range b.rates {
		for _, l := range links {
			if b.in[i] {
				unlike = unlike || !first && l.Rate != rate
				rate, first = l.Rate, false
			}
		}
	}
	return rate, unlike
}

// count says how many links there are where a file only tells what hangs below
// what: as many as NICs are below, so that nothing is oversubscribed.
// Links of a cycle keep the one that they have.
func (b *builder) count() {
	below := make([]int, len(b.Switches)) // NICs
	for i, ports := range b.ports {
		for k := range b.nics[i] {
			if len(ports) > 0 {
				below[ports[k%len(ports)]]++
			}
		}
	}
	parents := make([]int, len(b.Switches))
	children := make([]int, len(b.Switches)) // that are not settled
	for _, l := range b.cables {
		parents[l.A.Index]++
		children[l.B.Index]++
	}
	var ready []int
	for i, n := range children {
		if n == 0 {
			ready = append(ready, i)
		}
	}
	out := make([][]int, len(b.Switches))
	for i, l := range b.cables {
		out[l.A.Index] = append(out[l.A.Index], i)
	}
	for ; len(ready) > 0; ready = ready[1:] {
		s := ready[0]
		for _, i := range out[s] {
			l := &b.cables[i]
			l.Count = max((below[s]+parents[s]-1)/parents[s], 1)
			below[l.B.Index] += l.Count
			if children[l.B.Index]--; children[l.B.Index] == 0 {
				ready = append(ready, l.B.Index)
			}
		}
	}
	if len(b.cables) > 0 {
		b.Say(Assumed, "switches are joined by as many links as NICs hang below: no oversubscription; change count in the cluster file")
	}
}

// fill lists switches and links of the part that is taken.
func (b *builder) fill(c *emu.Cluster) {
	taken := b.reached()
	for i, s := range b.Switches {
		if taken[i] {
			c.Fabric.Switches = append(c.Fabric.Switches, s.Name)
		}
	}
	type like struct {
		from, count int
		rate        shaping.Rate
		latency     shaping.Duration
	}
	at := map[like]int{}
	for _, l := range b.cables {
		if !taken[l.A.Index] {
			continue
		}
		rate := l.Rate
		if rate == 0 {
			rate = b.o.Rate
		}
		k := like{l.B.Index, l.Count, rate, l.Latency}
		i, ok := at[k]
		if !ok {
			i = len(c.Fabric.Links)
			at[k] = i
			count := l.Count
			if count == 1 {
				count = 0
			}
			c.Fabric.Links = append(c.Fabric.Links, emu.FabricLink{From: b.Switches[k.from].Name, Count: count, Rate: rate, Latency: l.Latency})
		}
		c.Fabric.Links[i].To = append(c.Fabric.Links[i].To, b.Switches[l.A.Index].Name)
	}
}

// reached returns which switches belong to the part that is taken.
func (b *builder) reached() []bool {
	seen := make([]bool, len(b.Switches))
	next := make([][]int, len(b.Switches))
	var queue []int
	visit := func(s int) {
		if !seen[s] {
			seen[s] = true
			queue = append(queue, s)
		}
	}
	for _, l := range b.cables {
		next[l.A.Index], next[l.B.Index] = append(next[l.A.Index], l.B.Index), append(next[l.B.Index], l.A.Index)
	}
	for i, ports := range b.ports {
		for _, p := range ports {
			if b.in[i] {
				visit(p)
			}
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		for _, s := range next[queue[0]] {
			visit(s)
		}
	}
	return seen
}
