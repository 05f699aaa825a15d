package fault

// gpuHang stops the blocks of a GPU without a word: a kernel that never ends. What
// ends the run is its watchdog.
var gpuHang = Kind{
	Word: "gpu-hang", Family: "gpu",
	Also:     []string{"hang", "stuck"},
	Strikes:  []Class{GPU},
	Means:    "it enters operations and never finishes; nothing tells",
	Hardware: "the others wait for it until a watchdog ends the run; NCCL RAS shows it as the one that lags",
	Source:   "NCCL RAS documentation",
	takes:    once,
	compile:  compileGpuHang,
}

func compileGpuHang(s *strike) {
	s.stop(Hung)
}
