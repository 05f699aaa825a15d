package fault

// pause stops a process and lets it go on, as SIGSTOP and SIGCONT do. Here its
// GPU's blocks stand still as well, since every step asks the proxy sooner or
// later.
var pause = Kind{
	Word: "pause", Family: "process",
	Also:     []string{"sigstop", "freeze", "stop"},
	Strikes:  []Class{Node, GPU},
	Means:    "the process stands still, and goes on when the fault is over",
	Default:  "without to or downFor it stands still for good",
	Hardware: "what runs on the GPU goes on; what its proxy has to post waits. Sockets stay open, so nothing tells but a missing answer",
	Source:   "signal(7): SIGSTOP, SIGCONT",
	takes:    lasts,
	compile:  compilePause,
}

func compilePause(s *strike) {
	s.stop(Paused)
}
