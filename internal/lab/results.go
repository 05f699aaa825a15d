package lab

import (
	"encoding/json"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/experiment"
	"github.com/railyard/railyard/shaping"
)

// Results is results.json. Times are picoseconds of emulated time, rates bytes a
// second; what does not apply is left out.
type Results struct {
	Name    string `json:"name"`
	Verdict string `json:"verdict"` // pass, fail, unjudged; running, interrupted: see State
	Seed    uint64 `json:"seed"`
	Nodes   int    `json:"nodes"`
	GPUs    int    `json:"gpus"`

	Runs   []Run    `json:"runs"`
	Faults []Strike `json:"faults"`
	Idle   []Idle   `json:"struck_nothing,omitempty"`
	Expect []Expect `json:"expect"`
}

// State is how far a scenario has come when its report is written.
type State int

// The states.
const (
	Running     State = iota // more is to come
	Interrupted              // somebody ended it: nothing more comes
	Stranded                 // the emulation itself failed, and nothing can be said of the rest
	Complete
)

// Run is what became of an entry of the scenario's run.
type Run struct {
	Run       int       `json:"run"`
	What      string    `json:"what"`
	Verdict   string    `json:"verdict"`
	Survivors int       `json:"survivors"`
	Checked   bool      `json:"checked"`
	Wrong     int64     `json:"wrong"`
	Places    []Place   `json:"wrong_at,omitempty"`
	Time      int64     `json:"time_ps"`
	AlgBW     int64     `json:"algbw_bytes_per_s"`
	BusBW     int64     `json:"busbw_bytes_per_s"`
	Total     int64     `json:"total_ps"`
	Detect    *int64    `json:"detect_ps,omitempty"`
	Abort     *int64    `json:"abort_ps,omitempty"`
	Replan    *int64    `json:"replan_ps,omitempty"`
	Finish    *int64    `json:"finish_ps,omitempty"`
	Redone    int64     `json:"redone_bytes"`
	Repeated  int64     `json:"repeated_bytes"`
	Perturbed int64     `json:"perturbed_ps,omitempty"` // a process died that no fault was to kill
	Failure   *Failure  `json:"failure,omitempty"`
	GaveUp    string    `json:"gave_up,omitempty"` // why there was no further attempt
	LeftOut   []LeftOut `json:"left_out,omitempty"`
	Attempts  []Attempt `json:"attempts"`
	Calls     []Call    `json:"calls"`
}

// Place is where elements are wrong.
type Place struct {
	Call  int     `json:"call"`
	Rank  int     `json:"rank"`
	GPU   int     `json:"gpu"`
	Wrong int64   `json:"wrong"`
	First []int64 `json:"first_elements"` // a few
}

// Failure is why an attempt failed. Positions that mean nothing are left out.
type Failure struct {
	Cause   string `json:"cause"`
	Hang    string `json:"hang,omitempty"`
	Call    int    `json:"call"`
	Seq     int64  `json:"seq"`
	Rank    *int   `json:"rank,omitempty"`
	Channel *int   `json:"channel,omitempty"`
	Step    *int   `json:"step,omitempty"`
	Peer    *int   `json:"peer,omitempty"`
	Link    string `json:"link,omitempty"`
	Fault   *int   `json:"fault,omitempty"`
	At      int64  `json:"at_ps"`
	Abort   int64  `json:"abort_ps"`
	Lost    []int  `json:"lost_ranks,omitempty"`
	Text    string `json:"text"`
}

// LeftOut is a GPU that was known to be gone when a communicator was made.
type LeftOut struct {
	GPU   int   `json:"gpu"`
	Fault int   `json:"fault"`
	At    int64 `json:"known_ps"`
}

// Attempt is one try.
type Attempt struct {
	Begin   int64    `json:"begin_ps"`
	End     int64    `json:"end_ps"`
	Ranks   int      `json:"ranks"`
	Redone  int64    `json:"redone_bytes"`
	Failure *Failure `json:"failure,omitempty"`
}

// Call is what a call was in the final attempt.
type Call struct {
	Algorithm  string `json:"algorithm"`
	Protocol   string `json:"protocol"`
	Channels   int    `json:"channels"`
	Ranks      int    `json:"ranks"`
	GPUs       string `json:"on_gpus"`
	Bytes      int64  `json:"bytes"`
	Count      int64  `json:"count"`
	Iterations int    `json:"iterations"`
	Time       int64  `json:"time_ps"`
	AlgBW      int64  `json:"algbw_bytes_per_s"`
	BusBW      int64  `json:"busbw_bytes_per_s"`
}

// Strike is when a fault struck what.
type Strike struct {
	Fault int      `json:"fault"`
	Name  string   `json:"name"`
	Type  string   `json:"type"`
	From  int64    `json:"from_ps"`
	To    *int64   `json:"to_ps,omitempty"` // left out: for good
	Parts []string `json:"parts"`
	// Late: it would have struck after all was over.
	Late bool `json:"after_the_end,omitempty"`
}

// Idle is a fault that neither struck nor made a call differ.
type Idle struct {
	Fault int    `json:"fault"`
	Name  string `json:"name"`
	Type  string `json:"type"`
}

// Expect is what became of an expectation.
type Expect struct {
	Entry int    `json:"entry"`
	Text  string `json:"text"`
	State string `json:"state"`
	Got   string `json:"got"`
	Wall  bool   `json:"by_wall_clock,omitempty"`
}

// NewResults puts a report into words. Until it is complete its verdict is its state.
func NewResults(u *experiment.Setup, r *experiment.Report, state State) *Results {
	s := &Results{Name: r.Name, Verdict: verdict(r, state), Seed: u.Scenario.Cluster.Seed, Nodes: u.Fabric.Nodes(), GPUs: u.Fabric.GPUs(),
		Runs: []Run{}, Faults: []Strike{}, Expect: []Expect{}}
	for i := range r.Runs {
		s.Runs = append(s.Runs, newRun(u, &r.Runs[i]))
	}
	end := over(r)
	for _, k := range r.Strikes {
		strike := Strike{Fault: k.Fault, Name: u.FaultName(k.Fault), Type: u.Scenario.Faults[k.Fault].Type, From: int64(k.From), Parts: k.Parts, Late: state == Complete && k.From > end}
		if k.To != shaping.Never {
			to := int64(k.To)
			strike.To = &to
		}
		s.Faults = append(s.Faults, strike)
	}
	for i := range u.Scenario.Faults {
		if f := &u.Scenario.Faults[i]; state == Complete && idle(u, r, i) {
			s.Idle = append(s.Idle, Idle{i, u.FaultName(i), f.Type})
		}
	}
	for _, j := range r.Expect {
		s.Expect = append(s.Expect, Expect{Entry: j.Entry, Text: j.Text, State: string(j.State), Got: j.Got, Wall: j.Wall})
	}
	return s
}

func verdict(r *experiment.Report, state State) string {
	switch {
	case state == Running:
		return "running"
	case state == Interrupted:
		return "interrupted"
	case state == Stranded:
		return "unjudged"
	case r.Passed():
		return "pass"
	case r.Unjudged():
		return "unjudged"
	default:
		return "fail"
	}
}

// over returns when the last attempt was over.
func over(r *experiment.Report) shaping.Time {
	end := shaping.Time(0)
	for i := range r.Runs {
		for _, a := range r.Runs[i].Attempts {
			end = max(end, a.End)
		}
	}
	return end
}

func newRun(u *experiment.Setup, r *experiment.Run) Run {
	run := Run{Run: r.Index, What: What(&u.Scenario.Phases[r.Index], r), Verdict: string(r.Verdict), Survivors: r.Survivors, Checked: r.Checked, Wrong: r.Wrong,
		Total: int64(r.Total), Detect: span(r.Detect), Abort: span(r.Abort), Replan: span(r.Replan), Finish: span(r.Finish),
		Redone: int64(r.Redone), Repeated: int64(r.Repeated), Perturbed: int64(r.Perturbed), Failure: newFailure(r.Failure), GaveUp: r.GaveUp, Attempts: []Attempt{}, Calls: []Call{}}
	if len(r.Calls) > 0 {
		run.Time, run.AlgBW, run.BusBW = int64(r.Time()), int64(r.AlgBW()), int64(r.BusBW())
	}
	for _, p := range r.Places {
		run.Places = append(run.Places, Place(p))
	}
	for _, l := range r.LeftOut {
		run.LeftOut = append(run.LeftOut, LeftOut{l.GPU, l.Fault, int64(l.At)})
	}
	for _, a := range r.Attempts {
		run.Attempts = append(run.Attempts, Attempt{int64(a.Begin), int64(a.End), a.Ranks, int64(a.Redone), newFailure(a.Failure)})
	}
	for _, c := range r.Calls {
		run.Calls = append(run.Calls, Call{c.Algorithm, c.Protocol, c.Channels, len(c.Comm), emu.FormatRanks(c.Comm), c.Bytes, c.Count, c.Iterations,
			int64(c.Time), int64(c.AlgBW), int64(c.BusBW)})
	}
	return run
}

func span(d shaping.Duration) *int64 {
	if d < 0 {
		return nil
	}
	v := int64(d)
	return &v
}

func newFailure(f *emu.Failure) *Failure {
	if f == nil {
		return nil
	}
	at := func(v int) *int {
		if v < 0 {
			return nil
		}
		return &v
	}
	return &Failure{Cause: string(f.Cause), Hang: string(f.Hang), Call: f.Run, Seq: f.Seq, Rank: at(f.Rank), Channel: at(f.Channel), Step: at(f.Step),
		Peer: at(f.Peer), Link: f.Link, Fault: at(f.Fault), At: int64(f.At), Abort: int64(f.Abort), Lost: f.Lost, Text: f.Text}
}

// JSON returns the text of results.json.
func (s *Results) JSON() []byte { return pretty(s) }

func pretty(v any) []byte {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		panic("lab: " + err.Error()) // there is nothing in it that could not be written
	}
	return append(data, '\n')
}
