package fault

import "github.com/railyard/railyard/emu/fabric"

// jitter adds a latency that is drawn for each message. Messages of a connection
// keep their order.
var jitter = Kind{
	Word: "jitter", Family: "fabric",
	Strikes:  []Class{NIC, Switch, Link},
	Means:    "from 0 to jitter is added to every message that goes by it, drawn anew for each",
	Hardware: "queues elsewhere: a ring waits for the slowest of each round, so more ranks suffer more",
	Source:   "netem(8): jitter",
	takes:    lasts + " jitter!",
	compile:  compileJitter,
}

func compileJitter(s *strike) {
	s.suffer(s.hits(true), func(fabric.Hit) State { return State{Share: Whole, Jitter: s.Jitter} })
}
