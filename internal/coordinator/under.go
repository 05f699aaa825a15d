package coordinator

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fault"
	"github.com/railyard/railyard/emu/sweep"
	"github.com/railyard/railyard/internal/wire"
	"github.com/railyard/railyard/shaping"
)

// Failed is the verdict on a bench one of whose batches failed: the emulated cluster
// did, and the one that emulates it is fit for the next.
type Failed struct {
	*wire.Failure
	Row     string // in which it was, in words
	Batch   emu.Batch
	Outcome emu.Outcome
	Waiting []emu.Waiter // by run, rank and block
	Fault   string       // the name of that which it goes back to; empty: unknown
}

// Unwrap returns the failure.
func (f *Failed) Unwrap() error { return f.Failure }

// Toll is what faults cost a bench beyond its times.
type Toll struct {
	Redone shaping.Bytes // sent again by transports
	// Perturbed is from when on the bench was not a matter of what was declared before
	// it: faults changed, or a process died that no fault was to kill. 0: it was.
	Perturbed shaping.Time
	Deaths    []Death
	Changes   []Change
	// Faults are those that the bench must have from the start to take the same
	// picoseconds, but for deaths that nobody foresaw.
	Faults []emu.Fault
}

// horizon is until when faults repeat that do so without end.
const horizon = shaping.Second // assumed: longer than what a bench emulates, but for the largest sizes

// BenchUnder runs a sweep in an emulated session that faults strike. A batch that
// fails ends it with a *Failed.
func (k *Cluster) BenchUnder(ctx context.Context, spec sweep.Spec, faults []emu.Fault, bear emu.Resilience, sink Sink) (Toll, error) {
	if spec.Paced {
		return Toll{}, wire.Failf(wire.Config, "--clock paced: faults strike under the virtual clock alone; leave it out, or take the %d faults back with fault reset", len(faults))
	}
	s, err := k.under(spec, faults, bear)
	if err != nil {
		return Toll{}, err
	}
	return k.benchUnder(ctx, s, spec, sink)
}

// benchLive is BenchUnder with NCCL's resilience, and faults that may change while it
// lasts; at first there may be none.
func (k *Cluster) benchLive(ctx context.Context, spec sweep.Spec, faults []emu.Fault, l *live, sink Sink) (Toll, error) {
	s := k.newSession(nil, spec.Check)
	if len(faults) > 0 {
		var err error
		if s, err = k.under(spec, faults, emu.DefaultResilience()); err != nil {
			return Toll{}, err
		}
	}
	s.live, s.seed, s.active, s.first = l, spec.Seed, map[string]int{}, len(faults)
	for i := range faults {
		s.active[faults[i].Name] = i
	}
	return k.benchUnder(ctx, s, spec, sink)
}

// under returns a session that faults strike.
func (k *Cluster) under(spec sweep.Spec, faults []emu.Fault, bear emu.Resilience) (*session, error) {
	x, err := k.Struck(wire.Struck{Faults: faults, Bear: bear, Seed: spec.Seed, Horizon: horizon}, nil, spec.Check)
	if err != nil {
		return nil, err
	}
	return x.session, nil
}

// benchUnder runs a sweep in a session that faults strike, or may.
func (k *Cluster) benchUnder(ctx context.Context, s *session, spec sweep.Spec, sink Sink) (Toll, error) {
	sw, err := sweep.New(s.fabric, spec)
	if err != nil {
		return Toll{}, verdict(config(err))
	}
	if sink.Timeline != nil {
		s.lines = sink.Timeline
		s.timeline = newMerger(s.lines, s.fabric)
		s.renew()
	}
	s.tell = sink.Changed
	if s.struck != nil {
		k.bereft = s.bereave
	}
	defer func() { k.bereft = nil }()
	err = sink.Started(Started{Cluster: k.fabric.Cluster, Devices: k.devices(sw.World), Rows: len(sw.Cases), Procs: len(k.members)})
	if err != nil {
		return Toll{}, err
	}
	var toll Toll
	err = k.sweep(s, sw, sink, func(c *sweep.Case, b emu.Batch) (sweep.Result, Cost, error) {
		if err := s.catchUp(b); err != nil {
			return sweep.Result{}, Cost{}, err
		}
		s.miscall(&b, s.ops)
		s.ops++
		res, spent, err := s.execute(ctx, b)
		toll.Redone += res.Redone
		toll.Perturbed = cmp.Or(toll.Perturbed, res.Perturbed)
		if err == nil && res.Failure != nil {
			err = s.failed(c, b, &res.Outcome)
		}
		return res, spent, err
	})
	toll.Deaths, toll.Changes, toll.Faults = s.deaths, s.changes, s.inForce()
	if at := s.changed(); at > 0 && (toll.Perturbed == 0 || at < toll.Perturbed) {
		toll.Perturbed = at
	}
	return toll, err
}

// miscall makes ranks call a batch as faults have it. Each half of a row is an
// operation, counted from 0.
func (s *session) miscall(b *emu.Batch, op int) {
	for _, c := range s.schedule.Calls() {
		for i := range b.Runs {
			r := &b.Runs[i]
			rank := slices.Index(r.Comm, c.GPU)
			if rank < 0 || c.Op != op {
				continue
			}
			switch c.Wrong {
			case fault.Skips:
				r.Absent = append(r.Absent, rank)
			case fault.Late:
				r.Late = append(r.Late, emu.Late{Rank: rank, By: c.Delay})
			case fault.Resize:
				count := c.Count
				if count < 0 {
					count = r.Count + 1
				}
				if count == r.Count {
					continue // nobody can tell
				}
				r.Odd = append(r.Odd, emu.Odd{Rank: rank, Says: fmt.Sprintf("%d elements where others have %d", count, r.Count)})
			case fault.Retype:
				r.Odd = append(r.Odd, emu.Odd{Rank: rank, Says: fmt.Sprintf("%s where others call %s of %s", c.Says, r.Op, r.DType)})
			}
		}
	}
}

// Bearable reports whether a bench can be struck by faults: what is wrong with them,
// and what needs a scenario, where operations follow each other by plan.
func Bearable(s *fault.Schedule, faults []emu.Fault) error {
	refuse := func(i int, why string) error {
		return wire.Failf(wire.Config, "%s: %s; write it into a scenario instead", fault.Name(&faults[i], i), why)
	}
	for _, i := range s.Waiting() {
		return refuse(i, "on a cluster that stays nobody knows beforehand when an operation or a step will be; give at")
	}
	for _, w := range s.Walls() {
		return refuse(w.Fault, faults[w.Fault].Type+" would end the cluster")
	}
	for _, c := range s.Calls() {
		if c.Wrong == fault.Swaps {
			return refuse(c.Fault, faults[c.Fault].Type+" needs calls that follow each other, and those of a bench are all alike")
		}
	}
	return nil
}

// failed puts the failure of a batch into words.
func (s *session) failed(c *sweep.Case, b emu.Batch, o *emu.Outcome) *Failed {
	f := o.Failure
	out := &Failed{Failure: &wire.Failure{Text: f.Text, At: f.At, Cause: wire.CauseOf(f.Cause),
		Place: wire.Place{Run: f.Run, Rank: f.Rank, Channel: f.Channel, Step: f.Step, Peer: f.Peer, Link: f.Link}},
		Row: rowName(c, b.Runs[0].InPlace), Batch: b, Outcome: *o, Waiting: s.waiting}
	if f.Hang != "" {
		out.Text = fmt.Sprintf("%s: %s", f.Hang, f.Text)
	}
	if f.Fault >= 0 && f.Fault < len(s.struck.Faults) {
		out.Fault = s.struck.Faults[f.Fault].Name
		out.Text += "; it goes back to fault " + out.Fault
		if i, ok := s.active[out.Fault]; ok && i == f.Fault && i >= s.first {
			out.Text += ", which was added while it ran"
		}
	}
	return out
}

func rowName(c *sweep.Case, inPlace bool) string {
	half := "out of place"
	if inPlace {
		half = "in place"
	}
	return fmt.Sprintf("%d bytes of %s, %s", c.Size, c.DType, half)
}
