package fault

// skip is the bug of an early return: one rank leaves out a collective.
var skip = Kind{
	Word: "skip", Family: "gpu",
	Also:     []string{"skipped", "missing-enter"},
	Strikes:  []Class{GPU},
	Means:    "its rank leaves out a collective that the others call",
	Default:  "the first operation",
	Hardware: "the others wait for it for ever, or its next collective meets their last one",
	Source:   "sglang pull request 26923; PyTorch flight recorder",
	takes:    atCall,
	compile:  compileSkip,
}

func compileSkip(s *strike) {
	s.call(Call{Wrong: Skips})
}
