package network

import "fmt"

// Idle says in words which settings change nothing on this network because of its
// size, and what became of a ratio that whole links can't have.
func (n *Network) Idle() []string {
	var all []string
	if c, ok := n.way.(*clos); ok && n.Oversubscription > 1 {
		all = append(all, c.ratio()...)
	}
	g, ok := n.way.(*graph)
	switch {
	case n.Routing == Valiant && ok && g.groups < 3:
		all = append(all, fmt.Sprintf("routing valiant: no effect, as there is no third group to go by; all NICs are in %d", g.groups))
	case n.Planes > 1 || n.Routing.spreads(): // hash and static tables choose planes
	case n.Shape == Dragonfly && g.groups == 1:
		all = append(all, fmt.Sprintf("routing %v: no effect, as there is one group, all of whose switches are joined", n.Routing))
	case n.Shape == Torus:
		all = append(all, fmt.Sprintf("routing %v: no effect, as a torus goes dimension by dimension", n.Routing))
	case len(n.Ports) == 0:
		all = append(all, fmt.Sprintf("routing %v: no effect, as no message has a choice of links", n.Routing))
	}
	return all
}

// ratio says what oversubscription comes to.
func (c *clos) ratio() []string {
	over := fmt.Sprintf("oversubscription %d", c.Oversubscription)
	switch {
	case c.tiers == 1:
		return []string{over + ": no effect, as no message goes from leaf to leaf"}
	case c.Aligned && c.leaves == c.rails:
		return []string{over + ": no effect, as all servers are in one unit and no message leaves its rail"}
	case c.up*c.Oversubscription != c.below:
		return []string{fmt.Sprintf("%s: links are whole, so that a leaf with room for %d NICs has %d up", over, c.below, c.up)}
	}
	return nil
}
