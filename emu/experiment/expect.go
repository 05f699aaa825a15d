package experiment

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/shaping"
)

// State is whether an expectation holds.
type State string

// The states.
const (
	Held    State = "pass"
	Broken  State = "fail"
	Unknown State = "unjudged"
)

// Judgement is what became of one thing that was expected.
type Judgement struct {
	Entry int    // of the scenario's expect
	Text  string // what was expected
	State State
	Got   string // what it was instead, or is
	// Wall: it is the host's clock that broke it. Got says no figure of that, since it
	// is another one each time.
	Wall bool
}

// Judge fills in what became of the expectations. detected says how long the host
// took to notice the loss of a node's process, in nanoseconds of its own clock; not
// ok where no process was lost. Then emulated time alone decides; else both must.
func (u *Setup) Judge(r *Report, detected func(node string) (ns int64, ok bool)) {
	r.Expect = nil
	for i := range u.Scenario.Expect {
		e := &u.Scenario.Expect[i]
		if e.Detect != "" {
			j := u.judgeDetect(r, e, detected)
			j.Entry = i
			r.Expect = append(r.Expect, j)
			continue
		}
		for k := range e.Wants {
			j := u.judge(r, e.Run, &e.Wants[k])
			j.Entry = i
			r.Expect = append(r.Expect, j)
		}
	}
	for i := range r.Expect {
		if r.Perturbed() && r.Expect[i].State == Broken {
			r.Expect[i].State = Unknown // the file's faults are not all there was
		}
	}
}

func (u *Setup) judgeDetect(r *Report, e *emu.Expectation, detected func(string) (int64, bool)) Judgement {
	j := Judgement{Text: fmt.Sprintf("detect %s within %v", e.Detect, e.Within), State: Broken, Got: "nobody noticed anything of " + e.Detect}
	soonest := shaping.Duration(none)
	notice := func(fault int, at shaping.Time) {
		if d, ok := u.noticed(r, e.Detect, fault, at); ok && (soonest < 0 || d < soonest) {
			soonest = d
			j.Got = fmt.Sprintf("%v, emulated", d)
		}
	}
	for i := range r.Runs {
		for _, a := range r.Runs[i].Attempts {
			if a.Failure != nil {
				notice(a.Failure.Fault, a.Failure.At)
			}
		}
		for _, l := range r.Runs[i].LeftOut {
			notice(l.Fault, l.At)
		}
	}
	if soonest >= 0 && soonest <= e.Within {
		j.State = Held
	}
	if detected == nil {
		return j
	}
	if ns, ok := detected(e.Detect); ok && shaping.Duration(ns) > e.Within/shaping.Nanosecond {
		j.State, j.Wall = Broken, true
		j.Got += "; later by the host's clock"
	}
	return j
}

// noticed returns how long after a fault of a node something was noticed at an instant
// that goes back to it.
func (u *Setup) noticed(r *Report, node string, fault int, at shaping.Time) (shaping.Duration, bool) {
	d, found := shaping.Duration(0), false
	for _, s := range r.Strikes {
		for _, part := range s.Parts {
			if s.Fault == fault && s.From <= at && (part == node || strings.HasPrefix(part, node+"/")) {
				d, found = at.Sub(s.From), true
			}
		}
	}
	return d, found
}

func (u *Setup) judge(r *Report, run int, w *emu.Want) Judgement {
	j := Judgement{Text: fmt.Sprintf("run %d %s %s", run, w.Key, w.Text()), State: Unknown}
	if run >= len(r.Runs) || w.OfRun >= len(r.Runs) {
		j.Got = "it was not run"
		return j
	}
	got := &r.Runs[run]
	if k := emu.LookupWant(w.Key); k.Kind == emu.WantWord {
		j.Got = u.word(got, w.Key)
		j.State = Broken
		if j.Got == w.Word || w.Key == "text" && strings.Contains(j.Got, w.Word) || w.Key == "fault" && u.isFault(got, w.Word) {
			j.State = Held
		}
		if j.Got == "" {
			j.Got = "none"
		}
		return j
	}
	v, ok := figure(got, w.Key)
	if !ok {
		j.Got, j.State = "there is none", Broken
		if w.Key == "wrong" {
			j.Got, j.State = "nothing was compared", Unknown
		}
		return j
	}
	j.Got = emu.LookupWant(w.Key).Kind.String(v)
	low, most := big.NewInt(w.Value), big.NewInt(w.Most)
	value := big.NewInt(v)
	if w.OfRun >= 0 {
		other, ok := figure(&r.Runs[w.OfRun], w.Key)
		if !ok || other == 0 {
			j.Got = fmt.Sprintf("run %d has none", w.OfRun)
			return j
		}
		j.Got += fmt.Sprintf(", %s", ratio(v, other))
		low.Mul(low, big.NewInt(other))
		most.Mul(most, big.NewInt(other))
		value.Mul(value, big.NewInt(millionths))
	}
	j.State = Broken
	if compare(value.Cmp(low), w.Relation) || w.Relation == ".." && value.Cmp(low) >= 0 && value.Cmp(most) <= 0 {
		j.State = Held
	}
	return j
}

const millionths = 1_000_000

// ratio prints a share of another run's figure.
func ratio(v, other int64) string {
	const steps = 10_000 // hundredths of a percent
	p := new(big.Int).Mul(big.NewInt(v), big.NewInt(steps))
	n := p.Div(p, big.NewInt(other)).Int64()
	return fmt.Sprintf("%d.%02d%%", n/100, n%100)
}

func compare(c int, relation string) bool {
	switch relation {
	case "=":
		return c == 0
	case "!=":
		return c != 0
	case "<":
		return c < 0
	case "<=":
		return c <= 0
	case ">":
		return c > 0
	case ">=":
		return c >= 0
	default:
		return false
	}
}

// word returns what a run has under a key.
func (u *Setup) word(r *Run, key string) string {
	if key == "verdict" {
		return string(r.Verdict)
	}
	if r.Failure == nil {
		return ""
	}
	switch key {
	case "cause":
		return string(r.Failure.Cause)
	case "hang":
		return string(r.Failure.Hang)
	case "link":
		return r.Failure.Link
	case "text":
		return r.Failure.Text
	default: // fault
		if r.Failure.Fault < 0 {
			return ""
		}
		return u.FaultName(r.Failure.Fault)
	}
}

func (u *Setup) isFault(r *Run, word string) bool {
	return r.Failure != nil && r.Failure.Fault >= 0 && r.Failure.Fault < len(u.Scenario.Faults) && u.Scenario.Faults[r.Failure.Fault].Type == word
}

// FaultName is what reports call a fault: its name, or its type and target.
func (u *Setup) FaultName(i int) string {
	if i >= len(u.Scenario.Faults) {
		return "a process that died of itself"
	}
	f := &u.Scenario.Faults[i]
	if f.Name != "" {
		return f.Name
	}
	return strings.TrimSpace(f.Type + " " + f.Target)
}

// figure returns what a run has under a key; not ok where it has none.
func figure(r *Run, key string) (int64, bool) {
	f := r.Failure
	at := func(v int) (int64, bool) { return int64(v), v >= 0 }
	span := func(d shaping.Duration) (int64, bool) { return int64(d), d >= 0 }
	switch key {
	case "survivors":
		return int64(r.Survivors), true
	case "wrong":
		return r.Wrong, r.Checked && r.Verdict != Failed
	case "attempts":
		return int64(len(r.Attempts)), true
	case "redone":
		return int64(r.Redone + r.Repeated), true
	case "algbw":
		return int64(r.AlgBW()), r.Verdict != Failed
	case "busbw":
		return int64(r.BusBW()), r.Verdict != Failed
	case "time":
		return int64(r.Time()), r.Verdict != Failed
	case "total":
		return int64(r.Total), len(r.Attempts) > 0
	case "detect":
		return span(r.Detect)
	case "abort":
		return span(r.Abort)
	case "replan":
		return span(r.Replan)
	case "finish":
		return span(r.Finish)
	}
	if f == nil {
		return 0, false
	}
	switch key {
	case "rank":
		return at(f.Rank)
	case "peer":
		return at(f.Peer)
	case "channel":
		return at(f.Channel)
	case "step":
		return at(f.Step)
	default: // seq
		return f.Seq, true
	}
}
