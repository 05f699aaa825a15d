package fault

import "github.com/railyard/railyard/shaping"

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
	for _, span := range s.spans {
		for _, p := range s.hit {
			if p.class == Node {
				s.s.Kill(s.f, p.node, span.from, s.index)
				continue
			}
			first, _ := s.f.GPURange(p.node)
			s.s.Halt(Stop{At: span.from, Until: shaping.Never, GPU: first + p.index, How: Killed, Fault: s.index})
		}
	}
}
