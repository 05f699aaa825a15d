package nodesim

import (
	"github.com/railyard/railyard/emu/kernel"
	"github.com/railyard/railyard/emu/pace"
	"github.com/railyard/railyard/emu/transit"
	"github.com/railyard/railyard/internal/wallclock"
	"github.com/railyard/railyard/internal/wire"
	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
	"github.com/railyard/railyard/shaping"
)

// paced drives the kernel of a batch from the wall clock. The kernel's own queue
// is what holds frames until they arrive, and held what holds them until they
// depart; one alarm wakes the actor for both.
type paced struct {
	*actor
	clock   wallclock.Clock
	mapping pace.Mapping
	running bool // mapping is set
	over    bool // the coordinator has seen the end
	alarm   wallclock.Alarm
	early   []event // came before the clock was started

	held    pace.Outbound[departure]
	meets   map[uint32]*meeting     // by connection
	tails   map[uint32]shaping.Time // of the last frame or credit, by connection
	apart   int                     // headers from the fabric whose elements have not come
	relayed uint64
	first   uint64 // events before the batch
	late    pace.Lateness

	// A process that was stopped takes up where it was: its emulated time lies
	// behind that of the others from then on, by shift, for which it was stopped
	// so many nanoseconds.
	stopped int64
	shift   shaping.Duration

	lull   int64 // how long events may wait for company, in nanoseconds
	due    int64 // what the alarm was set for; Never: it was not
	idle   int64 // since when nothing is pending; Never: something is
	told   bool  // the coordinator knows that
	spoke  int64 // when it was told anything last
	news   *railyardv1.PaceReport
	events []event // memory
}

// departure is a frame that waits to leave: for a peer, or, without elements,
// for the fabric.
type departure struct {
	to    int
	frame wire.Frame
}

func newPaced(a *actor) *paced {
	p := &paced{actor: a, clock: a.node.config.Clock, meets: map[uint32]*meeting{}, tails: map[uint32]shaping.Time{}, due: pace.Never, idle: pace.Never,
		news: &railyardv1.PaceReport{}, first: a.kernel.Popped()}
	p.alarm = p.clock.Alarm(func() { a.inbox.post(event{wake: true}) })
	return p
}

// onPace handles what only the paced clock knows.
func (a *actor) onPace(e *event) error {
	switch {
	case a.paced == nil || a.paced.over:
		return wire.Failf(wire.Mismatch, "the paced clock is driven, and no batch goes by it")
	case e.request.GetPace() != nil:
		return a.paced.pace(e.request.GetPace())
	default:
		return a.paced.relay(e)
	}
}

// share is the part of the slack for which events may wait, so that one wake-up
// serves many: it makes departures late by at most that part (assumed: what is
// left is what a stream needs).
const share = 8

// pace starts the clock, or corrects it.
func (p *paced) pace(m *railyardv1.Pace) error {
	if m.GetDilation() < 1 || m.GetDilation() > uint64(pace.MaxDilation) || m.GetOriginPs() < 0 {
		return wire.Failf(wire.Mismatch, "dilation %d from %d ps on: must be 1 to %d", m.GetDilation(), m.GetOriginPs(), int64(pace.MaxDilation))
	}
	p.mapping = pace.Mapping{Origin: shaping.Time(m.GetOriginPs()), Start: m.GetStartNs() + p.stopped, Dilation: int64(m.GetDilation())}
	if s := p.kernel.Slack(); s != shaping.Duration(shaping.Never) {
		p.lull = p.mapping.Lasts(s) / share
	}
	if p.running {
		return nil
	}
	p.running = true
	p.spoke = p.clock.Now()
	early := p.early
	p.early = nil
	for i := range early {
		if err := p.handle(&early[i]); err != nil {
			return err
		}
	}
	return nil
}

// step does what is due. What came before the clock was looked at is handled
// before the kernel gets there: a frame that came in time is never late because
// the actor was busy.
func (p *paced) step() (over bool, err error) {
	if !p.running || p.over {
		return false, nil
	}
	now := p.thaw()
	p.events = p.inbox.poll(p.events)
	if over, err := p.handleAll(p.events); over || p.failed != nil || p.over {
		return over, err
	}
	if err := p.advance(p.mapping.Emulated(now) + 1); err != nil {
		p.fail(err)
		return false, nil
	}
	return false, nil
}

// thaw looks at the clock, and notes by how much the process is behind what it was
// going to do. It comes before anything that was read meanwhile is handled: frames
// find the process where it was stopped, not where the others are.
func (p *paced) thaw() (now int64) {
	now = p.clock.Now()
	if !p.running || p.over || now <= p.due {
		return now
	}
	behind := now - p.due
	p.due = now // told once
	p.late.Stall = max(p.late.Stall, behind)
	if behind >= pace.Frozen {
		p.stopped += behind
		p.mapping.Start += behind
		p.shift = p.mapping.Spans(p.stopped)
	}
	return now
}

// advance runs the kernel up to an instant, and sets the alarm for what is next.
func (p *paced) advance(until shaping.Time) error {
	began := p.clock.Now()
	for {
		n := p.kernel.Pace(until, slice)
		e := p.kernel.Effects()
		p.move(e.Moves)
		for i := range e.Out {
			p.post(&e.Out[i])
		}
		for j := range e.Ends {
			e.Ends[j].At = e.Ends[j].At.Add(p.shift)
		}
		p.news.Ends = append(p.news.Ends, wire.EncodeEnds(e.Ends)...)
		if err := p.records(e); err != nil {
			return err
		}
		p.kernel.Forget()
		p.release()
		if n == 0 || p.kernel.Next() >= until {
			break
		}
	}
	return p.tell(began)
}

// heartbeat under the paced clock, in nanoseconds of wall time. It is short,
// since a process that was stopped for less does not notice when it has nothing
// else to do.
const pacedHeartbeat = 100e6

// settled is how long a node must have nothing to do, in nanoseconds, before it
// says so: between two slices it often has nothing to do.
const settled = 1e6

// tell tells the coordinator what there is to tell, and sets the alarm.
func (p *paced) tell(began int64) error {
	now := p.clock.Now()
	switch pending := p.kernel.Next() != shaping.Never || p.held.Next() != shaping.Never || p.apart > 0; {
	case pending:
		p.idle, p.told = pace.Never, false
	case p.idle == pace.Never:
		p.idle = now
	}
	rest := p.idle != pace.Never && !p.told && now-p.idle >= settled
	if rest || len(p.news.FabricFrames) > 0 || now-p.spoke >= pacedHeartbeat {
		if err := p.report(rest || p.told); err != nil {
			return err
		}
		p.told, p.spoke = p.told || rest, now
	}
	p.due = min(p.spoke+pacedHeartbeat, p.mapping.Wall(p.held.Next()))
	if p.idle != pace.Never && !p.told {
		p.due = min(p.due, p.idle+settled)
	}
	if next := p.mapping.Wall(p.kernel.Next()); next != pace.Never {
		p.due = min(p.due, max(next, began+p.lull))
	}
	p.due = max(p.due, now)
	p.alarm.Set(p.due)
	return nil
}

func (p *paced) report(idle bool) error {
	m := p.news
	p.news = &railyardv1.PaceReport{}
	m.Idle, m.Sent, m.Taken, m.Relayed = idle, p.sent, p.taken, p.relayed
	m.NowPs, m.Events = int64(p.kernel.Now().Add(p.shift)), p.kernel.Popped()-p.first
	return p.say(&railyardv1.SessionResponse{Response: &railyardv1.SessionResponse_PaceReport{PaceReport: m}})
}

// records sends the timeline ahead.
func (p *paced) records(e *kernel.Effects) error {
	for i := range e.Records {
		r := &e.Records[i]
		r.At, r.Start = r.At.Add(p.shift), r.Start.Add(p.shift)
	}
	for recs := e.Records; len(recs) > 0; {
		n := min(len(recs), maxRecords)
		p.news.Records = wire.EncodeRecords(recs[:n])
		if err := p.report(false); err != nil {
			return err
		}
		recs = recs[n:]
	}
	return nil
}

// restPace makes the clock say no more: the coordinator has seen the end.
func (a *actor) restPace() {
	if a.paced != nil {
		a.paced.over = true
		a.paced.alarm.Stop()
	}
}

// endPace stops the clock. It returns how well it was kept, nil under the
// virtual clock.
func (a *actor) endPace() *railyardv1.Lateness {
	p := a.paced
	if p == nil {
		return nil
	}
	p.alarm.Stop()
	a.paced = nil
	return wire.EncodeLateness(&p.late)
}

// tellTime answers a probe.
func (a *actor) tellTime(m *railyardv1.ClockProbe) error {
	c := a.node.config.Clock
	return a.say(&railyardv1.SessionResponse{Response: &railyardv1.SessionResponse_ClockReading{
		ClockReading: &railyardv1.ClockReading{NowNs: c.Now(), Host: c.Host(), AskedNs: m.GetAskedNs()}}})
}

// meeting is where headers that came by way of the fabric meet their elements,
// which came straight.
type meeting struct {
	elements int              // that are here, their headers not
	headers  []transit.Header // that are here, their elements not
}
