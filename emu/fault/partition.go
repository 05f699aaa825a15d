package fault

import "github.com/railyard/railyard/shaping"

// partition keeps groups of nodes apart, on the fabric and on the control network.
var partition = Kind{
	Word: "partition", Family: "fabric",
	Also:     []string{"split", "split-brain"},
	Strikes:  []Class{Sides},
	Means:    "no message passes between the sides, nor does the control plane; nodes of no side reach all",
	Hardware: "a leaf pair without its uplinks, or a wrong access list: transports run out of tries, and each side declares the other dead",
	Source:   "Jepsen: partitions",
	takes:    lasts,
	compile:  compilePartition,
}

func compilePartition(s *strike) {
	for _, span := range s.spans {
		s.s.cuts = append(s.s.cuts, cut{span, s.hit[0].sides, s.index, s.hit[0].name})
	}
}

// Partitions returns the partitions at work at an instant, each as the side of every
// node, -1 for one that is joined to all; and the instant up to which they stay so.
func (s *Schedule) Partitions(at shaping.Time) (sides [][]int, until shaping.Time) {
	until = shaping.Never
	if s == nil {
		return nil, until
	}
	for i := range s.cuts {
		c := &s.cuts[i]
		switch {
		case at < c.from:
			until = min(until, c.from)
		case at < c.to:
			sides, until = append(sides, c.side), min(until, c.to)
		}
	}
	return sides, until
}
