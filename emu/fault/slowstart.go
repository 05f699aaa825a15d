package fault

// slowStart makes ranks come late: a process that loads its data longer, or starts
// later, than the others.
var slowStart = Kind{
	Word: "slow-start", Family: "process",
	Also:     []string{"straggler", "late"},
	Strikes:  []Class{Node, GPU},
	Means:    "the ranks call an operation later than the others, by latency",
	Default:  "the first operation",
	Hardware: "the others spin in the operation: its time is that of the last to come",
	Source:   "PyTorch: flight recorder, stragglers",
	takes:    atCall + " latency!",
	compile:  compileSlowStart,
}

func compileSlowStart(s *strike) {
	s.call(Call{Wrong: Late, Delay: s.Latency})
}
