package coordinator

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/fault"
	"github.com/railyard/railyard/emu/sweep"
	"github.com/railyard/railyard/emu/transit"
	"github.com/railyard/railyard/emu/trial"
	"github.com/railyard/railyard/emu/window"
	"github.com/railyard/railyard/internal/gossip"
	"github.com/railyard/railyard/internal/wire"
	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
	"github.com/railyard/railyard/shaping"
)

// Struck is an emulated session that faults strike. Batches follow one another, also
// after one that failed.
type Struck struct{ session *session }

// Death is a process that was killed because the schedule said so.
type Death struct {
	Node   int // the first that it hosted
	Member string
	// Unforeseen: no schedule said so, the process died of itself, or by somebody's
	// hand. How it ended.
	Unforeseen bool
	How        string
	// Noticed is how long after that its stream broke here, in wall time.
	Noticed time.Duration
}

// Struck begins a session that faults strike. The timeline, when not nil, gets one
// JSON record a line.
func (k *Cluster) Struck(st wire.Struck, timeline io.Writer, check bool) (*Struck, error) {
	f, err := fault.Fabric(k.fabric.Cluster, st.Faults)
	if err != nil {
		return nil, wire.Failf(wire.Config, "%v", err)
	}
	schedule, err := fault.Compile(f, st.Faults, st.Seed, st.Horizon)
	if err != nil {
		return nil, wire.Failf(wire.Config, "%v", err)
	}
	s := &session{Cluster: k, fabric: f, check: check, struck: &st, schedule: schedule, flipped: -1}
	if timeline != nil {
		s.timeline = newMerger(timeline, f)
	}
	s.renew()
	return &Struck{s}, nil
}

// Execute runs a batch to its end, be it that every rank is through or that it was
// given up: then the outcome has a Failure, and there is no error.
func (x *Struck) Execute(ctx context.Context, b emu.Batch) (sweep.Result, Cost, error) {
	x.session.Cluster.bereft = x.session.bereave
	defer func() { x.session.Cluster.bereft = nil }()
	return x.session.execute(ctx, b)
}

// Fabric returns the cluster as faults find it.
func (x *Struck) Fabric() *fabric.Fabric { return x.session.fabric }

// Deaths lists the processes that were killed so far.
func (x *Struck) Deaths() []Death { return x.session.deaths }

// suffer makes the schedule of a session known to the parts of it that live here.
func (s *session) suffer() {
	if s.schedule == nil {
		return
	}
	if s.shared != nil {
		s.shared.Suffer(s.schedule, s.struck.Bear.Sweep)
	}
	for i := range s.members {
		s.conductor.Bury(i, s.death(i))
	}
}

// death returns when the last node that a member hosts dies; Never for most.
func (s *session) death(i int) shaping.Time {
	at := shaping.Time(0)
	for n := range s.members[i].Nodes.All() {
		if n < s.fabric.Nodes() {
			at = max(at, s.schedule.Dead(n))
		}
	}
	return at
}

// judge begins the trial of a batch.
func (s *session) judge(b emu.Batch) {
	bear := emu.Resilience{}
	if s.struck != nil {
		bear = s.struck.Bear
	}
	s.trial = trial.New(s.fabric, b, s.schedule, bear)
	s.conductor.Cap = shaping.Never
	s.limit()
	s.conductor.Pass(b.Offset())
	if s.batch > 0 { // before that the others know of no faults, and would take a death for a real one
		s.mourn()
	}
}

// limit bounds windows by how soon news must be heard: of a failure, and of faults
// that somebody changes.
func (s *session) limit() {
	limit := s.trial.Limit()
	if s.live != nil && limit == 0 {
		limit = emu.DefaultResilience().Control
	}
	if limit > 0 && (s.conductor.Limit == 0 || limit < s.conductor.Limit) {
		s.conductor.Limit = limit
	}
}

// given reports whether the batch was given up.
func (s *session) given() bool { return s.struck != nil && s.trial.Failed() }

// flips returns the bits that turn over, in results of a batch, before it is over.
func (s *session) flips(b emu.Batch) (all []*railyardv1.BitFlip) {
	for run := range b.Runs {
		r := &b.Runs[run]
		_, out := r.Op.Parts(len(r.Comm))
		for rank, gpu := range r.Comm {
			for _, f := range s.schedule.FlipsOf(gpu, s.flipped, s.outcome.Next()-1) {
				element := f.Place(max(r.Count*int64(out), 1), r.Real*int64(out))
				all = append(all, &railyardv1.BitFlip{Run: uint32(run), Rank: uint32(rank), Element: uint64(element), Bit: uint32(f.Bit)})
			}
		}
	}
	return all
}

// parting is what Finish says of a struck session: that everything pending is to be
// dropped, and who will be gone.
func (s *session) parting(i int) *railyardv1.Finish {
	m := &railyardv1.Finish{}
	if s.struck == nil {
		return m
	}
	for j := range s.members {
		if !s.members[j].dead && s.conductor.Gone(j) {
			m.Dead = append(m.Dead, uint32(j))
		}
	}
	if m.Aborted = s.given(); m.Aborted {
		for _, e := range s.conductor.Expects(i) {
			if !s.members[e.From].dead {
				m.Expect = append(m.Expect, &railyardv1.Expect{Participant: uint32(e.From), Frames: e.Count})
			}
		}
	}
	return m
}

// sentence judges a batch that faults may have struck, from what all members said
// of it.
func (s *session) sentence(stuck []*railyardv1.StuckBlock, progress []emu.Progress) {
	var waiting []emu.Waiter
	for _, b := range stuck {
		waiting = append(waiting, emu.Waiter{Run: int(b.GetRun()), Rank: int(b.GetRank()), Channel: int(b.GetChannel()), Block: int(b.GetBlock()),
			Step: int(b.GetStep()), Waits: b.GetWaits(), Peer: int(b.GetPeer()), Who: b.GetWho(), Whom: b.GetWhom()})
	}
	s.waiting = waiting
	slices.SortFunc(s.waiting, func(a, b emu.Waiter) int { // members tell in any order
		return cmp.Or(cmp.Compare(a.Run, b.Run), cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Block, b.Block))
	})
	s.trial.Verdict(waiting, progress, &s.outcome)
	if s.outcome.Failure != nil {
		s.conductor.Abort()
	}
}

// bereave takes a member out whose process has died although no schedule says so:
// as if its nodes were killed at the horizon, from which on nothing has happened.
func (s *session) bereave(i int, how *wire.Failure) error {
	m := s.members[i]
	m.dead = true
	if m.process != nil { // one that was stopped must not come back
		_ = m.process.cmd.Process.Kill()
	}
	at := s.conductor.Lose(i)
	for n := range m.Nodes.All() {
		if n < s.fabric.Nodes() {
			s.struck.Faults = append(s.struck.Faults, emu.Fault{Name: how.Text, Type: "kill", Target: fmt.Sprintf("node%d", n), When: emu.When{At: at.Sub(0)}})
		}
	}
	var err error
	if s.schedule, err = fault.Compile(s.fabric, s.struck.Faults, s.struck.Seed, s.struck.Horizon); err != nil {
		return wire.Failf(wire.Bug, "%v", err)
	}
	if s.shared != nil {
		s.shared.Suffer(s.schedule, s.struck.Bear.Sweep)
	}
	s.trial.Perturb(s.schedule)
	if s.outcome.Perturbed == 0 {
		s.outcome.Perturbed = at
	}
	s.deaths = append(s.deaths, Death{Node: first(m.Nodes), Member: m.Name, Unforeseen: true, How: how.Text})
	tell := &railyardv1.Strike{Struck: wire.EncodeStruck(s.struck), Dead: []uint32{uint32(i)}}
	for _, p := range s.members {
		p.say(&railyardv1.SessionRequest{Request: &railyardv1.SessionRequest_Strike{Strike: tell}})
	}
	return nil
}

// mourning is how long a killed process may take to be gone.
const mourning = 5 * time.Second

// mourn kills the processes that have died in emulated time, and waits until their
// streams are broken. The others have been told, or know it from the schedule.
func (s *session) mourn() {
	for i, m := range s.members {
		if m.dead || s.struck == nil || !s.conductor.Gone(i) {
			continue
		}
		m.dead = true
		start := time.Now()
		if m.process != nil {
			_ = m.process.cmd.Process.Kill()
		} else {
			m.close()
		}
		s.await(i)
		s.deaths = append(s.deaths, Death{Node: first(m.Nodes), Member: m.Name, Noticed: time.Since(start)})
	}
}

// await reads what members say until the stream of one is over. Nothing is due from
// the others; that another has died meanwhile is put aside.
func (s *session) await(i int) {
	patience := time.NewTimer(mourning)
	defer patience.Stop()
	for {
		select {
		case a := <-s.answers:
			if a.from == i && a.err != nil {
				return
			}
			if a.err != nil {
				s.aside = append(s.aside, a)
			}
		case <-patience.C:
			return
		}
	}
}

func first(n gossip.Nodes) int {
	for i := range n.All() {
		return i
	}
	return -1
}

// renew begins an emulated session: ports are idle, batches count from 0.
func (s *session) renew() {
	s.batch, s.shared, s.busy, s.before = 0, nil, nil, Cost{}
	if s.fabric.Contended() {
		s.shared = transit.NewShared(s.fabric, s.owners, s.timeline != nil)
	}
	s.conductor = window.New(len(s.members), s.shared)
	if s.timeline != nil {
		s.conductor.Limit = maxWindow
	}
	s.suffer()
}
