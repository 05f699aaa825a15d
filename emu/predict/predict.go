package predict

import (
	"fmt"
	"slices"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/fault"
	"github.com/railyard/railyard/emu/kernel"
	"github.com/railyard/railyard/emu/transit"
	"github.com/railyard/railyard/emu/trial"
	"github.com/railyard/railyard/shaping"
)

// Session is a cluster in one kernel.
type Session struct {
	fabric *fabric.Fabric
	kernel *kernel.Kernel
	// Visit, when set, sees the effects after every few thousand events:
	// records to write, in the order of their events, and moves to carry out, in
	// the order in which they were done.
	Visit func(*kernel.Effects) error
	// Stop, when set, is asked as often whether to give up.
	Stop   func() error
	faults *fault.Schedule
	bear   emu.Resilience
	// held are records of the latest instant, to which more may come.
	held []emu.Record
}

// New returns a session on a cluster. With record set, Visit sees a timeline.
func New(f *fabric.Fabric, record bool) *Session {
	o := transit.Owners{Node: make([]int, f.Nodes())}
	return &Session{fabric: f, kernel: kernel.New(kernel.Config{Fabric: f, Owners: o, Record: record})}
}

// NewFaulty returns a session that faults strike, and whose transports bear them
// as told.
func NewFaulty(f *fabric.Fabric, record bool, s *fault.Schedule, bear emu.Resilience) *Session {
	o := transit.Owners{Node: make([]int, f.Nodes())}
	return &Session{fabric: f, faults: s, bear: bear,
		kernel: kernel.New(kernel.Config{Fabric: f, Owners: o, Record: record, Faults: s, Bear: bear})}
}

// StuckError says that a batch can never end: every block that waits, and for
// whom.
type StuckError struct{ Blocks []kernel.Stuck }

// Error names the first block that waits and how many more there are.
func (e *StuckError) Error() string {
	b := e.Blocks[0]
	return fmt.Sprintf("deadlock: %s channel %d block %d step %d waits for a %s of %s, and %d more blocks wait",
		b.Who(), b.Channel, b.Block, b.Step, b.Waits, b.Whom(), len(e.Blocks)-1)
}

// budget is how many events pass between two looks at the effects.
const budget = 1 << 14

// Execute runs a batch to its end. A batch that faults ended has an Outcome with a
// Failure, and no error.
func (s *Session) Execute(b emu.Batch) (emu.Outcome, error) {
	w, err := kernel.Lay(s.fabric, b, func(int) bool { return true })
	if err != nil {
		return emu.Outcome{}, err
	}
	before := s.kernel.Popped()
	s.kernel.Begin(b, w)
	var out emu.Outcome
	t := trial.New(s.fabric, b, s.faults, s.bear)
	for !t.Over(s.kernel.Next()) && s.kernel.Next() != shaping.Never {
		until := t.Cap()
		if limit := t.Limit(); limit > 0 {
			until = min(until, s.kernel.Next().Add(limit))
		}
		s.kernel.Run(until, budget)
		if err := s.look(&out, t); err != nil {
			return out, err
		}
	}
	out.Now = s.kernel.Now()
	out.Events = s.kernel.Popped() - before
	out.Redone = s.kernel.Redone()
	emu.SortEnds(out.Ends)
	stuck := s.kernel.Stuck()
	if s.faults == nil {
		if len(stuck) > 0 {
			return out, &StuckError{stuck}
		}
		return out, nil
	}
	s.judge(t, stuck, &out)
	return out, s.look(&out, t) // at records that were held
}

// judge ends a batch that faults may have struck.
func (s *Session) judge(t *trial.Trial, stuck []kernel.Stuck, out *emu.Outcome) {
	waiting := make([]emu.Waiter, len(stuck))
	for i := range stuck {
		waiting[i] = stuck[i].Waiter()
	}
	if t.Verdict(waiting, s.kernel.Progress(), out); out.Failure != nil {
		s.kernel.Abort()
	}
}

func (s *Session) look(out *emu.Outcome, t *trial.Trial) error {
	e := s.kernel.Effects()
	t.Note(e.Ends, e.Failures)
	out.Ends = append(out.Ends, e.Ends...)
	if s.Visit != nil {
		seen := *e
		seen.Records = s.settled(e.Records)
		if err := s.Visit(&seen); err != nil {
			return err
		}
	}
	s.kernel.Forget()
	if s.Stop != nil {
		return s.Stop()
	}
	return nil
}

// settled returns records in the order of their events, those of the latest
// instant only when nothing more is to come. The kernel writes them as it goes,
// and an event may bring about another at its own instant that comes before it
// in that order: a step that takes no time lets a block of a lower number go on.
func (s *Session) settled(records []emu.Record) []emu.Record {
	all := append(s.held, records...)
	slices.SortFunc(all, emu.CompareRecords)
	n := len(all)
	for s.kernel.Next() != shaping.Never && n > 0 && all[n-1].At == all[len(all)-1].At {
		n--
	}
	s.held = slices.Clone(all[n:])
	return all[:n]
}

// Kernel gives access to the kernel's figures: ports' use, blocks' time.
func (s *Session) Kernel() *kernel.Kernel { return s.kernel }
