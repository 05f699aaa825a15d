package fault

import (
	"cmp"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/shaping"
)

// flap is a link that comes and goes: a bad transceiver, a loose plug.
var flap = Kind{
	Word: "flap", Family: "fabric",
	Also:     []string{"flapping"},
	Strikes:  []Class{NIC, Switch, Link},
	Means:    "it is down for downFor in every period, count times",
	Default:  "downFor 100ms, period twice that, count 3 (assumed)",
	Hardware: "an outage within the retry budget only costs time: a gap that later packets show one round trip, a lost tail one ACK timeout",
	Source:   "NCCL documentation: NCCL_IB_TIMEOUT, NCCL_IB_RETRY_CNT",
	takes:    lasts + " links",
	words:    [][2]string{{"period", "every"}, {"count", "times"}},
	fill:     fillFlap,
	compile:  compileFlap,
}

func compileFlap(s *strike) {
	s.lose(s.hits(false), false)
}

func fillFlap(f *emu.Fault) {
	f.DownFor = cmp.Or(f.DownFor, 100*shaping.Millisecond) // assumed: a link that trains anew
	if f.When.Every == 0 && f.DownFor < longest {
		f.When.Every = 2 * f.DownFor // assumed
	}
	if f.When.Times == 0 && f.When.Until == 0 {
		f.When.Times = 3 // assumed
	}
}
