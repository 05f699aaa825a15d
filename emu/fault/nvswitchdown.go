package fault

// nvswitchDown takes one plane of an NVLink domain away: a chip in a server, or one
// of a rack's switches, which joins the GPUs of several nodes.
var nvswitchDown = Kind{
	Word: "nvswitch-down", Family: "nvlink",
	Also:     []string{"nvswitch_down", "plane-down"},
	Strikes:  []Class{NVSwitch},
	Means:    "all links to one NVSwitch are down, of every GPU that hangs on it",
	Hardware: "here the other planes carry all: one of 4 costs about a quarter. But Fabric Manager does not start with a dead NVSwitch unless told to, so jobs end and a health check would drain the node",
	Source:   "NVIDIA Fabric Manager user guide: NVSWITCH_FAILURE_MODE",
	takes:    lasts,
	compile:  compileNvswitchDown,
}

func compileNvswitchDown(s *strike) {
	for _, p := range s.hit {
		for _, node := range s.f.Domain(p.node) {
			first, n := s.f.GPURange(node)
			for gpu := first; gpu < first+n; gpu++ {
				for _, l := range s.f.NVLinks(gpu) {
					if l.Plane == p.index {
						for _, h := range l.Hits {
							s.belongs(h.Port, p.name)
						}
						s.lose(l.Hits, true)
					}
				}
			}
		}
	}
}
