package coordinator

import (
	"context"
	"fmt"
	"time"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/pace"
	"github.com/railyard/railyard/emu/transit"
	"github.com/railyard/railyard/internal/wallclock"
	"github.com/railyard/railyard/internal/wire"
	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
	"github.com/railyard/railyard/shaping"
)

// drive is a batch under the wall clock: it starts every node's clock, drives
// the fabric by its own, and sees when all is over.
type drive struct {
	*session
	mapping pace.Mapping
	nodes   []driven
	alarm   wallclock.Alarm // for the fabric
	rings   chan struct{}
	doing   string
	ended   bool            // nothing is pending any more
	late    pace.Lateness   // of the fabric
	all     []pace.Lateness // of the nodes, when they have finished
}

// driven is a node as it reported last.
type driven struct {
	report  *railyardv1.PaceReport
	heard   int64  // when
	relayed uint64 // frames handed on to it
	relay   []*railyardv1.FrameHeader
	asked   bool  // a probe was sent that is not answered yet
	start   int64 // of the batch, as its clock was told
}

func newDrive(s *session, dilation int64, doing string) *drive {
	d := &drive{session: s, doing: doing, nodes: make([]driven, len(s.members)), rings: make(chan struct{}, 1), all: make([]pace.Lateness, len(s.members))}
	d.mapping.Dilation = dilation
	d.alarm = s.clock.Alarm(func() {
		select {
		case d.rings <- struct{}{}:
		default:
		}
	})
	return d
}

func (d *drive) stop() { d.alarm.Stop() }

// lead is how long after the command the clocks start, in nanoseconds: every
// node must have it by then.
const lead = 5e6

// start starts the clocks of all nodes at one instant.
func (d *drive) start(b emu.Batch) {
	d.mapping.Origin, d.mapping.Start = b.Runs[0].Offset, d.clock.Now()+lead
	for i := range d.nodes {
		d.nodes[i].heard = d.clock.Now()
		d.set(i)
	}
}

// set tells a node when, on its clock, the batch starts.
func (d *drive) set(i int) {
	offset, _ := d.members[i].offset()
	n := &d.nodes[i]
	n.start = d.mapping.Start + offset
	d.members[i].say(&railyardv1.SessionRequest{Request: &railyardv1.SessionRequest_Pace{Pace: &railyardv1.Pace{
		OriginPs: int64(d.mapping.Origin), StartNs: n.start, Dilation: uint64(d.mapping.Dilation)}}})
}

// hurry ends a batch that nobody waits for as soon as it can be, and in order, so that
// the nodes are ready for the next one: emulated time no longer waits for the wall's.
func (d *drive) hurry() {
	now := d.clock.Now()
	d.mapping = pace.Mapping{Origin: max(d.mapping.Emulated(now), d.mapping.Origin), Start: now, Dilation: 1}
	for i := range d.nodes {
		d.set(i)
	}
}

// watch is how often silences are looked at, and clocks compared.
const watch = time.Second

// run drives the batch to its end.
func (d *drive) run(ctx context.Context, b emu.Batch) error {
	d.start(b)
	d.pacing.doing(d.doing)
	tick := time.NewTicker(watch)
	defer tick.Stop()
	for gone := d.pacing.gone; ; {
		// What came before the clock is looked at, the fabric gets before it runs.
		now := d.clock.Now()
		if err := d.drain(ctx); err != nil {
			return err
		}
		d.forward(d.mapping.Emulated(now) + 1)
		if d.quiet() {
			d.end()
			return nil
		}
		select {
		case a := <-d.answers:
			if err := d.take(ctx, a); err != nil {
				return err
			}
		case <-d.rings:
		case <-gone:
			gone = nil
			d.hurry()
		case <-tick.C:
			if err := d.look(); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// end completes the timeline: the records of all processes are here only now.
func (d *drive) end() {
	d.ended = true
	if d.timeline != nil && d.shared != nil {
		d.timeline.add(d.shared.TakeRecords())
	}
}

func (d *drive) drain(ctx context.Context) error {
	for {
		select {
		case a := <-d.answers:
			if err := d.take(ctx, a); err != nil {
				return err
			}
		default:
			return nil
		}
	}
}

// take takes what a member says.
func (d *drive) take(ctx context.Context, a answer) error {
	if err := d.trouble(ctx, a); err != nil {
		return err
	}
	n, name := &d.nodes[a.from], d.members[a.from].Name
	n.heard = d.clock.Now()
	if r := a.response.GetClockReading(); r != nil {
		d.members[a.from].clock.Add(r.GetAskedNs(), r.GetNowNs(), a.at)
		n.asked = false
		if offset, _ := d.members[a.from].offset(); n.start != d.mapping.Start+offset {
			d.set(a.from)
		}
		return nil
	}
	m := a.response.GetPaceReport()
	if m == nil {
		return wire.Failf(wire.Mismatch, "%s said %T under the paced clock", name, a.response.GetResponse())
	}
	if err := d.news(m, a.at); err != nil {
		return wire.Failf(wire.Mismatch, "%s: %v", name, err)
	}
	n.report = m
	return nil
}

// news takes what is new in a report.
func (d *drive) news(m *railyardv1.PaceReport, at int64) error {
	if len(m.GetSent()) != len(d.members) || len(m.GetTaken()) != len(d.members) {
		return fmt.Errorf("a report on %d and %d participants; there are %d", len(m.GetSent()), len(m.GetTaken()), len(d.members))
	}
	if m.GetRecords() != nil && d.timeline != nil {
		recs, err := wire.DecodeRecords(nil, m.GetRecords())
		if err != nil {
			return err
		}
		d.timeline.add(recs)
	}
	ends, err := wire.DecodeEnds(m.GetEnds())
	if err != nil {
		return err
	}
	d.outcome.Ends = append(d.outcome.Ends, ends...)
	for _, f := range m.GetFabricFrames() {
		h, err := wire.DecodeHeader(f)
		if err != nil {
			return err
		}
		if d.shared == nil {
			return fmt.Errorf("a frame on connection %d for the fabric, which no two nodes contend for", h.Conn)
		}
		d.clamp(&h, at)
		if err := d.shared.Check(&h); err != nil {
			return err
		}
		d.shared.Accept(h)
	}
	return nil
}

// clamp moves a frame whose stamp has passed when it came to that instant.
func (d *drive) clamp(h *transit.Header, at int64) {
	by := max(d.mapping.Emulated(at), d.shared.Now()).Sub(h.Tail)
	d.late.Delivered(max(by, 0))
	if by > 0 && h.Head <= h.Tail { // or Check refuses it
		h.Head, h.Tail = h.Head.Add(by), h.Tail.Add(by)
	}
}

// forward runs the fabric up to an instant that has come, and hands on what
// leaves it: at once, since a frame leaves the fabric when its last byte does.
func (d *drive) forward(until shaping.Time) {
	if d.shared == nil {
		return
	}
	for d.shared.Next() < until {
		d.shared.Forward(until, func(e transit.Emission, _ shaping.Time) {
			d.late.Departed(max(d.mapping.Emulated(d.clock.Now()).Sub(d.shared.Now()), 0))
			n := &d.nodes[e.To]
			n.relayed++
			n.relay = append(n.relay, wire.EncodeHeader(&e.Header))
		})
	}
	for i := range d.nodes {
		if n := &d.nodes[i]; len(n.relay) > 0 {
			d.members[i].say(&railyardv1.SessionRequest{Request: &railyardv1.SessionRequest_Relay{Relay: &railyardv1.Relay{FabricFrames: n.relay}}})
			n.relay = nil
		}
	}
	d.alarm.Set(d.mapping.Wall(d.shared.Next()))
}

// quiet reports whether nothing is pending anywhere, and nothing on its way.
// Reports are of different instants, but a node that was idle can only have been
// stirred by a frame, and then somebody's count of it differs.
func (d *drive) quiet() bool {
	for i := range d.nodes {
		if n := &d.nodes[i]; !n.report.GetIdle() || n.report.GetRelayed() != n.relayed {
			return false
		}
	}
	for i := range d.nodes {
		for j, sent := range d.nodes[i].report.GetSent() {
			if j != i && sent != d.nodes[j].report.GetTaken()[i] {
				return false
			}
		}
	}
	return d.shared == nil || d.shared.Next() == shaping.Never
}

// look finds members that say nothing, and asks those elsewhere for the time.
func (d *drive) look() error {
	now := d.clock.Now()
	for i := range d.nodes {
		n := &d.nodes[i]
		if silent := time.Duration(now - n.heard); silent > d.config.Stall {
			return wire.Failf(wire.Timeout, "%s said nothing for %v; is the process stopped, or the host too slow?",
				d.members[i].Name, d.config.Stall)
		}
		if !n.asked && !d.members[i].shared {
			n.asked = true
			d.probe(d.members[i])
		}
	}
	return nil
}

// last returns the instant of the last event anywhere.
func (d *drive) last() shaping.Time {
	var at shaping.Time
	for i := range d.nodes {
		at = max(at, shaping.Time(d.nodes[i].report.GetNowPs()))
	}
	if d.shared != nil {
		at = max(at, d.shared.Now())
	}
	return at
}

func (d *drive) cost() (c Cost) {
	for i := range d.nodes {
		c.Events += d.nodes[i].report.GetEvents()
		for _, n := range d.nodes[i].report.GetSent() {
			c.Frames += n
		}
	}
	if d.shared != nil {
		c.Events += d.shared.Popped()
	}
	return c
}

// kept takes what a node says of how well it kept time.
func (d *drive) kept(i int, m *railyardv1.Lateness) error {
	l, err := wire.DecodeLateness(m)
	if err != nil {
		return wire.Failf(wire.Mismatch, "%s: %v", d.members[i].Name, err)
	}
	d.all[i] = l
	return nil
}

// judge says how well the batch kept time, and that of a run before it no more.
func (d *drive) judge(half *Half) {
	slack := d.slack
	if d.shared != nil {
		slack = min(slack, d.fabric.LeastHop())
	}
	half.Dilation, half.Lateness, half.Straggler = d.mapping.Dilation, d.late, ""
	for i := range d.all {
		if d.all[i].Stall > half.Lateness.Stall {
			half.Straggler = d.members[i].Name
		}
		half.Lateness.Add(&d.all[i])
		if !d.members[i].shared {
			row := d.pacing.row
			_, err := d.members[i].offset()
			row.ClockError = max(row.ClockError, err)
		}
	}
	half.Enough = half.Lateness.Enough(half.Dilation, slack)
}
