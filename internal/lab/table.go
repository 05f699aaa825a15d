package lab

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/experiment"
	"github.com/railyard/railyard/shaping"
)

// What says in a line what a phase is.
func What(p *emu.Phase, r *experiment.Run) string {
	var all []string
	for i := range p.Calls {
		c := &p.Calls[i]
		s := fmt.Sprintf("%s %s", c.Op, c.Bytes)
		if i < len(r.Calls) && r.Calls[i].Algorithm != "" {
			s += " " + r.Calls[i].Algorithm
			if p := r.Calls[i].Protocol; p != "" { // else it was left to choose, and was not run
				s += "/" + p
			}
		}
		if c.Iterations > 1 {
			s += fmt.Sprintf(" %d times", c.Iterations)
		}
		all = append(all, s)
	}
	return strings.Join(all, " + ")
}

// Table returns a report for people: the verdict first.
func Table(u *experiment.Setup, r *experiment.Report, state State) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s%s\n", strings.ToUpper(verdict(r, state)), r.Name, tally(r))
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "\nrun\twhat\tverdict\tattempts\tsurvivors\ttime\tbusbw\twrong\tcause\n")
	for i := range r.Runs {
		run := &r.Runs[i]
		fmt.Fprintf(w, "%d\t%s\t%s\t%d\t%d\t%s\t%s\t%s\t%s\n", run.Index, What(&u.Scenario.Phases[run.Index], run), run.Verdict, len(run.Attempts), run.Survivors,
			timeOf(run), busOf(run), wrongOf(run), causeOf(run))
	}
	w.Flush()
	for i := range r.Runs {
		details(&b, u, &r.Runs[i])
	}
	strikes(&b, u, r, state)
	if len(r.Expect) > 0 {
		b.WriteString("\nexpected\n")
		w = tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		for _, j := range r.Expect {
			fmt.Fprintf(w, "  %s\t%s\t%s\n", j.State, j.Text, j.Got)
		}
		w.Flush()
	}
	return b.String()
}

// tally counts what held.
func tally(r *experiment.Report) string {
	if len(r.Expect) == 0 {
		return ""
	}
	held := 0
	for _, j := range r.Expect {
		if j.State == experiment.Held {
			held++
		}
	}
	return fmt.Sprintf(": %d of %d expectations hold", held, len(r.Expect))
}

func timeOf(r *experiment.Run) string {
	if r.Verdict == experiment.Failed {
		return "-"
	}
	return r.Time().String()
}

func busOf(r *experiment.Run) string {
	if r.Verdict == experiment.Failed {
		return "-"
	}
	const hundredth = 10_000_000 // of a GB/s
	v := (int64(r.BusBW()) + hundredth/2) / hundredth
	return fmt.Sprintf("%d.%02d GB/s", v/100, v%100)
}

func wrongOf(r *experiment.Run) string {
	if !r.Checked || r.Verdict == experiment.Failed {
		return "N/A"
	}
	return fmt.Sprint(r.Wrong)
}

func causeOf(r *experiment.Run) string {
	if r.Failure == nil {
		return "-"
	}
	if r.Failure.Hang != "" {
		return fmt.Sprintf("%s, %s", r.Failure.Cause, r.Failure.Hang)
	}
	return string(r.Failure.Cause)
}

// details says of a run what does not fit its line.
func details(b *strings.Builder, u *experiment.Setup, r *experiment.Run) {
	if r.Failure == nil && r.Redone == 0 && len(r.Places) == 0 && r.Perturbed == 0 && len(r.LeftOut) == 0 {
		return
	}
	fmt.Fprintf(b, "\nrun %d\n", r.Index)
	for k, a := range r.Attempts {
		what := "all ranks ended"
		if a.Failure != nil {
			what = a.Failure.Text
		}
		fmt.Fprintf(b, "  attempt %d, %v to %v on %d ranks: %s\n", k, a.Begin, a.End, a.Ranks, what)
	}
	if len(r.Attempts) == 0 && r.Failure != nil {
		fmt.Fprintf(b, "  %s\n", r.Failure.Text)
	}
	if r.GaveUp != "" {
		fmt.Fprintf(b, "  gave up: %s\n", r.GaveUp)
	}
	for _, l := range r.LeftOut {
		fmt.Fprintf(b, "  left out node%d/gpu%d (GPU %d), of whose end all knew from %v on: %s\n", u.Fabric.NodeOf(l.GPU), u.Fabric.Local(l.GPU), l.GPU, l.At, u.FaultName(l.Fault))
	}
	if f := r.Failure; f != nil && f.Fault >= 0 {
		fmt.Fprintf(b, "  goes back to %s\n", u.FaultName(f.Fault))
	}
	if r.Perturbed > 0 {
		fmt.Fprintf(b, "  perturbed at %v: a process died that no fault was to kill; another time it will be another instant\n", r.Perturbed)
	}
	var times []string
	for _, t := range []struct {
		what string
		d    shaping.Duration
	}{{"detect", r.Detect}, {"abort", r.Abort}, {"re-plan", r.Replan}, {"finish", r.Finish}, {"in all", r.Total}} {
		if t.d >= 0 && len(r.Attempts) > 0 {
			times = append(times, fmt.Sprintf("%s %v", t.what, t.d))
		}
	}
	if len(times) > 0 {
		fmt.Fprintf(b, "  emulated: %s\n", strings.Join(times, ", "))
	}
	if r.Redone+r.Repeated > 0 {
		fmt.Fprintf(b, "  sent again by transports %s, repeated by attempts %s\n", amount(r.Redone), amount(r.Repeated))
	}
	const most = 8
	for i, p := range r.Places {
		if i == most {
			fmt.Fprintf(b, "  … and on %d more ranks\n", len(r.Places)-most)
			break
		}
		fmt.Fprintf(b, "  wrong: %d elements on rank %d (GPU %d), the first are %v\n", p.Wrong, p.Rank, p.GPU, p.First)
	}
}

// amount prints bytes in MB, 10^6 bytes.
func amount(b shaping.Bytes) string {
	const tenth = 100_000
	v := (int64(b) + tenth/2) / tenth
	return fmt.Sprintf("%d.%d MB", v/10, v%10)
}

func strikes(b *strings.Builder, u *experiment.Setup, r *experiment.Report, state State) {
	if len(u.Scenario.Faults) == 0 {
		return
	}
	b.WriteString("\nfaults\n")
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	end := over(r)
	for _, s := range r.Strikes {
		when := s.From.String()
		if s.To != shaping.Never {
			when += " to " + s.To.String()
		}
		late := ""
		if state == Complete && s.From > end {
			late = "after all was over"
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\t%s\n", when, u.FaultName(s.Fault), parts(s.Parts), late)
	}
	for i := range u.Scenario.Faults {
		if struck(r, i) {
			continue
		}
		when, nothing := "in calls", ""
		switch {
		case u.Scenario.Faults[i].Type == "gdr-lost":
			when = "all the time"
		case state == Complete && idle(u, r, i):
			when, nothing = "never", "struck nothing"
		}
		fmt.Fprintf(w, "  %s\t%s\t\t%s\n", when, u.FaultName(i), nothing)
	}
	w.Flush()
}

func struck(r *experiment.Report, i int) bool {
	for _, s := range r.Strikes {
		if s.Fault == i {
			return true
		}
	}
	return false
}

// idle reports whether a fault neither struck nor made a call differ: the operation
// had that size anyway, or never came, or chance was against it.
func idle(u *experiment.Setup, r *experiment.Report, i int) bool {
	return u.Scenario.Faults[i].Type != "gdr-lost" && !struck(r, i) && !slices.Contains(r.Called, i)
}

func parts(names []string) string {
	const most = 4
	if len(names) > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(names, ", ")
}
