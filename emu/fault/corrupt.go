package fault

import "github.com/railyard/railyard/emu/fabric"

// corrupt damages packets by chance. No damage gets past a CRC here; bitflip is what
// does.
var corrupt = Kind{
	Word: "corrupt", Family: "fabric",
	Also:     []string{"corruption"},
	Strikes:  []Class{NIC, Switch, Link},
	Means:    "each packet that goes by it is damaged with probability loss; the CRC catches it, so that it is lost",
	Hardware: "symbol errors of a bad cable: counters rise, packets are dropped where the CRC fails and sent again",
	Source:   "netem(8): corrupt; InfiniBand architecture: ICRC, VCRC",
	takes:    lasts + " loss!",
	compile:  compileCorrupt,
}

func compileCorrupt(s *strike) {
	s.suffer(s.hits(true), func(h fabric.Hit) State { return State{Share: Whole, Corrupt: passing(h, s.Loss)} })
}
