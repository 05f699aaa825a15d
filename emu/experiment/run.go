package experiment

import (
	"fmt"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/shaping"
)

// Executed is what an executor says of a batch.
type Executed struct {
	emu.Outcome
	// Wrong counts wrong elements for each run; nil when nothing was compared. The
	// outcome's WrongRanks say where.
	Wrong []int64
}

// Executor runs a batch to its end. A batch that faults ended has a Failure, and no
// error.
type Executor func(emu.Batch) (Executed, error)

// Watcher is told as things happen.
type Watcher struct {
	Event func(Event) error // nil: nobody
	// Run is told the report at the beginning, and each time a run is complete.
	Run func(*Report) error
}

// Event is something that happened, for logs.
type Event struct {
	At   shaping.Time
	Kind string // "issue", "done", "failure", "abort"
	Run  int
	// Attempt counts from 0.
	Attempt int
	Text    string
	Failure *emu.Failure
}

// runner carries a scenario out once.
type runner struct {
	*Setup
	execute Executor
	watch   Watcher
	report  Report

	at   shaping.Time
	op   int              // number of the next phase's first operation
	lost map[int]bool     // GPUs that shrunk communicators left out
	seq  map[string]int64 // operations that a communicator has ended
	over string           // why nothing more is run
}

// Run carries the scenario out. The report is there, up to where it came, on an
// error as well.
func (u *Setup) Run(execute Executor, watch Watcher) (*Report, error) {
	r := &runner{Setup: u, execute: execute, watch: watch, lost: map[int]bool{}, seq: map[string]int64{}}
	r.report = Report{Name: u.Scenario.Name, Strikes: u.Strikes()}
	if err := r.tell(); err != nil {
		return &r.report, err
	}
	for i := range u.Scenario.Phases {
		p := &u.Scenario.Phases[i]
		run, err := r.run(i, p)
		if err != nil {
			return &r.report, fmt.Errorf("run %d: %w", i, err)
		}
		r.op += p.Operations()
		r.report.Runs = append(r.report.Runs, run)
		if err := r.tell(); err != nil {
			return &r.report, err
		}
	}
	return &r.report, nil
}

// tell says what the report is so far.
func (r *runner) tell() error {
	if r.watch.Run == nil {
		return nil
	}
	return r.watch.Run(&r.report)
}

func (r *runner) say(kind string, at shaping.Time, run, attempt int, f *emu.Failure, text string, args ...any) error {
	if r.watch.Event == nil {
		return nil
	}
	return r.watch.Event(Event{At: at, Kind: kind, Run: run, Attempt: attempt, Text: fmt.Sprintf(text, args...), Failure: f})
}

// run carries a phase out: attempts, until one goes well or there is nothing more to
// try.
func (r *runner) run(index int, p *emu.Phase) (Run, error) {
	run := Run{Index: index, Detect: none, Abort: none, Replan: none, Finish: none, Checked: true}
	if r.over != "" {
		return r.skipped(run, p)
	}
	begin := r.at
	var gone []int // GPUs that the last failure cost
	done := make([]int, len(p.Calls))
	for k := 0; ; k++ {
		if p.OnFailure == emu.Shrink {
			run.LeftOut = append(run.LeftOut, r.doWithout(p)...)
		}
		t, err := r.begin(p, r.op, done, k == 0)
		if err != nil {
			r.over = err.Error()
			if k == 0 {
				return r.skipped(run, p)
			}
			run.GaveUp = "those that are left can not do it: " + plain(err)
			break
		}
		again := shaping.Bytes(0)
		if k > 0 {
			for i, c := range t.cases {
				again += moved(c, p.Calls[i].Iterations-done[i])
			}
			run.Replan = r.at.Sub(run.Attempts[k-1].End)
		}
		a, err := r.attempt(&run, t, k)
		if err != nil {
			return run, err
		}
		run.Attempts = append(run.Attempts, a)
		if run.Redone += a.Redone; a.End > a.Begin { // else nothing was launched
			run.Repeated += again
		}
		run.Finish = a.End.Sub(a.Begin)
		run.Total = a.End.Sub(begin)
		if a.Failure == nil {
			run.Verdict = Done
			break
		}
		run.Verdict, run.Failure = Failed, a.Failure
		run.Detect, run.Abort = r.since(&run, a.Failure, t.began), a.Failure.Abort.Sub(a.Failure.At)
		gone = t.lostIn(a.Failure)
		var goOn bool
		if goOn, run.GaveUp = r.recover(p, t, gone, k+1); !goOn {
			r.over = fmt.Sprintf("run %d failed", index)
			break
		}
	}
	if run.Verdict == Done && run.Wrong > 0 {
		run.Verdict = Wrong
	}
	if run.Verdict == Failed {
		run.Checked = false
		r.leaveOut(gone)
	}
	run.Survivors = r.survivors(p)
	return run, nil
}

const none = -1

// skipped is a run that never was: what came before it failed for good.
func (r *runner) skipped(run Run, p *emu.Phase) (Run, error) {
	run.Verdict, run.Checked = Failed, false
	run.Failure = &emu.Failure{Cause: emu.Aborted, Run: run.Index, Rank: none, Peer: none, Channel: none, Step: none, Fault: none,
		At: r.at, Abort: r.at, Text: "not run: " + r.over}
	for i := range p.Calls {
		c := &p.Calls[i]
		run.Calls = append(run.Calls, Result{Algorithm: c.Algorithm, Protocol: c.Protocol, Comm: r.comm(c, r.lost), Bytes: int64(c.Bytes)})
	}
	run.Survivors = r.survivors(p)
	return run, r.say("skip", r.at, run.Index, 0, run.Failure, "%s", run.Failure.Text)
}

// attempt executes what is left of a phase, batch after batch.
func (r *runner) attempt(run *Run, t *try, k int) (Attempt, error) {
	a := Attempt{Begin: r.at, End: r.at}
	for i := range t.comms {
		a.Ranks += len(t.comms[i])
	}
	run.Calls = run.Calls[:0]
	for i, c := range t.cases {
		run.Calls = append(run.Calls, Result{Algorithm: c.Chosen.Algorithm, Protocol: c.Chosen.Protocol.String(), Channels: c.Channels,
			Comm: t.comms[i], Bytes: c.Size, Count: c.Count})
	}
	if err := r.say("issue", r.at, run.Index, k, nil, "%s on %d ranks", t.phase.Calls[0].Op, a.Ranks); err != nil {
		return a, err
	}
	if f := t.stillborn(); f != nil {
		return a, r.fail(run, &a, f, r.at, k)
	}
	spent := make([]shaping.Duration, len(t.cases))
	for {
		n, some := t.left()
		if !some {
			break
		}
		b, calls := t.batch(r.at, n)
		if len(b.Runs) == 0 { // without elements nothing is launched
			for i := range n {
				t.done[i] += n[i]
			}
			continue
		}
		t.began = r.at
		res, err := r.execute(b)
		if err != nil {
			return a, err
		}
		r.take(run, t, &a, &b, calls, &res, spent)
		r.at = res.Next()
		if f := res.Failure; f != nil {
			f.Fault = r.blame(f, &b, t, calls)
			f.Run = calls[f.Run]
			return a, r.fail(run, &a, f, f.Abort, k)
		}
	}
	for i := range run.Calls {
		c := &run.Calls[i]
		if c.Iterations > 0 {
			c.Time = spent[i] / shaping.Duration(c.Iterations)
			c.AlgBW, c.BusBW = bandwidths(t.phase.Calls[i].Op, len(c.Comm), c.Bytes, c.Time)
		}
	}
	return a, r.say("done", a.End, run.Index, k, nil, "all ranks have ended")
}

// fail ends an attempt at an instant by which all ranks know that it failed.
func (r *runner) fail(run *Run, a *Attempt, f *emu.Failure, end shaping.Time, k int) error {
	a.Failure, a.End = f, end
	r.at = end.Add(r.Bear.Replan)
	// One that was known before the attempt is told of as the attempt finds it.
	if err := r.say("failure", max(f.At, a.Begin), run.Index, k, f, "%s", f.Text); err != nil {
		return err
	}
	return r.say("abort", end, run.Index, k, nil, "all ranks know")
}

// take adds what a batch gave to a run.
func (r *runner) take(run *Run, t *try, a *Attempt, b *emu.Batch, calls []int, res *Executed, spent []shaping.Duration) {
	a.Redone += res.Redone
	if run.Perturbed == 0 {
		run.Perturbed = res.Perturbed
	}
	// What a batch left that was ended, or whose elements nobody followed to the end, is
	// no result: somebody may have died while it was being compared.
	unfollowed := res.Failure != nil || res.Perturbed > 0
	for i := range b.Runs {
		call, n := calls[i], ended(&b.Runs[i], i, res.Ends)
		if len(b.Runs[i].Odd) > 0 {
			n = 0 // what went through is no result
		}
		t.done[call] += n
		run.Calls[call].Iterations += n
		spent[call] += res.Period(i, &b.Runs[i], 0) * shaping.Duration(n)
		r.seq[key(b.Runs[i].Comm)] += int64(n)
		if res.Failure == nil && res.Wrong == nil {
			run.Checked = false
		}
		if res.Wrong != nil && !unfollowed {
			run.Wrong += res.Wrong[i]
		}
	}
	for _, w := range res.WrongRanks {
		if unfollowed {
			break
		}
		run.Places = append(run.Places, Place{Call: calls[w.Run], Rank: w.Rank, GPU: b.Runs[w.Run].Comm[w.Rank], Wrong: w.Elements, First: w.First})
	}
	last := map[[2]int]shaping.Time{} // run and rank → when its last operation ended
	for _, e := range res.Ends {
		br := &b.Runs[e.Run]
		begin, ok := last[[2]int{e.Run, e.Rank}]
		if !ok {
			begin = br.Offset
		}
		last[[2]int{e.Run, e.Rank}] = e.At
		a.Spans = append(a.Spans, Span{Call: calls[e.Run], Rank: e.Rank, GPU: br.Comm[e.Rank], Iteration: int(br.First) + e.Iteration, Begin: begin, End: e.At})
		a.End = max(a.End, e.At)
	}
}

// ended returns how many iterations of a run all ranks have ended.
func ended(r *emu.Run, index int, ends []emu.End) int {
	ranks := make([]int, r.Iterations)
	for _, e := range ends {
		if e.Run == index {
			ranks[e.Iteration]++
		}
	}
	n := 0
	for n < len(ranks) && ranks[n] == len(r.Comm) {
		n++
	}
	return n
}

// recover does what the policy says about the last of so many attempts, which failed,
// and reports whether there is another; if not, although the policy is to try again,
// why.
func (r *runner) recover(p *emu.Phase, t *try, gone []int, attempts int) (again bool, why string) {
	if p.OnFailure != emu.Retry && p.OnFailure != emu.Shrink {
		return false, ""
	}
	if attempts >= p.MaxAttempts {
		return false, fmt.Sprintf("maxAttempts is %d", p.MaxAttempts)
	}
	for _, comm := range t.comms {
		delete(r.seq, key(comm)) // the next one begins to count anew
	}
	if p.OnFailure == emu.Shrink {
		if len(gone) == 0 {
			return false, "no rank is lost that shrink could leave out, so that it would fail again"
		}
		r.leaveOut(gone)
	}
	return true, ""
}

// lostIn returns the GPUs that a failure leaves unable to go on.
func (t *try) lostIn(f *emu.Failure) []int {
	var gpus []int
	for _, rank := range f.Lost {
		gpus = append(gpus, t.comms[f.Run][rank])
	}
	return gpus
}

func (r *runner) leaveOut(gpus []int) {
	for _, gpu := range gpus {
		r.lost[gpu] = true
	}
}

// survivors counts the GPUs of a phase's communicators that can go on.
func (r *runner) survivors(p *emu.Phase) int {
	all := map[int]bool{}
	for i := range p.Calls {
		for _, g := range r.comm(&p.Calls[i], r.lost) {
			all[g] = true
		}
	}
	return len(all)
}
