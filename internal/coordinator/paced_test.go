//go:build !race

package coordinator

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/pace"
	"github.com/railyard/railyard/emu/sweep"
	"github.com/railyard/railyard/internal/nodesim"
	"github.com/railyard/railyard/internal/wallclock"
	"github.com/railyard/railyard/internal/wire"
	"github.com/railyard/railyard/shaping"
)

// four returns a cluster of four small nodes, in one group or in two that share
// uplinks of a quarter of what their NICs can send.
func four(contended bool) emu.Cluster {
	c := emu.Cluster{Name: "four", Groups: []emu.Group{{Count: 4, System: "dgx-h100", GPUs: 2}}}
	if contended {
		half := emu.Group{Count: 2, System: "dgx-h100", GPUs: 2}
		c.Groups, c.Fabric.Oversubscription = []emu.Group{half, half}, 4
	}
	return c
}

// wall is a sweep of one size under the paced clock.
func wall(algorithm string, dilation int64) sweep.Spec {
	s := single(algorithm)
	s.Paced, s.Dilation = true, dilation
	return s
}

// bench runs a sweep of one row, and returns the row.
func (b *bubble) bench(spec sweep.Spec) Row {
	b.t.Helper()
	row, err := b.tryBench(spec, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	if row.OutOfPlace.Wrong != 0 || row.InPlace.Wrong != 0 || !row.OutOfPlace.Checked || !row.InPlace.Checked {
		b.t.Errorf("elements: %+v, %+v", row.OutOfPlace, row.InPlace)
	}
	return row
}

func (b *bubble) tryBench(spec sweep.Spec, timeline *bytes.Buffer) (row Row, err error) {
	sink := Sink{Started: func(Started) error { return nil }, Row: func(r Row) error {
		row = r
		return nil
	}}
	if timeline != nil {
		sink.Timeline = timeline
	}
	err = b.Bench(b.t.Context(), spec, sink)
	return row, err
}

// TestPacedKeepsTime: on a host with nothing else to do no frame is late, and
// then times and timeline are those of one kernel, byte for byte: with frames
// that go from node to node, and with frames that pass the fabric.
func TestPacedKeepsTime(t *testing.T) {
	for _, contended := range []bool{false, true} {
		want := foresee(t, four(contended), single("ring"))
		inBubble(t, Config{Cluster: four(contended)}, func(b *bubble) {
			var lines bytes.Buffer
			row, err := b.tryBench(wall("ring", 1000), &lines)
			if err != nil {
				t.Fatal(err)
			}
			p, l := row.Pace, row.Pace.Lateness()
			if p.Off(&row.Row) != 0 || l.Late() != 0 || l.Deliveries.Count == 0 || l.Stall != 0 || p.Enough() != 1000 || p.Tries() != 2 || p.ClockError != 0 {
				t.Errorf("contended %v: %+v", contended, p)
			}
			if row.OutOfPlace.Time == 0 || row.OutOfPlace.Time != want.rows[0].OutOfPlace.Time || row.InPlace.Time != want.rows[0].InPlace.Time {
				t.Errorf("contended %v: took %v and %v, want %v and %v", contended, row.OutOfPlace.Time, row.InPlace.Time,
					want.rows[0].OutOfPlace.Time, want.rows[0].InPlace.Time)
			}
			if err := identical(lines.Bytes(), want.timeline); err != nil {
				t.Errorf("contended %v: %v", contended, err)
			}
		})
	}
}

// TestPacedTakesItsTime: what takes so long on hardware takes that much longer
// on the wall.
func TestPacedTakesItsTime(t *testing.T) {
	const dilation = 5000
	inBubble(t, Config{Cluster: four(false)}, func(b *bubble) {
		began := b.clock.Now()
		row := b.bench(wall("ring", dilation))
		took, least := b.clock.Now()-began, int64(row.OutOfPlace.Time+row.InPlace.Time)*dilation/1000
		if took < least {
			t.Errorf("took %v on the wall, less than the %v that both halves take", time.Duration(took), time.Duration(least))
		}
	})
}

// TestPacedWaitsForDeparture: no frame is on its stream before its first byte
// leaves the NIC, and then without delay but for what events wait for company.
func TestPacedWaitsForDeparture(t *testing.T) {
	const dilation = 10_000
	const way = 1795 * shaping.Nanosecond // from NIC to NIC on a rail of NDR
	var mu sync.Mutex
	var starts []int64 // of the batch, as each frame would have it
	var clock wallclock.Clock
	spec := wall(sweep.Auto, dilation)
	spec.Op = collective.AllToAll // elements move in the half out of place alone
	inBubble(t, Config{Cluster: four(false)}, func(b *bubble) {
		if _, err := b.tryBench(spec, nil); err != nil {
			t.Fatal(err)
		}
	}, func(_ int, c *nodesim.Config) {
		clock = c.Clock
		c.Hold = func(frames []wire.Frame) {
			mu.Lock()
			defer mu.Unlock()
			for i := range frames {
				if h := &frames[i].Header; h.Payload && !h.Credit {
					starts = append(starts, clock.Now()-int64(h.Head.Add(-way))*dilation/1000)
				}
			}
		}
	})
	lull := int64(way) * dilation / 1000 / 8 // what nodesims allow events to wait
	if d := slices.Max(starts) - slices.Min(starts); len(starts) < 40 || d > lull+int64(time.Microsecond) {
		t.Errorf("%d frames came up to %v from where they should have; want at most %v", len(starts), time.Duration(d), time.Duration(lull))
	}
}

// slow makes frames to one node reach it so much later.
func slow(n int, by time.Duration) change {
	return only(n, func(c *nodesim.Config) {
		c.Hold = func([]wire.Frame) { time.Sleep(by) }
	})
}

// TestPacedTellsOverload: a host on which frames need longer than they may says
// that its times cannot be trusted, and with what dilation they could be; that
// is true.
func TestPacedTellsOverload(t *testing.T) {
	const by = 10 * time.Millisecond
	var enough int64
	inBubble(t, Config{Cluster: four(false)}, func(b *bubble) {
		row := b.bench(wall("ring", 1000))
		p, l := row.Pace, row.Pace.Lateness()
		if p.Off(&row.Row) <= Tolerance || l.Late() == 0 || l.Deliveries.Max < shaping.Duration(by)-2*shaping.Microsecond {
			t.Errorf("overloaded: off by %d ‰, %+v", p.Off(&row.Row), l)
		}
		if enough = p.Enough(); p.Tries() != 2 {
			t.Errorf("%d tries, at a dilation that was asked for", p.Tries())
		}
	}, slow(1, by))
	if least := int64(by) * 1000 / int64(1795*shaping.Nanosecond); enough < least {
		t.Errorf("%d would have been enough; with less than %d frames are late", enough, least)
	}
	inBubble(t, Config{Cluster: four(false)}, func(b *bubble) {
		if row := b.bench(wall("ring", enough)); row.Pace.Off(&row.Row) != 0 || row.Pace.OutOfPlace.Lateness.Late() != 0 {
			t.Errorf("at dilation %d: off by %d ‰, %+v", enough, row.Pace.Off(&row.Row), row.Pace)
		}
	}, slow(1, by))
}

// TestPacedChooses: the dilation that is chosen keeps the times although the
// host carries less than it seemed to; half of it would not.
func TestPacedChooses(t *testing.T) {
	host := &pace.Capacity{Wake: 1000, Stream: 100_000, Frames: 1e9, Bytes: 1e12}
	inBubble(t, Config{Cluster: four(false), Capacity: host}, func(b *bubble) {
		row := b.bench(wall("ring", 0))
		p := row.Pace
		if !p.Chosen || p.Limit == "" || p.Off(&row.Row) > Tolerance {
			t.Errorf("off by %d ‰ at %+v", p.Off(&row.Row), p)
		}
		if want := fmt.Sprintf("tried out at %d, ", p.Dilation()/2); !strings.Contains(p.Limit, want) {
			t.Errorf("at %d the limit is %q, which does not say %q", p.Dilation(), p.Limit, want)
		}
		less := b.bench(wall("ring", p.Dilation()/2))
		if margin*less.Pace.Off(&less.Row) <= Tolerance {
			t.Errorf("dilation %d was chosen, but at half of it times are off by %d ‰", p.Dilation(), less.Pace.Off(&less.Row))
		}
	}, slow(1, 10*time.Millisecond))
}

// stopped is the clock of a process that is stopped for a while: whoever looks
// at it then goes on only afterwards.
type stopped struct {
	wallclock.Clock
	mu       sync.Mutex
	from, to int64
}

func (c *stopped) stop(from, to int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.from, c.to = from, to
}

func (c *stopped) Now() int64 {
	now := c.Clock.Now()
	c.mu.Lock()
	from, to := c.from, c.to
	c.mu.Unlock()
	if now >= from && now < to {
		time.Sleep(time.Duration(to - now))
	}
	return c.Clock.Now()
}

// Alarm rings after the process goes on, and after what came meanwhile was read:
// frames wake whoever was stopped, before any alarm does.
func (c *stopped) Alarm(ring func()) wallclock.Alarm {
	return c.Clock.Alarm(func() {
		c.mu.Lock()
		from, to := c.from, c.to
		c.mu.Unlock()
		now := c.Clock.Now()
		if now < from || now >= to {
			ring()
			return
		}
		go func() { // the pacer is that of all
			time.Sleep(time.Duration(to-now) + time.Microsecond)
			ring()
		}()
	})
}

// TestPacedNamesStraggler: when a nodesim is stopped for a while, ranks are late
// by that much, once, whoever sent to it meanwhile; data stay right, and it is
// named.
func TestPacedNamesStraggler(t *testing.T) {
	const dilation, stop = 10_000, 500 * time.Millisecond
	for _, contended := range []bool{false, true} {
		for _, channels := range []int{1, 2, 8} {
			for _, after := range []time.Duration{20 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond} {
				var clock stopped
				spec := wall("ring", dilation)
				spec.Iterations, spec.Warmup, spec.Channels, spec.MinBytes, spec.MaxBytes = 1, 0, channels, 262_144, 262_144
				inBubble(t, Config{Cluster: four(contended)}, func(b *bubble) {
					// What is computed first takes no time here: the batch starts after lead.
					from := b.clock.Now() + lead + int64(after)
					clock.stop(from, from+int64(stop))
					row := b.bench(spec)
					p, l := row.Pace, row.Pace.Lateness()
					// It counts from what it was to do next, and that may have been its heartbeat.
					late, want := row.OutOfPlace.Time-p.OutOfPlace.Computed, shaping.Duration(stop)*1000/dilation
					if late < want*7/10 || late > want*11/10 || p.Off(&row.Row) <= Tolerance {
						t.Errorf("contended %v, %d channels: stopped for %v after %v at dilation %d: late by %v, want about %v",
							contended, channels, stop, after, dilation, late, want)
					}
					if name := b.members[2].Name; p.Straggler() != name || l.Stall < int64(stop)*8/10 {
						t.Errorf("straggler %q, behind by %v; want %s, %v", p.Straggler(), time.Duration(l.Stall), name, stop)
					}
				}, only(2, func(c *nodesim.Config) {
					clock.Clock = c.Clock
					c.Clock = &clock
				}))
			}
		}
	}
}

// shifted is the clock of another host.
type shifted struct {
	wallclock.Clock
	by int64
}

func (c *shifted) Now() int64   { return c.Clock.Now() + c.by }
func (c *shifted) Host() string { return "elsewhere" }

func (c *shifted) Alarm(ring func()) wallclock.Alarm { return &shiftedAlarm{c.Clock.Alarm(ring), c.by} }

type shiftedAlarm struct {
	wallclock.Alarm
	by int64
}

func (a *shiftedAlarm) Set(at int64) { a.Alarm.Set(at - a.by) }

// TestPacedElsewhere: nodes of another host, whose clock says something else,
// keep the same times; by how much its offset may be wrong is stated.
func TestPacedElsewhere(t *testing.T) {
	for _, by := range []time.Duration{time.Hour, -time.Hour} {
		inBubble(t, Config{Cluster: four(true)}, func(b *bubble) {
			row := b.bench(wall("ring", 100_000)) // long enough for clocks to be compared again
			if p := row.Pace; p.Off(&row.Row) != 0 || p.OutOfPlace.Lateness.Late() != 0 || p.ClockError <= 0 || p.ClockError > int64(time.Millisecond) {
				t.Errorf("a clock that is off by %v: off by %d ‰, %+v", by, p.Off(&row.Row), p)
			}
		}, only(1, func(c *nodesim.Config) { c.Clock = &shifted{c.Clock, int64(by)} }))
	}
}

// TestPacedEnds: a member that is stopped for good is named when patience ends,
// though all others go on saying that they are there.
func TestPacedEnds(t *testing.T) {
	var clock stopped
	inBubble(t, Config{Cluster: four(false), Stall: 5 * time.Second}, func(b *bubble) {
		from := b.clock.Now() + lead + int64(100*time.Millisecond)
		clock.stop(from, from+int64(time.Minute))
		_, err := b.tryBench(wall("ring", 10_000), nil)
		if f := cause(t, err); f.Cause != wire.Timeout || !bytes.Contains([]byte(f.Text), []byte(b.members[2].Name+" said nothing")) {
			t.Errorf("ended with %v", err)
		}
	}, only(2, func(c *nodesim.Config) {
		clock.Clock = c.Clock
		c.Clock = &clock
	}))
}

// TestPacedIsInterrupted: whoever has seen enough need not wait for the end. How
// far off that is was said before.
func TestPacedIsInterrupted(t *testing.T) {
	inBubble(t, Config{Cluster: four(false)}, func(b *bubble) {
		ctx, cancel := context.WithTimeout(b.t.Context(), time.Second)
		defer cancel()
		var said []string
		err := b.Bench(ctx, wall("ring", 10_000_000), Sink{Started: func(Started) error { return nil }, Row: func(Row) error { return nil },
			Doing: func(what string) { said = append(said, what) }})
		if len(said) != 1 || !strings.Contains(said[0], "running at dilation 10000000: takes about ") {
			t.Errorf("said %q", said)
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("ended with %v", err)
		}
	})
}

// TestPacedWithoutFrames: where no frame leaves its process no dilation is looked for.
func TestPacedWithoutFrames(t *testing.T) {
	one := emu.Cluster{Groups: []emu.Group{{Count: 1, System: "dgx-h100", GPUs: 2}}}
	inBubble(t, Config{Cluster: one, Capacity: &pace.Capacity{Wake: 1000, Stream: 1000, Frames: 1, Bytes: 1}}, func(b *bubble) {
		p := b.bench(wall("ring", 0)).Pace
		if p.Tried != 0 || p.Tries() != 2 || p.Dilation() != 1 || !strings.HasPrefix(p.Limit, "nothing") {
			t.Errorf("%+v", p)
		}
	})
}

// TestPacedIsDeserted: a batch that nobody waits for any more does not keep a cluster
// busy for as long as it would have taken by the wall, whether its dilation was asked
// for or is being tried out; the next bench finds the cluster as it was.
func TestPacedIsDeserted(t *testing.T) {
	want := foresee(t, four(true), single("ring"))
	for _, dilation := range []int64{0, pace.MaxDilation} {
		host := &pace.Capacity{Wake: 1000, Stream: int64(time.Second), Frames: 1e9, Bytes: 1e12}
		inBubble(t, Config{Cluster: four(true), Capacity: host}, func(b *bubble) {
			began := b.clock.Now()
			ctx, leave := context.WithTimeout(b.t.Context(), time.Second)
			defer leave()
			hungUp := errors.New("nobody listens")
			err := b.Bench(b.t.Context(), wall("ring", dilation), Sink{Gone: ctx.Done(), Started: func(Started) error { return nil },
				Row: func(Row) error { return hungUp }})
			if took := time.Duration(b.clock.Now() - began); !errors.Is(err, hungUp) || took > 3*time.Second {
				t.Errorf("dilation %d: left after 1 s, ended after %v: %v", dilation, took, err)
			}
			row, err := b.tryBench(wall("ring", 1000), nil)
			if err != nil || row.OutOfPlace.Time != want.rows[0].OutOfPlace.Time || row.Pace.Off(&row.Row) != 0 || row.OutOfPlace.Wrong != 0 {
				t.Errorf("dilation %d: the next bench: %v, %+v", dilation, err, row)
			}
		})
	}
}
