package fault

// gpuLost takes a GPU off the PCIe bus (Xid 79). Its process gets errors from the
// driver and tells its peers; on the same node NVLink peers fail as well where they
// wait for it.
var gpuLost = Kind{
	Word: "gpu-lost", Family: "gpu",
	Also:     []string{"xid79", "xid-79", "lost", "fallen_off_bus"},
	Strikes:  []Class{GPU},
	Means:    "the GPU is off the bus from then on, and its process says so",
	Hardware: "Xid 79: every call on it fails; the node has to be reset, and a health check would drain it",
	Source:   "" + xids + "",
	takes:    once,
	compile:  compileGpuLost,
}

func compileGpuLost(s *strike) {
	s.stop(Lost)
}
