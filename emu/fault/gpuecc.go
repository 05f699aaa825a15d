package fault

// gpuECC is an uncorrectable error of a GPU's memory. Contained or not, the process
// that touched it gets an error and ends; what differs is what has to be reset
// afterwards.
var gpuECC = Kind{
	Word: "gpu-ecc", Family: "gpu",
	Also:     []string{"ecc_uncorrectable", "ecc", "xid48", "xid63", "xid94", "xid95"},
	Strikes:  []Class{GPU},
	Means:    "an error in its memory that cannot be corrected: its process dies",
	Hardware: "Xid 48 with 63 or 64, on A100 and later 94 (contained: this process dies) or 95 (not: the GPU needs a reset). A row is remapped; a health check would drain the node",
	Source:   "" + xids + "",
	takes:    once,
	compile:  compileGpuECC,
}

func compileGpuECC(s *strike) {
	s.stop(Lost)
}
