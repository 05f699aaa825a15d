package trial

import (
	"fmt"
	"slices"
	"strings"

	"github.com/railyard/railyard/emu"
)

// missing returns the ranks that never entered the operation which holds a run up,
// and which of its operations that is.
func (v *verdict) missing(run int) (absent []int, behind int) {
	behind = slices.Min(v.runs[run].by)
	for _, p := range v.of(run) {
		if p.Entered <= behind {
			absent = append(absent, p.Rank)
		}
	}
	return absent, behind
}

// stands returns the run in which a GPU's process waits before it can enter another:
// that one itself where nothing keeps it.
func (v *verdict) stands(run, gpu int) int {
	for {
		r := &v.batch.Runs[run]
		rank := slices.Index(r.Comm, gpu)
		if rank < 0 || rank >= len(r.After) || r.After[rank] < 0 {
			return run
		}
		before := int(r.After[rank])
		b := &v.batch.Runs[before]
		if at := slices.Index(b.Comm, gpu); at < 0 || v.runs[before].by[at] >= max(b.Iterations, 1) {
			return run
		}
		run = before
	}
}

// chain goes from the run that was given up to those in which its absent ranks
// wait, and on from there. Where that comes back to where it has been, operations
// were issued in different orders: it returns all runs of the circle. Else it
// returns the one at which it ends, where the cause is.
func (v *verdict) chain() (runs []int, circle bool) {
	runs = []int{v.Run}
	for i := 0; i < len(runs); i++ {
		run := runs[i]
		absent, _ := v.missing(run)
		if len(absent) == 0 {
			return []int{run}, false
		}
		for _, rank := range absent {
			at := v.stands(run, v.batch.Runs[run].Comm[rank])
			if at == run {
				return []int{run}, false
			}
			if !slices.Contains(runs, at) {
				runs = append(runs, at)
			}
		}
	}
	slices.Sort(runs)
	return runs, true
}

// whoWaits says of runs that wait for each other which GPUs wait where, and for whom.
func (v *verdict) whoWaits(runs []int) string {
	var all []string
	for _, run := range runs {
		r := &v.batch.Runs[run]
		absent, _ := v.missing(run)
		var here, others []int
		for rank, gpu := range r.Comm {
			switch {
			case slices.Contains(absent, rank):
				others = append(others, gpu)
			case v.runs[run].by[rank] < max(r.Iterations, 1):
				here = append(here, gpu)
			}
		}
		if len(here) > 0 {
			all = append(all, fmt.Sprintf("%d wait in %s, call %d (GPUs %s) for GPUs %s", len(here), r.Op, run, emu.FormatRanks(here), emu.FormatRanks(others)))
		}
	}
	return strings.Join(all, ", ")
}
