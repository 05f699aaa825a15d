package fault

// gdrLost takes GPUDirect RDMA from nodes. It holds from the start of their
// processes: Fabric makes their ways lead through host memory.
var gdrLost = Kind{
	Word: "gdr-lost", Family: "pcie",
	Also:     []string{"gdr_lost", "no-gdr"},
	Strikes:  []Class{Node},
	Means:    "its NICs may not read and write the memory of GPUs, from the start on; all is staged in host memory",
	Hardware: "nvidia-peermem is not loaded, or ACS is on: NCCL falls back without an error, and busbw halves or worse",
	Source:   "NCCL documentation: troubleshooting, GPU Direct; NCCL_NET_GDR_LEVEL",
	takes:    "",
	compile:  compileGdrLost,
}

func compileGdrLost(s *strike) {
	// Fabric has made the nodes so. A process keeps the buffers that it registered at
	// its start, so there is no instant.
}
