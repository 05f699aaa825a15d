package simtest

import (
	"fmt"
	"slices"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/experiment"
	"github.com/railyard/railyard/emu/fault"
	"github.com/railyard/railyard/shaping"
)

// Check judges from outside the kernel what came of a scenario: every run ends; what
// is done is right; what failed did so for a cause that was there; bytes are
// conserved; policies did what they say.
func (p *Played) Check() error {
	for i := range p.Batches {
		t := truth{Played: p, PlayedBatch: &p.Batches[i], bear: p.Setup.Bear}
		if t.Watchdog > 0 {
			t.bear.Watchdog = t.Watchdog
		}
		if err := t.check(); err != nil {
			return fmt.Errorf("batch %d: %w", i, err)
		}
	}
	for i := range p.Report.Runs {
		if err := p.policy(&p.Report.Runs[i], &p.Setup.Scenario.Phases[i]); err != nil {
			return fmt.Errorf("run %d: %w", i, err)
		}
	}
	if n, want := len(p.Report.Runs), len(p.Setup.Scenario.Phases); n != want {
		return fmt.Errorf("%d of %d runs have a verdict", n, want)
	}
	return nil
}

// truth holds a batch up to the declared faults.
type truth struct {
	*Played
	*PlayedBatch
	bear emu.Resilience
}

func (t *truth) check() error {
	if err := Capacity(t.Setup.Fabric, slices.Clone(t.Records)); err != nil {
		return err
	}
	if err := t.conserved(); err != nil {
		return err
	}
	if f := t.Failure; f != nil {
		if err := t.failed(f); err != nil {
			return fmt.Errorf("%w\n%+v", err, *f)
		}
		return nil
	}
	return t.done()
}

// done checks a batch that no fault ended: all have ended, with what is right, unless
// bits had turned over.
func (t *truth) done() error {
	for i := range t.Runs {
		r := &t.Runs[i]
		if !t.Outcome.Done(i, r) {
			return fmt.Errorf("run %d: not ended on every rank, and no failure", i)
		}
		if len(r.Odd) > 0 {
			return fmt.Errorf("run %d: rank %d calls otherwise, and nobody noticed", i, r.Odd[0].Rank)
		}
	}
	if slices.ContainsFunc(t.Setup.Schedule.Flips(), func(f fault.Flip) bool { return f.At < t.Next() }) {
		return nil
	}
	return Right(t.Batch, t.Verdicts)
}

// failed checks that a cause is typed, and true.
func (t *truth) failed(f *emu.Failure) error {
	if f.Run < 0 || f.Run >= len(t.Runs) {
		return fmt.Errorf("there is no run %d", f.Run)
	}
	comm := t.Runs[f.Run].Comm
	switch {
	case f.Text == "":
		return fmt.Errorf("a failure without words")
	case f.At < t.Runs[f.Run].Offset || f.Abort < f.At:
		return fmt.Errorf("noticed at %d ps, told at %d ps, in a run issued at %d ps", f.At, f.Abort, t.Runs[f.Run].Offset)
	case f.Rank < 0 || f.Rank >= len(comm) || f.Peer >= len(comm):
		return fmt.Errorf("no such rank or peer: %d are in the run", len(comm))
	}
	for _, e := range t.Ends {
		if e.At > f.Abort {
			return fmt.Errorf("rank %d ends at %d ps, after all was dropped", e.Rank, e.At)
		}
	}
	if err := t.lost(f); err != nil {
		return err
	}
	switch f.Cause {
	case emu.PeerLost:
		who := f.Rank
		if f.Link != "" {
			who = f.Peer
		}
		if !t.stops(comm[who], f.At, fault.Killed, fault.Lost) {
			return fmt.Errorf("rank %d is there", who)
		}
	case emu.LinkDown:
		return t.severed(f)
	case emu.Mismatch:
		if !slices.ContainsFunc(t.Runs[f.Run].Odd, func(o emu.Odd) bool { return o.Rank == f.Rank }) || f.Hang != emu.SignatureMismatch {
			return fmt.Errorf("rank %d calls as the others do", f.Rank)
		}
	case emu.Deadlock:
		if !t.calls(fault.Swaps) || len(t.Runs[f.Run].After) == 0 {
			return fmt.Errorf("nobody called in another order")
		}
	case emu.Timeout:
		return t.hung(f)
	default:
		return fmt.Errorf("no such cause: %q", f.Cause)
	}
	return nil
}

// stops reports whether a GPU had been stopped in one of some ways at an instant, and
// still is.
func (t *truth) stops(gpu int, at shaping.Time, how ...fault.How) bool {
	return slices.ContainsFunc(t.Setup.Schedule.Stops(), func(s fault.Stop) bool {
		return s.GPU == gpu && s.At <= at && s.Until > at && slices.Contains(how, s.How)
	})
}

// calls reports whether some rank was to call in a wrong way.
func (t *truth) calls(how fault.Wrong) bool {
	return slices.ContainsFunc(t.Setup.Schedule.Calls(), func(c fault.Call) bool { return c.Wrong == how })
}

// lost checks who can not go on: those whose GPU has stopped, who never came, or who
// are behind a NIC that is dead.
func (t *truth) lost(f *emu.Failure) error {
	r := &t.Runs[f.Run]
	for i, rank := range f.Lost {
		if i > 0 && rank <= f.Lost[i-1] || rank < 0 || rank >= len(r.Comm) {
			return fmt.Errorf("lost are %v: not in order, or not there", f.Lost)
		}
		gpu := r.Comm[rank]
		switch {
		case t.stops(gpu, f.Abort, fault.Killed, fault.Lost, fault.Hung, fault.Paused):
		case f.Hang == emu.MissingEnter && t.stayedOut(f, rank):
		case f.Cause == emu.LinkDown && t.unplugged(t.Setup.Fabric.NodeOf(gpu), f.At):
		default:
			return fmt.Errorf("rank %d is not lost", rank)
		}
	}
	for rank, gpu := range r.Comm {
		if t.stops(gpu, f.Abort, fault.Killed, fault.Lost, fault.Hung) && !slices.Contains(f.Lost, rank) {
			return fmt.Errorf("rank %d is lost, and not said to be", rank)
		}
	}
	return nil
}

// stayedOut reports whether a rank had entered no more operations than the slowest
// had ended.
func (t *truth) stayedOut(f *emu.Failure, rank int) bool {
	for _, p := range t.Progress {
		if p.Run == f.Run && p.Rank == rank {
			return int64(p.Entered)+t.Runs[f.Run].First <= f.Seq
		}
	}
	return false
}

// unplugged reports whether some NIC of a node loses what it sends or is sent, or is
// parted from others, at some time up to an instant.
func (t *truth) unplugged(node int, at shaping.Time) bool {
	f, s := t.Setup.Fabric, t.Setup.Schedule
	for nic := range f.NICs(node) {
		if worst(s.Port(f.NICEgress(node, nic)), 0, at) || worst(s.Port(f.NICIngress(node, nic)), 0, at) {
			return true
		}
	}
	for other := range f.Nodes() {
		if _, apart := s.Apart(node, other).DownDuring(0, at); apart {
			return true
		}
	}
	return false
}

// policy checks what was done about failures.
func (p *Played) policy(run *experiment.Run, phase *emu.Phase) error {
	if len(run.Attempts) > phase.MaxAttempts {
		return fmt.Errorf("%d attempts, and %d are allowed", len(run.Attempts), phase.MaxAttempts)
	}
	if len(run.Attempts) == 0 {
		if run.Verdict != experiment.Failed || run.Failure == nil || run.Failure.Cause != emu.Aborted {
			return fmt.Errorf("no attempt, and the verdict is %q", run.Verdict)
		}
		return nil
	}
	for k, a := range run.Attempts {
		last := k == len(run.Attempts)-1
		switch {
		case !last && a.Failure == nil:
			return fmt.Errorf("attempt %d went well, and there is another", k)
		case k > 0 && a.Begin < run.Attempts[k-1].Failure.Abort.Add(p.Setup.Bear.Replan):
			return fmt.Errorf("attempt %d begins before anybody could agree on it", k)
		case last && (a.Failure == nil) != (run.Verdict != experiment.Failed) && len(run.Attempts) > 1 && phase.OnFailure != emu.Shrink:
			return fmt.Errorf("the last attempt ends with %+v, and the verdict is %q", a.Failure, run.Verdict)
		}
	}
	if run.Verdict == experiment.Failed {
		return nil
	}
	for i := range phase.Calls {
		if c := &run.Calls[i]; c.Iterations > phase.Calls[i].Iterations {
			return fmt.Errorf("call %d: %d of %d iterations", i, c.Iterations, phase.Calls[i].Iterations)
		}
	}
	if phase.OnFailure == emu.Shrink {
		return p.withoutLost(run)
	}
	return nil
}

// withoutLost checks that no shrunk communicator has a GPU that had stopped for good
// when it was made.
func (p *Played) withoutLost(run *experiment.Run) error {
	n := len(run.Attempts)
	if n < 2 {
		return nil
	}
	for _, c := range run.Calls {
		if c.Iterations == 0 {
			continue // it was over before
		}
		for _, s := range p.Setup.Schedule.Stops() {
			if s.At <= run.Attempts[n-2].Failure.Abort && s.How != fault.Paused && slices.Contains(c.Comm, s.GPU) {
				return fmt.Errorf("GPU %d has stopped, and is in the communicator that was made then: %v", s.GPU, c.Comm)
			}
		}
	}
	return nil
}
