package fault

import "github.com/railyard/railyard/emu/fabric"

// congestion is a neighbour that takes its part of a link, evenly and all the time.
var congestion = Kind{
	Word: "congestion", Family: "fabric",
	Also:     []string{"noise", "neighbour", "noisy-neighbor"},
	Strikes:  []Class{NIC, Switch, Link},
	Means:    "a neighbour's traffic leaves share of its rate",
	Default:  "share 50% (assumed)",
	Hardware: "other jobs on the same links: busbw varies from run to run, and no counter of errors rises",
	Source:   "Toxiproxy: bandwidth",
	takes:    lasts + " share by",
	compile:  compileCongestion,
}

func compileCongestion(s *strike) {
	share := s.Share
	if share == 0 {
		share = Whole / 2 // assumed
	}
	s.suffer(s.hits(false), func(h fabric.Hit) State { return left(h, share) })
}
