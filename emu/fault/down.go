package fault

// down cuts a NIC, a switch or a cable off. Where messages are spread over parallel
// links, the ports that go by it keep the rest of their rate; where each keeps to
// one link, that is dead.
var down = Kind{
	Word: "down", Family: "fabric",
	Also:     []string{"nic_down", "leaf_down", "link_down", "disable", "disabled"},
	Strikes:  []Class{NIC, Switch, Link},
	Means:    "what comes to it is lost, until it is over",
	Default:  "without to or downFor it is down for good; of a link all cables",
	Hardware: "NICs send again; when NCCL_IB_RETRY_CNT tries of NCCL_IB_TIMEOUT are used up the communicator is dead. Adaptive routing goes round a dead spine at once, static tables when the subnet manager has swept",
	Source:   "NCCL documentation: NCCL_IB_TIMEOUT, NCCL_IB_RETRY_CNT",
	takes:    lasts + " links",
	compile:  compileDown,
}

func compileDown(s *strike) {
	s.lose(s.hits(false), false)
}
