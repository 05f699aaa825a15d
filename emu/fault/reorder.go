package fault

// reorder makes one rank call two collectives in the wrong order, as two threads
// without a lock do.
var reorder = Kind{
	Word: "reorder", Family: "gpu",
	Also:     []string{"wrong-order", "swap"},
	Strikes:  []Class{GPU},
	Means:    "its rank calls an operation and the next one in the wrong order",
	Default:  "the first operation and the second",
	Hardware: "the sequence numbers agree and the signatures do not: a hang, a crash or a wrong answer",
	Source:   "PyTorch: TORCH_DISTRIBUTED_DEBUG=DETAIL",
	takes:    atCall,
	compile:  compileReorder,
}

func compileReorder(s *strike) {
	s.call(Call{Wrong: Swaps})
}
