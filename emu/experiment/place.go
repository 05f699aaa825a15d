package experiment

import (
	"cmp"
	"slices"
	"strings"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fault"
	"github.com/railyard/railyard/shaping"
)

// Strikes lists when faults strike what, in the order of instants.
func (u *Setup) Strikes() []fault.Struck {
	all := slices.Clone(u.Schedule.Struck())
	slices.SortStableFunc(all, func(a, b fault.Struck) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.Fault, b.Fault))
	})
	return all
}

// blame returns the fault that a failure goes back to, or -1: the one that the
// failure names; of calls that went wrong the one that made its rank do so; of ways
// that died the latest that struck the link, or the only one that was at work.
func (r *runner) blame(f *emu.Failure, b *emu.Batch, t *try, calls []int) int {
	if f.Fault >= 0 {
		return f.Fault
	}
	if f.Rank >= 0 && (f.Cause == emu.Mismatch || f.Hang == emu.MissingEnter) && t.fresh {
		run := &b.Runs[f.Run]
		for _, c := range r.Schedule.Calls() {
			first := t.op(calls[f.Run])
			if c.GPU == run.Comm[f.Rank] && c.Op >= first && c.Op < first+t.phase.Calls[calls[f.Run]].Iterations {
				return c.Fault
			}
		}
	}
	on, at := none, none // the latest on the link; the latest of all
	various := false
	for _, s := range r.report.Strikes {
		if s.From > f.At {
			break
		}
		various = various || at >= 0 && at != s.Fault
		at = s.Fault
		if strikes(s, f.Link) {
			on = s.Fault
		}
	}
	switch {
	case on >= 0:
		return on
	case various:
		return none
	default:
		return at
	}
}

// strikes reports whether a fault struck what a port belongs to: "node1/nic3" has
// the port "node1/nic3/out".
func strikes(s fault.Struck, port string) bool {
	return port != "" && slices.ContainsFunc(s.Parts, func(part string) bool {
		return strings.HasPrefix(port, part+"/") || strings.HasPrefix(port, part+"-") || port == part
	})
}

// since returns how long after its fault struck a failure's cause was noticed first, be
// it in an earlier attempt or run: a fault of calls when they were issued. -1: not known.
func (r *runner) since(run *Run, f *emu.Failure, issued shaping.Time) shaping.Duration {
	if f.Fault >= 0 && f.Fault < len(r.Scenario.Faults) && callsWrong(r.Scenario.Faults[f.Fault].Type) {
		return f.At.Sub(issued)
	}
	from := shaping.Time(none) // when it struck last
	for _, s := range r.report.Strikes {
		if s.Fault == f.Fault && s.From <= f.At {
			from = s.From
		}
	}
	if from < 0 {
		return none
	}
	first := f.At
	notice := func(run *Run) {
		for _, a := range run.Attempts {
			if g := a.Failure; g != nil && g.Fault == f.Fault && g.At >= from {
				first = min(first, g.At)
			}
		}
		for _, l := range run.LeftOut {
			if l.Fault == f.Fault && l.At >= from {
				first = min(first, l.At)
			}
		}
	}
	for i := range r.report.Runs {
		notice(&r.report.Runs[i])
	}
	notice(run)
	return first.Sub(from)
}
