package fault

import "github.com/railyard/railyard/emu/fabric"

// nvlinkErrors is a bad link that still works: NVLink sends again what did not pass
// its CRC, so that nothing is lost but time.
var nvlinkErrors = Kind{
	Word: "nvlink-errors", Family: "nvlink",
	Also:     []string{"nvlink_error", "nvlink-replay", "xid74"},
	Strikes:  []Class{GPU},
	Means:    "packets on its NVLinks are damaged and sent again, which leaves share of their rate",
	Default:  "share 90% (assumed)",
	Hardware: "counters of replays and CRC errors rise; past a threshold Xid 74 and the link goes down",
	Source:   "" + xids + "; DCGM: NVLink replay and CRC counters",
	takes:    lasts + " share",
	compile:  compileNvlinkErrors,
}

func compileNvlinkErrors(s *strike) {
	share := s.Share
	if share == 0 {
		share = Whole * 9 / 10 // assumed
	}
	for _, gpu := range s.withNVLink() {
		seen := map[fabric.PortID]bool{}
		for _, l := range s.f.NVLinks(gpu) {
			for _, h := range l.Hits {
				if !seen[h.Port] {
					seen[h.Port] = true
					s.suffer([]fabric.Hit{h}, func(fabric.Hit) State { return State{Share: share} })
				}
			}
		}
	}
}
