package fault

// gpuSlow lowers the clock of a GPU, as heat and power limits do.
var gpuSlow = Kind{
	Word: "gpu-slow", Family: "gpu",
	Also:     []string{"clock_throttle", "throttle", "slow"},
	Strikes:  []Class{GPU},
	Means:    "its engines work at share of their speed",
	Default:  "share 50%",
	Hardware: "heat or power: HW slowdown halves the clocks or more. Copies and reductions take longer, links do not",
	Source:   "NVML: nvmlClocksEventReasonHwSlowdown, core clocks down by a factor of 2 or more",
	takes:    lasts + " share",
	compile:  compileGpuSlow,
}

func compileGpuSlow(s *strike) {
	share := s.Share
	if share == 0 {
		share = Whole / 2 // NVML: a hardware slowdown is by 2 or more
	}
	for _, gpu := range s.gpus() {
		for _, span := range s.spans {
			s.s.Slow(gpu).Add(span.from, span.to, State{Share: share})
		}
	}
}
