package coordinator

import (
	"bytes"
	"context"
	"reflect"
	"slices"
	"sync"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fault"
	"github.com/railyard/railyard/emu/predict"
	"github.com/railyard/railyard/internal/nodesim"
	"github.com/railyard/railyard/internal/wire"
	"github.com/railyard/railyard/shaping"
)

const (
	us = shaping.Microsecond
	ms = shaping.Millisecond
)

func at(d shaping.Duration) emu.When { return emu.When{At: d} }

// struckRuns is one all-reduce after the other: on all GPUs, then on those that are
// left, for a batch that failed; each with real elements.
func struckRuns(comm []int) emu.Batch {
	return emu.Batch{Runs: []emu.Run{{Op: collective.AllReduce, Algorithm: "ring", Comm: comm, Count: 300_000, Real: 300_000, DType: collective.Int32,
		Iterations: 1, Launch: 8 * us, Options: collective.Options{Channels: 4, Protocol: collective.Simple}, Seed: 9}}}
}

// TestStruckSessionsKeepTheLaw: predict and the daemons agree on every record, end
// and failure of sessions that faults strike, and what survives is right.
func TestStruckSessionsKeepTheLaw(t *testing.T) {
	bear := emu.DefaultResilience()
	bear.Watchdog = 50 * ms
	quick := bear
	quick.IBTimeout, quick.IBRetry = 4, 2
	over := quick
	over.Failover, over.Probe = true, 20*us
	c := emu.Cluster{Name: "struck", Seed: 5, Groups: []emu.Group{{Count: 4, System: "dgx-h100", GPUs: 2}}}
	for _, test := range []struct {
		name   string
		faults []emu.Fault
		bear   emu.Resilience
		cause  emu.Cause // of the first batch; empty: it ends well
		hang   emu.Hang
	}{
		{"flap in time", []emu.Fault{{Type: "down", Target: "node1/nic0", When: emu.When{At: 60 * us, Until: 90 * us}}}, quick, "", ""},
		{"dead NIC", []emu.Fault{{Type: "down", Target: "node1/nic0", When: at(60 * us)}}, quick, emu.LinkDown, ""},
		{"dead NIC, failover", []emu.Fault{{Type: "down", Target: "node1/nic0", When: at(60 * us)}}, over, "", ""},
		{"killed process", []emu.Fault{{Type: "kill", Target: "node2", When: at(70 * us)}}, bear, emu.PeerLost, ""},
		{"lost GPU", []emu.Fault{{Type: "gpu-lost", Target: "node3/gpu1", When: at(70 * us)}}, bear, emu.PeerLost, ""},
		{"hung GPU", []emu.Fault{{Type: "gpu-hang", Target: "node3/gpu1", When: at(70 * us)}}, bear, emu.Timeout, emu.MissingExit},
		{"loss", []emu.Fault{{Type: "loss", Target: "node0/nic1", Loss: 20_000_000, When: at(0)}}, quick, "", ""},
		{"slow GPU, jitter", []emu.Fault{{Type: "gpu-slow", Target: "node0/gpu0", When: at(0)}, {Type: "jitter", Target: "node1/nic1", Jitter: 5 * us, When: at(0)}}, bear, "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			st := wire.Struck{Faults: test.faults, Bear: test.bear, Seed: 11, Horizon: 10 * ms}
			want, lines := foreseeStruck(t, c, &st)
			if f := want[0].Failure; (f == nil) != (test.cause == "") || f != nil && (f.Cause != test.cause || f.Hang != test.hang) {
				t.Fatalf("predict ends with %+v, want %q %q", f, test.cause, test.hang)
			}
			for _, procs := range []int{2, 4} {
				r := gather(t, c, procs, hold(uint64(procs)))
				r.struck(&st, want, lines)
			}
		})
	}
}

// play carries out the batches: all GPUs, and again without those that were lost.
func play(execute func(emu.Batch) (emu.Outcome, error), gpus []int) ([]emu.Outcome, error) {
	var all []emu.Outcome
	b := struckRuns(gpus)
	for range 2 {
		out, err := execute(b)
		if err != nil {
			return all, err
		}
		all = append(all, out)
		comm := slices.Clone(b.Runs[0].Comm)
		if out.Failure != nil {
			for i := len(out.Failure.Lost) - 1; i >= 0; i-- {
				comm = slices.Delete(comm, out.Failure.Lost[i], out.Failure.Lost[i]+1)
			}
		}
		b = struckRuns(comm)
		b.Runs[0].Offset = out.Next()
	}
	return all, nil
}

func foreseeStruck(t *testing.T, c emu.Cluster, st *wire.Struck) ([]emu.Outcome, []byte) {
	t.Helper()
	f, err := fault.Fabric(c, st.Faults)
	if err != nil {
		t.Fatal(err)
	}
	s, err := fault.Compile(f, st.Faults, st.Seed, st.Horizon)
	if err != nil {
		t.Fatal(err)
	}
	p := predict.NewFaulty(f, true, s, st.Bear)
	lines := record(p, f)
	all, err := play(p.Execute, f.All())
	if err != nil {
		t.Fatal(err)
	}
	if all[1].Failure != nil {
		t.Fatalf("the survivors fail as well: %+v", all[1].Failure)
	}
	return all, lines.Bytes()
}

// struck plays the batches on the daemons and compares.
func (r *rig) struck(st *wire.Struck, want []emu.Outcome, lines []byte) {
	r.t.Helper()
	var timeline bytes.Buffer
	x, err := r.Struck(*st, &timeline, true)
	if err != nil {
		r.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(r.t.Context(), bound)
	defer cancel()
	got, err := play(func(b emu.Batch) (emu.Outcome, error) {
		res, _, err := x.Execute(ctx, b)
		if err == nil && res.Failure == nil && (len(res.Wrong) != 1 || res.Wrong[0] != 0) {
			r.t.Errorf("wrong elements: %v", res.Wrong)
		}
		return res.Outcome, err
	}, x.Fabric().All())
	if err != nil {
		r.t.Fatal(err)
	}
	for i := range want {
		a, b := want[i], got[i]
		if !slices.Equal(a.Ends, b.Ends) || !reflect.DeepEqual(a.Failure, b.Failure) || !slices.Equal(a.Progress, b.Progress) {
			r.t.Errorf("batch %d: predict %+v %+v, daemons %+v %+v", i, a, a.Failure, b, b.Failure)
		}
	}
	if !bytes.Equal(timeline.Bytes(), lines) {
		r.t.Error("timelines differ")
	}
	dead := 0
	for n := range x.Fabric().Nodes() {
		if x.session.schedule.Dead(n) != shaping.Never {
			dead++
		}
	}
	if got := len(x.Deaths()); got > dead || dead > 0 && len(r.members) == x.Fabric().Nodes() && got != dead {
		r.t.Errorf("%d processes died, %d nodes were to", got, dead)
	}
}

// TestFlippedBitsAreFound: a bit that no CRC catches shows in the results: where it
// is, when it turned over in one; on every rank that reduced it, when on the wire.
func TestFlippedBitsAreFound(t *testing.T) {
	t.Parallel()
	c := emu.Cluster{Name: "flips", Groups: []emu.Group{{Count: 2, System: "dgx-h100", GPUs: 2}}}
	for _, test := range []struct {
		target string
		ranks  int
	}{{"node1/gpu1", 1}, {"node0/nic0", 0}} {
		for _, procs := range []int{1, 2} {
			r := gather(t, c, procs)
			x, err := r.Struck(wire.Struck{Faults: []emu.Fault{{Type: "bitflip", Target: test.target, Element: 1234, Bit: 7, When: at(20 * us)}},
				Bear: emu.DefaultResilience(), Seed: 3, Horizon: ms}, nil, true)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), bound)
			res, _, err := x.Execute(ctx, struckRuns(x.Fabric().All()))
			cancel()
			if err != nil || res.Failure != nil {
				t.Fatal(err, res.Failure)
			}
			if test.ranks == 1 {
				if len(res.WrongRanks) != 1 || res.WrongRanks[0].Rank != 3 || res.Wrong[0] != 1 || !slices.Equal(res.WrongRanks[0].First, []int64{1234}) {
					t.Errorf("%s on %d processes: %+v, want element 1234 of rank 3", test.target, procs, res.WrongRanks)
				}
			} else if res.Wrong[0] == 0 || len(res.WrongRanks) < 2 {
				t.Errorf("%s on %d processes: a flip on the wire is wrong on %+v, want several ranks", test.target, procs, res.WrongRanks)
			}
		}
	}
}

// death is a case of TestUnforeseenDeath.
type death struct {
	name   string
	before int // batches that end well
	amid   bool
	dead   []int // nodes
}

// TestUnforeseenDeath: a process that dies although no fault was to kill it leads to
// what a killed one leads to, marked as perturbed, and the survivors go on: whenever
// it dies, and also when another dies with it.
func TestUnforeseenDeath(t *testing.T) {
	t.Parallel()
	for _, test := range []death{
		{name: "before the first batch", dead: []int{2}},
		{name: "in the first batch", amid: true, dead: []int{2}},
		{name: "between two batches", before: 1, dead: []int{3}},
		{name: "two at once", before: 1, dead: []int{1, 2}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.play(t)
		})
	}
}

func (d *death) play(t *testing.T) {
	c := emu.Cluster{Name: "unforeseen", Groups: []emu.Group{{Count: 5, System: "dgx-h100", GPUs: 2}}}
	hold, begun, release := paused(1)
	noticed := make(chan struct{}, 64)
	r, err := start(t, Config{Cluster: c}, c.Nodes(), hold, noticing(noticed))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	x, err := r.Struck(wire.Struck{Bear: emu.DefaultResilience(), Seed: 3, Horizon: ms}, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	kill := func() {
		for _, n := range d.dead {
			r.nodes[n].stop()
			_ = r.nodes[n].wait(t)
		}
		for range len(d.dead) * (c.Nodes() - len(d.dead)) {
			<-noticed // by each who is left
		}
		release()
	}
	ctx, cancel := context.WithTimeout(t.Context(), bound)
	defer cancel()
	b := struckRuns(x.Fabric().All())
	well := func() {
		t.Helper()
		res, _, err := x.Execute(ctx, b)
		if err != nil || res.Failure != nil || res.Wrong[0] != 0 {
			t.Fatalf("%v %+v %v, want a batch that ends well", err, res.Failure, res.Wrong)
		}
		b.Runs[0].Offset = res.Next()
	}
	if d.before > 0 {
		release()
	}
	for range d.before {
		well()
	}
	if d.amid {
		go func() {
			<-begun
			kill()
		}()
	} else {
		kill()
	}
	res, _, err := x.Execute(ctx, b)
	if err != nil {
		t.Fatal(err)
	}
	b = struckRuns(d.judge(t, x, &res.Outcome))
	b.Runs[0].Offset = res.Next()
	well()
}

// judge looks at the outcome of the batch that the dead were missed in, and returns
// the GPUs that are left.
func (d *death) judge(t *testing.T, x *Struck, out *emu.Outcome) (left []int) {
	t.Helper()
	var lost []int
	for g := range x.Fabric().GPUs() {
		if slices.Contains(d.dead, x.Fabric().NodeOf(g)) {
			lost = append(lost, g)
		} else {
			left = append(left, g)
		}
	}
	if f := out.Failure; f == nil || f.Cause != emu.PeerLost || !slices.Equal(f.Lost, lost) || out.Perturbed == 0 {
		t.Errorf("failure %+v, perturbed at %v, want %v lost", f, out.Perturbed, lost)
	}
	deaths := x.Deaths()
	if len(deaths) != len(d.dead) || slices.ContainsFunc(deaths, func(e Death) bool { return !e.Unforeseen || !slices.Contains(d.dead, e.Node) }) {
		t.Errorf("deaths %+v, want those of nodes %v", deaths, d.dead)
	}
	return left
}

// noticing has each nodesim say when it notices that the stream of a peer broke.
func noticing(noticed chan struct{}) change {
	return func(_ int, c *nodesim.Config) {
		seen := map[string]bool{}
		c.Logger = zap.New(&overheard{Core: zapcore.NewNopCore(), by: func(e zapcore.Entry, fields []zapcore.Field) {
			if e.LoggerName == "nodesim.actor" && e.Message == "lost" && !seen[fields[0].String] {
				seen[fields[0].String] = true
				noticed <- struct{}{}
			}
		}})
	}
}

// overheard is a log whose entries somebody hears, one at a time.
type overheard struct {
	zapcore.Core
	mu sync.Mutex
	by func(zapcore.Entry, []zapcore.Field)
}

func (o *overheard) Enabled(l zapcore.Level) bool { return l >= zapcore.InfoLevel }

func (o *overheard) Check(e zapcore.Entry, c *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if !o.Enabled(e.Level) {
		return c
	}
	return c.AddCore(e, o)
}

func (o *overheard) Write(e zapcore.Entry, fields []zapcore.Field) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.by(e, fields)
	return nil
}
