package collective

import "slices"

// tracks says on which channels messages travel between two ranks that talk to
// each other directly, and which chunks of a part each channel carries.
//
// Inside a node chunk c goes on channel c. Between nodes all chunks go on the
// channels of the rail at whose NIC the receiver stands; when there are fewer
// channels than rails, several rails share one.
//
//	4 channels, 2 rails            chunk  0 1 2 3
//	inside the node      on channel       0 1 2 3
//	to a rank at rail 0  on channel       0 0 2 2
//	to a rank at rail 1  on channel       1 1 3 3
type tracks struct {
	seats
	channels int
	inside   []stretch
	toward   [][]stretch // rank → the ways of what comes to it from other nodes
}

// stretch is a run of chunks of a part, and the channel they go on.
type stretch struct {
	channel, first, count int
	// rail tells apart those of the ranks of different rails that share a
	// channel; −1 inside a node. Each has a block of its own.
	rail int
}

func newTracks(s Shape, channels int) *tracks {
	l := &tracks{seats: newSeats(s), channels: channels, toward: make([][]stretch, s.NRanks())}
	for c := range channels {
		l.inside = append(l.inside, stretch{channel: c, first: c, count: 1, rail: -1})
	}
	for _, g := range s.Nodes {
		for i, r := range g.Ranks {
			list, rail := g.channelsOf(i, channels)
			for k, c := range list {
				from, to := k*channels/len(list), (k+1)*channels/len(list)
				l.toward[r] = append(l.toward[r], stretch{c, from, to - from, rail})
			}
		}
	}
	return l
}

// ways returns how a message from one rank to another is cut.
func (l *tracks) ways(from, to int) []stretch {
	if l.node[from] == l.node[to] {
		return l.inside
	}
	return l.toward[to]
}

// counts returns how many chunks messages may have, each number once.
func (l *tracks) counts() []int {
	counts := []int{1}
	for _, list := range l.toward {
		for _, w := range list {
			if !slices.Contains(counts, w.count) {
				counts = append(counts, w.count)
			}
		}
	}
	return counts
}

// widest returns the most chunks a message has.
func (l *tracks) widest() int {
	if l.node[l.order[0]] == l.node[l.order[len(l.order)-1]] {
		return 1
	}
	return slices.Max(l.counts())
}

// mostOnRail returns how many ranks of other nodes than v stand at one rail, at
// the rail where they are most.
func (l *tracks) mostOnRail(v int) int {
	most, on := 0, map[int]int{}
	for r, list := range l.toward {
		if l.node[r] != v {
			on[list[0].rail]++
			most = max(most, on[list[0].rail])
		}
	}
	return most
}

// channelsOf returns the channels whose rail ends at the i-th rank of the node,
// and the first such rail; where no channel has that rail, the one channel that
// stands in for it.
func (g Group) channelsOf(i, channels int) (list []int, rail int) {
	rails := g.railsOf(i)
	n := len(g.Heads)
	if n == 0 {
		n = len(g.Ranks)
	}
	for c := range channels {
		if slices.Contains(rails, c%n) {
			list = append(list, c)
		}
	}
	if list == nil {
		list = []int{rails[0] % channels}
	}
	return list, rails[0]
}

// railsOf returns the rails at which the i-th rank of the node stands, in the
// numbering of channels; a rank that heads none shares a neighbour's.
func (g Group) railsOf(i int) (rails []int) {
	if len(g.Heads) == 0 {
		return []int{i}
	}
	for rail, h := range g.Heads {
		if h == g.Ranks[i] {
			rails = append(rails, rail)
		}
	}
	if rails == nil {
		rails = []int{i * len(g.Heads) / len(g.Ranks)}
	}
	return rails
}
