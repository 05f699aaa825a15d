package verbs

import "fmt"

// aCore is how many nodesims a core can host without one of them being taken for
// dead because it gets no time to answer: 100 on 2 cores, measured by make detect
// beside a running collective. Each takes some 20 MiB as well.
const aCore = 50

// processes is over how many the nodes are spread.
func processes(procs, nodes int) int {
	if procs == 0 {
		return nodes
	}
	return procs
}

// tellProcesses says so when there are more than the host can be trusted with.
func tellProcesses(procs, cores int, tell func(string)) {
	if most := aCore * cores; procs > most {
		tell(fmt.Sprintf("%d nodesims on %d cores: up to %d were tried, beyond it one may be taken for dead that is merely slow; --procs %d spreads the nodes over fewer",
			procs, cores, most, most))
	}
}
