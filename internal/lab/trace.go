package lab

import (
	"encoding/json"
	"fmt"

	"github.com/railyard/railyard/emu/experiment"
	"github.com/railyard/railyard/shaping"
)

// event is one of the Trace Event Format. Times are microseconds.
type event struct {
	Name  string         `json:"name"`
	Cat   string         `json:"cat,omitempty"`
	Phase string         `json:"ph"`
	TS    json.Number    `json:"ts,omitempty"`
	Dur   json.Number    `json:"dur,omitempty"`
	PID   int            `json:"pid"`
	TID   int            `json:"tid"`
	Args  map[string]any `json:"args,omitempty"`
}

// micros prints picoseconds as microseconds, all digits kept.
func micros(ps int64) json.Number {
	const us = int64(shaping.Microsecond)
	return json.Number(fmt.Sprintf("%d.%06d", ps/us, ps%us))
}

// The first process of a trace is the scenario; servers follow.
const (
	attempts = iota
	faults
)

// Trace returns a Chrome trace: attempts and faults, and below when each GPU was in
// which operation.
func Trace(u *experiment.Setup, r *experiment.Report) []byte {
	var all []event
	name := func(pid, tid int, what, text string) {
		all = append(all, event{Name: what, Phase: "M", PID: pid, TID: tid, Args: map[string]any{"name": text}})
	}
	name(0, 0, "process_name", r.Name)
	name(0, attempts, "thread_name", "attempts")
	name(0, faults, "thread_name", "faults")
	for n := range u.Fabric.Nodes() {
		name(1+n, 0, "process_name", fmt.Sprintf("node%d", n))
	}
	for i := range r.Runs {
		for k, a := range r.Runs[i].Attempts {
			e := event{Name: fmt.Sprintf("run %d attempt %d", i, k), Cat: "attempt", Phase: "X", TS: micros(int64(a.Begin)), Dur: micros(int64(a.End.Sub(a.Begin))), TID: attempts}
			if a.Failure != nil {
				e.Args = map[string]any{"failure": a.Failure.Text}
				all = append(all, event{Name: string(a.Failure.Cause), Cat: "failure", Phase: "i", TS: micros(int64(a.Failure.At)), TID: attempts})
			}
			all = append(all, e)
			for _, s := range a.Spans {
				what := r.Runs[i].Calls[s.Call].Algorithm
				all = append(all, event{Name: fmt.Sprintf("%s %d", u.Scenario.Phases[i].Calls[s.Call].Op, s.Iteration), Cat: what, Phase: "X",
					TS: micros(int64(s.Begin)), Dur: micros(int64(s.End.Sub(s.Begin))),
					PID: 1 + u.Fabric.NodeOf(s.GPU), TID: u.Fabric.Local(s.GPU), Args: map[string]any{"rank": s.Rank}})
			}
		}
	}
	end := over(r)
	for _, s := range r.Strikes {
		if s.From > end {
			continue
		}
		all = append(all, event{Name: u.FaultName(s.Fault), Cat: "fault", Phase: "X", TS: micros(int64(s.From)),
			Dur: micros(int64(min(s.To, end).Sub(s.From))), TID: faults, Args: map[string]any{"parts": s.Parts}})
	}
	data, err := json.Marshal(map[string]any{"traceEvents": all, "displayTimeUnit": "ns"})
	if err != nil {
		panic("lab: " + err.Error())
	}
	return append(data, '\n')
}
