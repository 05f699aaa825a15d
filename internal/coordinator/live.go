package coordinator

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/fault"
	"github.com/railyard/railyard/internal/wire"
	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
	"github.com/railyard/railyard/shaping"
)

// live is the way of those who change faults to the bench that runs.
type live struct {
	edits chan *edit    // has room for one: who edits waits for the one before
	over  chan struct{} // closed when the bench has ended
	// noted is told what has been done to the bench, when it has.
	noted func(Change)
}

// Change is something done to the faults of a bench while it ran.
type Change struct {
	At shaping.Time // the first instant that is not as it would have been
	// Says is what, in the words of fault add: with them in force from the start the
	// bench takes the same picoseconds.
	Says string
}

// edit is what somebody wants of the faults.
type edit struct {
	add    []emu.Fault // as declared
	remove []string    // by name
	done   chan edited // holds the answer
}

// edited is what has become of an edit in the bench that runs.
type edited struct {
	at  shaping.Time // when it strikes; 0: not in this bench, or not yet
	but string       // why not, or what stays as it is
	err error        // it can't be done, and nothing was
}

func newLive(noted func(Change)) *live {
	return &live{edits: make(chan *edit, 1), over: make(chan struct{}), noted: noted}
}

// edit waits until the bench has come to where faults may change. It reports
// whether it did before it ended. One edit may wait at a time; asked, when set, is
// told when it does.
func (l *live) edit(ctx context.Context, e *edit, asked func()) (edited, bool, error) {
	e.done = make(chan edited, 1)
	l.edits <- e
	if asked != nil {
		asked()
	}
	select {
	case got := <-e.done:
		return got, true, nil
	case <-l.over:
	case <-ctx.Done():
	}
	select {
	case <-l.edits: // nobody has taken it
		return edited{}, false, ctx.Err()
	case got := <-e.done: // whoever has answers at once
		return got, true, nil
	}
}

// heed makes the changes that are asked for. No window is open.
func (s *session) heed() {
	if s.live == nil {
		return
	}
	for {
		select {
		case e := <-s.live.edits:
			e.done <- s.edit(e)
		default:
			return
		}
	}
}

// changed returns when faults changed first; 0: they did not.
func (s *session) changed() shaping.Time {
	if len(s.changes) == 0 {
		return 0
	}
	return s.changes[0].At
}

// inForce returns all faults of the session, those included that were taken back.
func (s *session) inForce() []emu.Fault {
	if s.struck == nil {
		return nil
	}
	return s.struck.Faults
}

// edit changes the faults from the earliest instant on that nobody has looked at.
func (s *session) edit(e *edit) edited {
	if slices.ContainsFunc(e.add, fault.AtStart) {
		return edited{but: "what a process registered at its start it keeps: strikes from the next bench on"}
	}
	r, err := s.revise(e, s.conductor.Untouched())
	switch {
	case err != nil:
		return edited{err: err}
	case r == nil:
		return edited{}
	case len(s.later) > 0 || r.fabric.Pools() != s.fabric.Pools():
		s.later = append(s.later, e)
		return edited{but: "links that nothing contends for are only now reckoned with: strikes from its next half row on"}
	}
	s.strike(r)
	return edited{at: r.at, but: r.but()}
}

// revision is what the faults of a session become.
type revision struct {
	at       shaping.Time
	faults   []emu.Fault
	active   map[string]int
	fabric   *fabric.Fabric
	schedule *fault.Schedule
	says     []string
	stay     []string // names of what is taken back, and not mended
}

// revise returns what an edit makes of the faults from an instant on; nil: nothing.
func (s *session) revise(e *edit, at shaping.Time) (*revision, error) {
	r := &revision{at: at, faults: slices.Clone(s.inForce()), active: maps.Clone(s.active)}
	for _, name := range e.remove {
		i, ok := r.active[name]
		if !ok {
			continue // it strikes from the next bench on
		}
		delete(r.active, name)
		r.lift(i, at, s.ops)
	}
	for _, f := range e.add {
		f = fault.Later(f, at, s.ops, horizon)
		r.active[f.Name] = len(r.faults)
		r.faults = append(r.faults, f)
		r.says = append(r.says, "added "+declared(&f))
	}
	if r.says == nil {
		return nil, nil
	}
	if len(r.faults) > mostFaults {
		return nil, wire.Failf(wire.Config, "%d faults: a bench may see at most %d, with those that were taken back while it ran", len(r.faults), mostFaults)
	}
	var err error
	if r.fabric, err = fault.Fabric(s.Cluster.fabric.Cluster, r.faults); err == nil {
		r.schedule, err = fault.Compile(r.fabric, r.faults, s.seed, horizon)
	}
	if err != nil {
		return nil, wire.Failf(wire.Config, "%v", err)
	}
	return r, nil
}

// lift takes a fault back.
func (r *revision) lift(i int, at shaping.Time, ops int) {
	f, stays := fault.Lifted(r.faults[i], at, ops)
	r.faults[i] = f
	switch {
	case stays:
		r.stay = append(r.stay, f.Name)
		r.says = append(r.says, fmt.Sprintf("took back %s, what it broke stays so", declared(&f)))
	case f.Off:
		r.says = append(r.says, fmt.Sprintf("took back %s before it struck", f.Name))
	default:
		r.says = append(r.says, "took back "+declared(&f))
	}
}

// declared returns a fault as fault add takes it.
func declared(f *emu.Fault) string {
	words := []string{f.Name + ": " + f.Type, f.Target}
	for _, w := range fault.Words(f) {
		words = append(words, w[0]+"="+w[1])
	}
	return strings.Join(words, " ")
}

func (r *revision) but() string {
	if len(r.stay) == 0 {
		return ""
	}
	return fmt.Sprintf("what is broken stays so until the next bench: %s", strings.Join(r.stay, ", "))
}

// strike makes a revision hold: everywhere, before the next window.
func (s *session) strike(r *revision) {
	s.take(r)
	s.trial.Revise(s.schedule, s.struck.Bear)
	s.limit()
	s.suffer()
	tell := &railyardv1.Strike{Struck: wire.EncodeStruck(s.struck)}
	for _, p := range s.members {
		p.say(&railyardv1.SessionRequest{Request: &railyardv1.SessionRequest_Strike{Strike: tell}})
	}
}

// take notes a revision.
func (s *session) take(r *revision) {
	if s.struck == nil {
		s.struck = &wire.Struck{Bear: emu.DefaultResilience(), Seed: s.seed, Horizon: horizon}
	}
	s.struck.Faults, s.schedule, s.active = r.faults, r.schedule, r.active
	s.Cluster.bereft = s.bereave
	for _, says := range r.says {
		c := Change{At: r.at, Says: says}
		s.changes = append(s.changes, c)
		s.live.noted(c)
		if s.tell != nil {
			s.tell(c)
		}
	}
}

// catchUp makes changes that had to wait for a batch to begin: it begins a session on
// ports that strike may find.
func (s *session) catchUp(b emu.Batch) error {
	for _, e := range s.later {
		r, err := s.revise(e, b.Offset())
		if err != nil {
			return err
		}
		if r != nil {
			s.take(r)
			s.fabric = r.fabric
		}
	}
	if s.later == nil {
		return nil
	}
	s.later = nil
	if s.timeline != nil {
		s.timeline = newMerger(s.lines, s.fabric)
	}
	s.renew()
	return nil
}
