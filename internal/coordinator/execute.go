package coordinator

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/fault"
	"github.com/railyard/railyard/emu/sweep"
	"github.com/railyard/railyard/emu/transit"
	"github.com/railyard/railyard/emu/trial"
	"github.com/railyard/railyard/emu/window"
	"github.com/railyard/railyard/internal/wire"
	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
	"github.com/railyard/railyard/shaping"
)

// session is one emulated session: batches that follow one another on ports
// that remember.
type session struct {
	*Cluster
	fabric    *fabric.Fabric // the cluster's, as faults find it
	struck    *wire.Struck   // nil: no faults, and failures are errors
	schedule  *fault.Schedule
	trial     *trial.Trial // of the batch
	divided   divided      // gossip
	deaths    []Death
	waiting   []emu.Waiter // when the batch failed
	flipped   shaping.Time // up to when bits have turned over
	batch     uint32
	conductor *window.Conductor
	shared    *transit.Shared
	timeline  *merger // nil: none wanted
	check     bool
	outcome   emu.Outcome
	before    Cost
	use       sweep.Use
	busy      []shaping.Duration // of each shared port, up to the batch before
	carried   int64              // bytes that ports carried in the batch
	slack     shaping.Duration   // least that a frame of the batch has for its way
	pacing    *pacing            // nil under the virtual clock
	drive     *drive             // of the batch, when the wall clock drives it

	live    *live          // nil: faults do not change while it lasts
	seed    uint64         // of what they draw
	ops     int            // batches that were called
	active  map[string]int // position among the faults of those in force, by name
	first   int            // of them that was not there from the start
	later   []*edit        // that wait for a batch to begin
	changes []Change
	tell    func(Change) // whoever sees the bench; nil: nobody
	lines   io.Writer    // where the timeline goes
}

// Cost is what a virtual clock costs the host.
type Cost struct {
	Rounds, Grants, Frames, Events uint64
	Wall                           time.Duration
}

// Add adds what another batch cost.
func (c *Cost) Add(o Cost) {
	c.Rounds += o.Rounds
	c.Grants += o.Grants
	c.Frames += o.Frames
	c.Events += o.Events
	c.Wall += o.Wall
}

// maxWindow bounds a window when a timeline is kept, and with it the records
// held back for merging.
const maxWindow = 100 * shaping.Microsecond

func (k *Cluster) newSession(t *merger, check bool) *session {
	s := &session{Cluster: k, fabric: k.fabric, timeline: t, check: check}
	s.renew()
	return s
}

// execute runs a batch to its end and verifies it.
func (s *session) execute(ctx context.Context, b emu.Batch) (sweep.Result, Cost, error) {
	start := time.Now()
	s.outcome = emu.Outcome{}
	err := s.begin(ctx, b)
	if err == nil && s.drive != nil {
		err = s.drive.run(ctx, b)
	} else if err == nil {
		err = s.rounds(ctx)
	}
	if err != nil {
		return sweep.Result{}, Cost{}, err
	}
	s.outcome.Now = s.now()
	emu.SortEnds(s.outcome.Ends)
	total := s.cost()
	cost := Cost{Rounds: total.Rounds - s.before.Rounds, Grants: total.Grants - s.before.Grants,
		Frames: total.Frames - s.before.Frames, Events: total.Events - s.before.Events}
	s.before = total
	res := sweep.Result{Outcome: s.outcome}
	res.Events = cost.Events
	if s.check && !s.given() && s.outcome.Perturbed == 0 {
		if res.Wrong, err = s.verify(ctx, b); err != nil {
			return res, cost, err
		}
	}
	err = s.finish(ctx, b)
	s.flipped = s.outcome.Next() - 1
	s.mourn()
	res.Outcome = s.outcome
	res.Events = cost.Events
	cost.Wall = time.Since(start)
	return res, cost, err
}

func (s *session) now() shaping.Time {
	if s.drive != nil {
		return s.drive.last()
	}
	return s.conductor.Now()
}

func (s *session) cost() Cost {
	if s.drive != nil {
		return s.drive.cost()
	}
	return Cost{Rounds: s.conductor.Rounds, Grants: s.conductor.Grants,
		Frames: s.conductor.Frames(), Events: s.conductor.Events()}
}

func (s *session) begin(ctx context.Context, b emu.Batch) error {
	m := &railyardv1.Begin{Batch: s.batch, Runs: wire.EncodeBatch(&b), RecordTimeline: s.timeline != nil, Paced: s.drive != nil, Live: s.live != nil}
	s.judge(b)
	if s.batch == 0 && s.struck != nil {
		m.Struck = wire.EncodeStruck(s.struck)
	}
	for _, p := range s.members {
		p.say(&railyardv1.SessionRequest{Request: &railyardv1.SessionRequest_Begin{Begin: m}})
	}
	s.batch++
	s.slack = shaping.Duration(shaping.Never)
	s.conductor.Await()
	err := s.each(ctx, func(i int, r *railyardv1.SessionResponse) (bool, error) {
		g := r.GetBegun()
		if g == nil {
			return false, nil
		}
		if s.conductor.Gone(i) {
			return true, nil // killed as soon as all know of it
		}
		s.slack = min(s.slack, shaping.Duration(g.GetSlackPs()))
		s.conductor.Report(i, window.Report{Next: shaping.Time(g.GetNextPs()), Out: shaping.Time(g.GetOutPs()), Seen: shaping.Time(g.GetSeenPs())})
		return true, nil
	})
	if err == nil {
		s.mourn()
	}
	return err
}

// rounds grants windows until nothing is pending anywhere, or the batch is given
// up.
func (s *session) rounds(ctx context.Context) error {
	for round := uint32(0); ; round++ {
		s.heed()
		if s.trial.Over(s.conductor.Pending()) {
			break
		}
		s.conductor.Cap = s.trial.Cap()
		grants := s.conductor.Round()
		if s.timeline != nil && s.shared != nil {
			s.timeline.add(s.shared.TakeRecords())
		}
		for i := range grants {
			s.grant(round, &grants[i])
		}
		for s.conductor.Waiting() {
			if err := s.report(ctx, round); err != nil {
				return err
			}
		}
		s.divide(s.reached())
		if s.timeline != nil {
			if err := s.timeline.flush(s.conductor.Horizon()); err != nil {
				return err
			}
		}
	}
	if s.timeline != nil {
		if s.shared != nil {
			s.timeline.add(s.shared.TakeRecords())
		}
		return s.timeline.flush(shaping.Never)
	}
	return nil
}

func (s *session) grant(round uint32, g *window.Grant) {
	m := &railyardv1.Grant{Round: round, UntilPs: int64(g.Until)}
	for _, e := range g.Expect {
		m.Expect = append(m.Expect, &railyardv1.Expect{Participant: uint32(e.From), Frames: e.Count})
	}
	for i := range g.Shared {
		m.FabricFrames = append(m.FabricFrames, wire.EncodeHeader(&g.Shared[i]))
	}
	s.members[g.To].say(&railyardv1.SessionRequest{Request: &railyardv1.SessionRequest_Grant{Grant: m}})
}

// report takes one part of one member's report.
func (s *session) report(ctx context.Context, round uint32) error {
	i, r, err := s.hear(ctx, func() string { return s.members[s.conductor.Owes()].Name })
	if err != nil {
		return err
	}
	if r == nil {
		return nil // it has died, and owes nothing any more
	}
	m := r.GetReport()
	if m == nil || m.GetRound() != round || !s.conductor.Due(i) {
		return wire.Failf(wire.Mismatch, "%s said %T when its report on round %d was due", s.members[i].Name, r.GetResponse(), round)
	}
	if m.GetRecords() != nil && s.timeline != nil {
		recs, err := wire.DecodeRecords(nil, m.GetRecords())
		if err != nil {
			return wire.Failf(wire.Mismatch, "%s: %v", s.members[i].Name, err)
		}
		s.timeline.add(recs)
	}
	if m.GetMore() {
		return nil
	}
	ends, err := wire.DecodeEnds(m.GetEnds())
	if err != nil {
		return wire.Failf(wire.Mismatch, "%s: %v", s.members[i].Name, err)
	}
	s.outcome.Ends = append(s.outcome.Ends, ends...)
	failures, err := wire.DecodeRunFailures(m.GetFailures(), s.trial.Batch())
	if err != nil {
		return wire.Failf(wire.Mismatch, "%s: %v", s.members[i].Name, err)
	}
	s.trial.Note(ends, failures)
	report, err := s.decode(m)
	if err != nil {
		return wire.Failf(wire.Mismatch, "%s: %v", s.members[i].Name, err)
	}
	s.conductor.Report(i, report)
	return nil
}

func (s *session) decode(m *railyardv1.Report) (window.Report, error) {
	r := window.Report{Next: shaping.Time(m.GetNextPs()), Out: shaping.Time(m.GetOutPs()),
		Now: shaping.Time(m.GetNowPs()), Events: m.GetEvents(), Seen: shaping.Time(m.GetSeenPs())}
	for _, t := range m.GetSent() {
		if int(t.GetParticipant()) >= len(s.members) {
			return r, fmt.Errorf("frames sent to participant %d of %d", t.GetParticipant(), len(s.members))
		}
		r.Sent = append(r.Sent, window.Sent{To: int(t.GetParticipant()), Count: t.GetFrames(),
			Stamp: shaping.Time(t.GetEarliestStampPs()), Induced: shaping.Time(t.GetEarliestInducedPs())})
	}
	for _, f := range m.GetFabricFrames() {
		h, err := wire.DecodeHeader(f)
		if err != nil {
			return r, err
		}
		if s.shared == nil {
			return r, fmt.Errorf("a frame on connection %d for the fabric, which no two nodes contend for", h.Conn)
		}
		if err := s.shared.Check(&h); err != nil {
			return r, err
		}
		r.Shared = append(r.Shared, h)
	}
	return r, nil
}
