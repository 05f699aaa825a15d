package fault

// kill ends a process, as kill -9 does. The kernel closes its sockets, so that
// peers on the control network know at once; what NICs have taken over still goes
// out.
var kill = Kind{
	Word: "kill", Family: "process",
	Also:     []string{"crash", "sigkill"},
	Strikes:  []Class{Node, GPU},
	Means:    "the process is gone: of a node all its GPUs, of a GPU its own rank",
	Hardware: "sockets break and peers report the lost rank; before NCCL 2.24 many only spin until a watchdog ends them",
	Source:   "NCCL issue 585; NCCL RAS documentation",
	takes:    once,
	compile:  compileKill,
}

func compileKill(s *strike) {
	s.stop(Killed)
	for _, p := range s.hit {
		for _, span := range s.spans {
			if at, dead := s.s.dead[p.node]; p.class == Node && (!dead || span.from < at) {
				s.s.dead[p.node] = span.from
			}
		}
	}
}
