package coordinator

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fault"
	"github.com/railyard/railyard/emu/predict"
	"github.com/railyard/railyard/emu/sweep"
	"github.com/railyard/railyard/internal/wire"
)

// step is what somebody does to the faults once so many bytes of the timeline are
// written: between two windows, and always the same two.
type step struct {
	after  int
	add    []emu.Fault
	remove []string
}

// script is a timeline whose reader changes faults as it goes.
type script struct {
	bytes.Buffer
	live  *live
	steps []step
	asked []*edit
}

func newScript(steps ...step) *script {
	s := &script{live: newLive(func(Change) {}), steps: steps}
	s.live.edits = make(chan *edit, len(steps)+1)
	s.look()
	return s
}

func (s *script) look() {
	for len(s.steps) > 0 && s.Len() >= s.steps[0].after {
		e := &edit{add: s.steps[0].add, remove: s.steps[0].remove, done: make(chan edited, 1)}
		s.steps, s.asked = s.steps[1:], append(s.asked, e)
		s.live.edits <- e
	}
}

func (s *script) Write(b []byte) (int, error) {
	n, err := s.Buffer.Write(b)
	s.look()
	return n, err
}

// answers returns what became of the steps.
func (s *script) answers(t testing.TB) (all []edited) {
	t.Helper()
	for _, e := range s.asked {
		select {
		case a := <-e.done:
			all = append(all, a)
		default:
			t.Fatal("somebody who changed faults got no answer")
		}
	}
	if len(s.steps) > 0 {
		t.Fatalf("%d steps were not taken: the timeline has %d bytes", len(s.steps), s.Len())
	}
	return all
}

// livelong is a bench whose faults change.
func (r *rig) livelong(spec sweep.Spec, faults []emu.Fault, s *script) (rows []sweep.Row, toll Toll, err error) {
	ctx, cancel := context.WithTimeout(r.t.Context(), bound)
	defer cancel()
	toll, err = r.benchLive(ctx, spec, faults, s.live, Sink{
		Started:  func(Started) error { return nil },
		Row:      func(row Row) error { rows = append(rows, row.Row); return nil },
		Timeline: s,
	})
	return rows, toll, err
}

// replay is the same bench in one kernel, with all faults declared before it began.
func replay(t testing.TB, c emu.Cluster, spec sweep.Spec, faults []emu.Fault) (rows []sweep.Row, failure *emu.Failure, lines []byte) {
	t.Helper()
	f, err := fault.Fabric(c, faults)
	if err != nil {
		t.Fatal(err)
	}
	schedule, err := fault.Compile(f, faults, spec.Seed, horizon)
	if err != nil {
		t.Fatal(err)
	}
	sw, err := sweep.New(f, spec)
	if err != nil {
		t.Fatal(err)
	}
	p, calls, failed := predict.NewFaulty(f, true, schedule, emu.DefaultResilience()), &session{schedule: schedule}, errors.New("failed")
	timeline := record(p, f)
	err = sw.Run(func(_ *sweep.Case, b emu.Batch) (sweep.Result, error) {
		calls.miscall(&b, calls.ops)
		calls.ops++
		out, err := p.Execute(b)
		if failure = out.Failure; err == nil && failure != nil {
			err = failed
		}
		return sweep.Result{Outcome: out}, err
	}, func(r sweep.Row) error { rows = append(rows, r); return nil })
	if err != nil && !errors.Is(err, failed) {
		t.Fatal(err)
	}
	return rows, failure, timeline.Bytes()
}

// liveCase is what is done to a bench, and what comes of it.
type liveCase struct {
	name   string
	faults []emu.Fault // from the start
	steps  []step
	cause  wire.Cause // of the failure; 0: none
	wrong  bool
	shared bool // on a cluster whose uplinks are contended, as well
	deadly bool // processes die
}

func liveCases() []liveCase {
	named := func(name, word, target string, edit func(*emu.Fault)) emu.Fault {
		f := emu.Fault{Name: name, Type: word, Target: target, Element: -1, Bit: -1}
		if edit != nil {
			edit(&f)
		}
		return f
	}
	add := func(after int, fs ...emu.Fault) step { return step{after: after, add: fs} }
	slow := named("slow", "rate", "node1/nic0", func(f *emu.Fault) { f.Share = fault.Whole / 10 })
	far := named("far", "latency", "node0/nic1", func(f *emu.Fault) { f.Latency = 9 * us })
	lossy := named("lossy", "loss", "node2/nic1", func(f *emu.Fault) { f.Loss = 100_000_000 })
	const early, amid, late = 20_000, 400_000, 900_000 // of 1.8 MB, halves of a row 0.9 MB
	return []liveCase{
		{name: "a NIC gets slow", steps: []step{add(amid, slow)}, shared: true},
		{name: "before anything has happened", steps: []step{add(0, slow)}},
		{name: "a way gets long, and short again", steps: []step{add(early, far), {after: late, remove: []string{"far"}}}, shared: true},
		{name: "one after the other", steps: []step{add(early, slow), add(amid, far), add(late, lossy)}, shared: true},
		{name: "two at once, later", steps: []step{add(amid, named("a", "rate", "node1/nic0", func(f *emu.Fault) { f.Share, f.When.At = fault.Whole/10, 5*us }),
			named("b", "jitter", "node2/nic0", func(f *emu.Fault) { f.Jitter, f.When.Until = 5*us, 40*us }))}},
		{name: "what was there from the start is healed", faults: []emu.Fault{slow, far}, steps: []step{{after: amid, remove: []string{"slow"}}, {after: late, remove: []string{"far"}}}},
		{name: "a name is given twice", steps: []step{add(early, slow), {after: amid, remove: []string{"slow"}}, add(amid, slow)}},
		{name: "packets are lost", steps: []step{add(amid, lossy)}, shared: true},
		{name: "a NIC is down for a while", steps: []step{add(amid, named("flap", "down", "node1/nic0", func(f *emu.Fault) { f.DownFor = 20 * us }))}, shared: true},
		{name: "a NIC is down, and mended", steps: []step{add(amid, named("down", "down", "node1/nic0", nil)), {after: 700_000, remove: []string{"down"}}}},
		{name: "a NIC is down for good", steps: []step{add(amid, named("down", "down", "node1/nic0", nil))}, cause: wire.LinkDown, shared: true},
		{name: "parts are kept apart", steps: []step{add(amid, named("cut", "partition", "node0-3 | node4-7", func(f *emu.Fault) { f.DownFor = 30 * us }))}, shared: true},
		{name: "a GPU slows down", steps: []step{add(amid, named("hot", "gpu-slow", "node3/gpu0", func(f *emu.Fault) { f.Share = fault.Whole / 4 })), {after: late, remove: []string{"hot"}}}},
		{name: "a process is paused", steps: []step{add(amid, named("stop", "pause", "node3", func(f *emu.Fault) { f.DownFor = 80 * us })), {after: late, remove: []string{"stop"}}}},
		{name: "a GPU hangs", steps: []step{add(amid, named("hang", "gpu-hang", "node3/gpu1", nil))}, cause: wire.Timeout},
		{name: "a GPU is lost", steps: []step{add(amid, named("lost", "gpu-lost", "node3/gpu1", func(f *emu.Fault) { f.When.At = 3 * us }))}, cause: wire.PeerLost},
		{name: "a process is killed", steps: []step{add(amid, named("kill", "kill", "node2", nil))}, cause: wire.PeerLost, shared: true, deadly: true},
		{name: "it was taken back before it struck", steps: []step{add(early, named("kill", "kill", "node2", func(f *emu.Fault) { f.When.At = ms })), {after: early + 5000, remove: []string{"kill"}}, add(amid, lossy)}},
		{name: "a bit turns over on a wire", steps: []step{add(early, named("flip", "bitflip", "node1/nic0", nil)), add(amid, lossy)}, wrong: true},
		{name: "the next call is skipped", steps: []step{add(amid, named("skip", "skip", "node3/gpu1", nil))}, cause: wire.Timeout},
		{name: "a leaf's uplinks fail, which nothing contends for", steps: []step{add(early, named("spine", "rate", "spine0", func(f *emu.Fault) { f.Share = fault.Whole / 50 }))}},
		{name: "an uplink is down for a while", steps: []step{add(amid, named("up", "down", "spine0", func(f *emu.Fault) { f.DownFor = 30 * us }))}, shared: true},
	}
}

// TestLiveFaultsAreAsIfDeclared: faults that change while a bench runs strike it, from
// an instant on that is told, and what comes of it is what one kernel makes of the same
// faults declared before: every record, row and failure.
func TestLiveFaultsAreAsIfDeclared(t *testing.T) {
	t.Parallel()
	for _, on := range []struct {
		contended bool
		procs     int
	}{{false, 1}, {false, 4}, {true, 3}} {
		t.Run(fmt.Sprintf("contended %v, %d processes", on.contended, on.procs), func(t *testing.T) {
			c := eight(on.contended)
			c.Groups = []emu.Group{{Count: 4, System: "dgx-h100", GPUs: 2}, {Count: 4, System: "dgx-h100", GPUs: 2}}
			all := gather(t, c, on.procs, hold(uint64(on.procs)))
			for i, test := range liveCases() {
				if on.procs == 1 && i%4 > 0 || on.procs == 4 && test.shared {
					continue // windows are all that differs, or the fabric beside them
				}
				if on.contended && !test.shared || on.procs == 1 && test.deadly { // a process with all nodes is all there is
					continue
				}
				r := all
				if test.deadly {
					var err error
					if r, err = start(t, Config{Cluster: c}, on.procs, hold(uint64(on.procs))); err != nil {
						t.Fatal(err)
					}
					defer r.Close()
				}
				r.lives(t, &test)
			}
		})
	}
}

// lives plays a case, and again with all faults declared.
func (r *rig) lives(t *testing.T, test *liveCase) {
	t.Run(test.name, func(t *testing.T) {
		s, spec := newScript(test.steps...), single("ring")
		spec.MinBytes, spec.MaxBytes = 400_004, 400_004 // some windows long, also where one process has all nodes
		rows, toll, err := r.livelong(spec, test.faults, s)
		told := s.answers(t)
		want, failure, lines := replay(t, r.Cluster.fabric.Cluster, spec, toll.Faults)
		if diff := identical(s.Bytes(), lines); diff != nil {
			t.Error(diff)
		}
		test.asDeclared(t, rows, want, err, failure)
		for i, a := range told {
			if a.err != nil || a.at == 0 && a.but == "" {
				t.Errorf("change %d: %+v", i, a)
			}
		}
		if len(toll.Changes) == 0 || toll.Perturbed != toll.Changes[0].At || !slices.IsSortedFunc(toll.Changes, func(a, b Change) int { return int(a.At - b.At) }) {
			t.Errorf("perturbed at %v by %+v", toll.Perturbed, toll.Changes)
		}
		// One process has windows so long that a fault may be gone before it matters.
		if _, _, before := replay(t, r.Cluster.fabric.Cluster, spec, test.faults); len(r.members) > 1 && bytes.Equal(before, lines) {
			t.Errorf("what was done to it made no difference: %d bytes", s.Len())
		}
	})
}

// asDeclared compares rows and failures, and what must come of it.
func (c *liveCase) asDeclared(t *testing.T, rows, want []sweep.Row, err error, failure *emu.Failure) {
	t.Helper()
	var got *Failed
	switch {
	case c.cause == 0 && (err != nil || failure != nil):
		t.Fatalf("ended with %v, as declared %+v; want it to end well", err, failure)
	case c.cause != 0 && (!errors.As(err, &got) || got.Cause != c.cause || failure == nil):
		t.Fatalf("ended with %v, as declared %+v; want %v", err, failure, c.cause)
	case c.cause != 0 && !reflect.DeepEqual(got.Outcome.Failure, failure):
		t.Errorf("failed with %+v, as declared %+v", got.Outcome.Failure, failure)
	}
	if len(rows) != len(want) {
		t.Fatalf("%d rows, as declared %d", len(rows), len(want))
	}
	for i, row := range rows {
		if row.OutOfPlace.Time != want[i].OutOfPlace.Time || row.InPlace.Time != want[i].InPlace.Time {
			t.Errorf("took %v and %v, as declared %v and %v", row.OutOfPlace.Time, row.InPlace.Time, want[i].OutOfPlace.Time, want[i].InPlace.Time)
		}
		if a, b := right(row.OutOfPlace), right(row.InPlace); c.wrong && a && b || !c.wrong && (!a || !b) {
			t.Errorf("%+v, %+v, want wrong elements: %v", row.OutOfPlace, row.InPlace, c.wrong)
		}
	}
}

// asked is what became of an edit.
type asked struct {
	faults []emu.Fault
	live   Live
	err    error
}

// TestLiveEdits: what a client of a coordinator is told of the bench that runs when it
// adds faults and takes them back, what the bench's own client is told, and that
// something that can't be is refused without harm.
func TestLiveEdits(t *testing.T) {
	t.Parallel()
	pause, begun, release := paused(0)
	s := serveAs(t, Config{asked: release}, pause) // a window waits for frames of node 0, and frames for an edit
	t.Cleanup(release)
	c, ctx, spec := s.connect(), t.Context(), single("ring")
	var bad, good, gone asked
	var changes []Change
	done := make(chan struct{})
	go func() {
		defer close(done)
		<-begun
		bad.faults, bad.live, bad.err = c.AddFaults(ctx, emu.Fault{Type: "down", Target: "node9/nic0"})
		good.faults, good.live, good.err = c.AddFaults(ctx, emu.Fault{Type: "rate", Target: "node1/nic0", Share: fault.Whole / 50},
			emu.Fault{Type: "latency", Target: "node1/nic0", Latency: 30 * us, When: at(ms)})
		gone.faults, gone.live, gone.err = c.RemoveFaults(ctx) // perhaps after the bench is over
	}()
	spec.MinBytes, spec.MaxBytes = 400_004, 400_004
	var rows []sweep.Row
	err := s.connect().Bench(ctx, spec, Sink{
		Started: func(Started) error { return nil },
		Row:     func(r Row) error { rows = append(rows, r.Row); return nil },
		Changed: func(c Change) { changes = append(changes, c) },
	})
	if err != nil {
		t.Fatal(err)
	}
	<-done
	if bad.err == nil || cause(t, bad.err).Cause != wire.Config || !strings.Contains(bad.err.Error(), "node9") {
		t.Errorf("a fault on no NIC: %v", bad.err)
	}
	if good.err != nil || len(good.faults) != 2 || good.faults[1].Name != "latency-1" || good.faults[1].When.At != ms ||
		good.live.Running != "all_reduce on 9 GPUs" || good.live.At == 0 || good.live.But != "" {
		t.Errorf("added %+v", good)
	}
	if len(changes) < 2 || len(changes)%2 > 0 || changes[0].At != good.live.At || changes[0].Says != fmt.Sprintf("added rate-1: rate node1/nic0 at=%v share=2%%", good.live.At) {
		t.Errorf("the bench was told %+v, and whoever changed it %v", changes, good.live.At)
	}
	if gone.err != nil || len(gone.faults) != 2 {
		t.Errorf("removed %+v", gone)
	}
	m, err := c.Explain(ctx)
	if err != nil || m.GetPerturbedPs() != int64(good.live.At) || len(m.GetChanges()) != len(changes) || m.GetVerdict() != "done" {
		t.Errorf("explained as %v, %v", m, err)
	}
	if len(rows) != 1 || !right(rows[0].OutOfPlace) || !right(rows[0].InPlace) || rows[0].OutOfPlace.Time <= foresee(t, trio(), spec).rows[0].OutOfPlace.Time {
		t.Errorf("rows %+v, want right ones that took longer", rows)
	}
	if _, live, err := c.AddFaults(ctx, emu.Fault{Type: "down", Target: "node0/nic0"}); err != nil || live != (Live{}) {
		t.Errorf("when nothing runs: %+v, %v", live, err)
	}
}
