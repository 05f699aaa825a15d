package fault

import "github.com/railyard/railyard/emu/fabric"

// latency makes a part slower to answer, not narrower. Of a message that is spread
// over parallel links the last packet counts, and one of them goes by it.
var latency = Kind{
	Word: "latency", Family: "fabric",
	Also:     []string{"delay"},
	Strikes:  []Class{NIC, Switch, Link},
	Means:    "latency is added to every message that goes by it",
	Hardware: "a longer cable, forward error correction, a firewall in between: short messages suffer, long ones hardly",
	Source:   "netem(8): delay",
	takes:    lasts + " latency!",
	compile:  compileLatency,
}

func compileLatency(s *strike) {
	s.suffer(s.hits(true), func(fabric.Hit) State { return State{Share: Whole, Extra: s.Latency} })
}
