package collective

import (
	"fmt"
	"slices"
)

// check says whether s is a shape that algorithms can be built on: every rank
// 0 … n−1 on one node, no node without ranks, and heads that stand on their
// own node.
func (s Shape) check() error {
	if len(s.Nodes) == 0 {
		return fmt.Errorf("shape: no nodes; at least one is needed")
	}
	seen := make([]bool, s.NRanks())
	for v, g := range s.Nodes {
		if len(g.Ranks) == 0 {
			return fmt.Errorf("shape: node %d has no ranks; leave it out", v)
		}
		for _, r := range g.Ranks {
			if r < 0 || r >= len(seen) || seen[r] {
				return fmt.Errorf("shape: node %d: rank %d is out of range or there twice; ranks are 0 to %d, each once", v, r, len(seen)-1)
			}
			seen[r] = true
		}
		for rail, h := range g.Heads {
			if !slices.Contains(g.Ranks, h) {
				return fmt.Errorf("shape: node %d: head %d of rail %d is not a rank of this node", v, h, rail)
			}
		}
	}
	return nil
}

// fifoSteps returns how many FIFO steps a chunk and a slice take in the
// options' protocol, for an algorithm whose chunks take chunk steps in slices
// pieces when the protocol is Simple. In the other protocols a chunk is one
// step, which cannot be cut.
func (o Options) fifoSteps(chunk, slices int) (chunkSteps, sliceSteps int, err error) {
	switch o.Protocol {
	case Simple:
	case LL, LL128:
		chunk, slices = 1, 1
	default:
		return 0, 0, fmt.Errorf("protocol %d: unknown; allowed are %s, %s, %s", o.Protocol, Simple, LL, LL128)
	}
	if o.Slices != 0 {
		slices = o.Slices
	}
	if slices < 1 || slices > chunk || chunk%slices != 0 {
		return 0, 0, fmt.Errorf("slices %d: a chunk of protocol %s takes %s here, and slices must divide that; allowed are %s",
			slices, o.Protocol, count(chunk, "FIFO step"), divisors(chunk))
	}
	return chunk, chunk / slices, nil
}

// divisors lists the numbers that divide n, for messages.
func divisors(n int) string {
	list := "1"
	for d := 2; d <= n; d++ {
		if n%d == 0 {
			list += fmt.Sprintf(", %d", d)
		}
	}
	return list
}
