package fault

// coordinatorCrash kills the process that grants emulated time. Time cannot know of
// it, so the schedule only notes it for the host.
var coordinatorCrash = Kind{
	Word: "coordinator-crash", Family: "process",
	Also:     []string{"controller-crash"},
	Strikes:  []Class{Coordinator},
	Means:    "the coordinator of this tool is killed once the emulated clock is there",
	Hardware: "nothing: it is no part of the hardware. Nodes notice and end; what was written before is on disk",
	Source:   "docs/architecture.md",
	takes:    "at",
	compile:  compileCoordinatorCrash,
}

func compileCoordinatorCrash(s *strike) {
	s.s.walls = append(s.s.walls, Wall{At: s.spans[0].from, Fault: s.index})
}
