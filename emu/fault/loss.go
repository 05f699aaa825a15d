package fault

import "github.com/railyard/railyard/emu/fabric"

// loss drops packets by chance.
var loss = Kind{
	Word: "loss", Family: "fabric",
	Also:     []string{"packet-loss", "drop"},
	Strikes:  []Class{NIC, Switch, Link},
	Means:    "each packet that goes by it is lost with probability loss",
	Hardware: "a lossless fabric has none; RoCE with wrong PFC has. RDMA goes back to the gap, so that one packet of a thousand costs far more than a thousandth",
	Source:   "netem(8): loss; InfiniBand architecture: go-back-N of reliable connections",
	takes:    lasts + " loss!",
	compile:  compileLoss,
}

func compileLoss(s *strike) {
	s.suffer(s.hits(true), func(h fabric.Hit) State { return State{Share: Whole, Loss: passing(h, s.Loss)} })
}
