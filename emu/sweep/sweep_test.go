package sweep

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/shaping"
)

func cluster(t *testing.T, nodes, gpus int) *fabric.Fabric {
	t.Helper()
	f, err := fabric.New(emu.Cluster{Groups: []emu.Group{{Count: nodes, System: "dgx-h100", GPUs: gpus}}})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// question is what `bench OP` asks when nobody says more.
func question(op collective.Op) Spec {
	return Spec{Op: op, MinBytes: 16, MaxBytes: 1 << 30, Factor: 4, Iterations: 20, Warmup: 5, Check: true,
		RedOps: []collective.RedOp{collective.Sum}, DTypes: []collective.DType{collective.Float32},
		Algorithm: Auto, AutoProtocol: true, Budget: 1 << 30, Launch: LaunchPerGPU}
}

// TestChoices: on 4 × 8 GPUs small all-reduces go by tree and LL on one channel,
// large ones by NVLSTree on all sixteen, or by ring where NVLS is off; the
// algorithm changes once.
func TestChoices(t *testing.T) {
	choices(t, question(collective.AllReduce), "nvlstree simple ×16")
	off := question(collective.AllReduce)
	off.Tuning.NoNVLS = true
	choices(t, off, "ring simple ×16")
}

func choices(t *testing.T, q Spec, last string) {
	t.Helper()
	s, err := New(cluster(t, 4, 8), q)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range s.Cases {
		names = append(names, fmt.Sprintf("%s %s ×%d", c.Chosen.Algorithm, c.Chosen.Protocol, c.Channels))
		if c.Run.Algorithm != c.Chosen.Algorithm || c.Run.Options.Protocol != c.Chosen.Protocol || c.Run.Options.Channels != c.Channels {
			t.Errorf("%d B: chosen is %s, run is %+v", c.Size, names[len(names)-1], c.Run)
		}
	}
	if len(names) != 14 || names[0] != "tree ll ×1" || names[13] != last {
		t.Fatalf("%d sizes: %v", len(names), names)
	}
	turns := 0
	for i := 1; i < len(s.Cases); i++ {
		if s.Cases[i].Chosen.Algorithm != s.Cases[i-1].Chosen.Algorithm {
			turns++
		}
	}
	if turns != 1 {
		t.Errorf("the algorithm changes %d times: %v", turns, names)
	}
}

// TestWhatIsNamedIsTaken: never replaced by something better.
func TestWhatIsNamedIsTaken(t *testing.T) {
	for _, tc := range []struct {
		algorithm string
		protocol  collective.Protocol
		auto      bool
		channels  int
		ok        func(c *Case) bool
	}{
		{"ring", collective.LL, false, 0, func(c *Case) bool { return c.Chosen.Algorithm == "ring" && c.Chosen.Protocol == collective.LL }},
		{"tree", collective.Simple, false, 0, func(c *Case) bool { return c.Chosen.Algorithm == "tree" && c.Chosen.Protocol == collective.Simple }},
		{"tree", 0, true, 0, func(c *Case) bool { return c.Chosen.Algorithm == "tree" }},
		{Auto, collective.LL, false, 0, func(c *Case) bool { return c.Chosen.Protocol == collective.LL }},
		{Auto, 0, true, 3, func(c *Case) bool { return c.Channels == 3 && c.Run.Options.Channels == 3 }},
	} {
		q := question(collective.AllReduce)
		q.Algorithm, q.Protocol, q.AutoProtocol, q.Channels = tc.algorithm, tc.protocol, tc.auto, tc.channels
		s, err := New(cluster(t, 4, 8), q)
		if err != nil {
			t.Errorf("%s %s ×%d: %v", tc.algorithm, tc.protocol, tc.channels, err)
			continue
		}
		for i := range s.Cases {
			if c := &s.Cases[i]; !tc.ok(c) {
				t.Errorf("%s %s ×%d: at %d B %+v on %d channels", tc.algorithm, tc.protocol, tc.channels, c.Size, c.Chosen, c.Channels)
			}
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(s *Spec)
		want   string
	}{
		{"sizes the wrong way round", func(s *Spec) { s.MinBytes, s.MaxBytes = 1<<20, 1<<10 }, "-b 1048576: must be from 0 to -e 1024"},
		{"more than there may be", func(s *Spec) { s.MaxBytes = MaxBytes + 1 }, "-e 17592186044417: above 17592186044416 (16T)"},
		{"root", func(s *Spec) { s.Op, s.Root = collective.Broadcast, 32 }, "root 32: the communicator has ranks 0 to 31"},
		{"root below zero", func(s *Spec) { s.Op, s.Root = collective.Reduce, -1 }, "root -1: the communicator has ranks 0 to 31"},
		{"root in a small communicator", func(s *Spec) { s.Op, s.Root, s.Split = collective.Broadcast, 2, Split{Op: SplitDiv, Value: 30} },
			"root 2: group 1, the smallest, has ranks 0 to 1; a root is counted in its communicator"},
		{"split", func(s *Spec) { s.Split = Split{Op: SplitMod, Value: 0} }, "split by 0"},
		{"rank elsewhere", func(s *Spec) { s.Order = []int{1, 32} }, "rank 1: GPU 32 is unknown; the cluster has GPUs 0 to 31"},
		{"two ranks a GPU", func(s *Spec) { s.Order = []int{5, 1, 5} }, "rank 2: GPU 5 has rank 0 already"},
		{"algorithm", func(s *Spec) { s.Algorithm = "rign" }, `algorithm "rign": unknown; allowed are ring, tree`},
		{"algorithm for another operation", func(s *Spec) { s.Op, s.Algorithm = collective.AllGather, "tree" }, `algorithm "tree" does not do all_gather`},
		{"operation", func(s *Spec) { s.Op, s.Algorithm = collective.AllToAll, "tree" }, "does not do alltoall"},
		{"nothing left", func(s *Spec) { s.Algorithm = "^ring,tree,nvls,nvlstree,collnet" }, "nothing that --algo and --proto allow does all_reduce here (tree ll: not among those asked for"},
		{"no protocol left", func(s *Spec) { s.Algorithm, s.Tuning.Protocols = "tree", "^ll,ll128,simple" }, "--algo tree: protocol ll is not among those asked for"},
		{"unknown protocol", func(s *Spec) { s.Tuning.Protocols = "ll256" }, `protocol "ll256": unknown; allowed are simple, ll, ll128`},
		{"two lists", func(s *Spec) { s.Algorithm = "ring;tree" }, "two lists for the same operation"},
	} {
		q := question(collective.AllReduce)
		tc.change(&q)
		s, err := New(cluster(t, 4, 8), q)
		if err == nil || !strings.Contains(err.Error(), tc.want) || s != nil {
			t.Errorf("%s: error %v, want %q", tc.name, err, tc.want)
		}
	}
}

// TestOrderOfCases: types, then reductions, then sizes, as nccl-tests prints
// them; what reduces nothing runs once for all reductions.
func TestOrderOfCases(t *testing.T) {
	for _, tc := range []struct {
		op   collective.Op
		want string
	}{
		{collective.AllReduce, "float/sum/64 float/sum/128 float/max/64 float/max/128 double/sum/64 double/sum/128 double/max/64 double/max/128"},
		{collective.AllGather, "float/sum/64 float/sum/128 double/sum/64 double/sum/128"},
	} {
		q := question(tc.op)
		q.MinBytes, q.MaxBytes, q.Factor = 64, 128, 2
		q.DTypes = []collective.DType{collective.Float32, collective.Float64}
		q.RedOps = []collective.RedOp{collective.Sum, collective.Max}
		s, err := New(cluster(t, 1, 4), q)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range s.Cases {
			got = append(got, fmt.Sprintf("%s/%s/%d", c.DType, c.RedOp, c.Size))
		}
		if strings.Join(got, " ") != tc.want {
			t.Errorf("%s: %s", tc.op, strings.Join(got, " "))
		}
	}
}

func TestIterationsReallyRun(t *testing.T) {
	for _, tc := range []struct {
		bytes                                     int64
		warmup, iterations, wantWarmup, wantTotal int
	}{
		{1 << 30, 5, 20, 1, 2},
		{1 << 30, 1, 1, 1, 2},
		{1 << 30, 0, 20, 0, 1},
		{1 << 30, 5, 0, 1, 2}, // something is always timed
		{1 << 30, 0, 0, 0, 1},
		{1 << 20, 5, 20, 2, 6},
		{16, 1, 20, 2, 6},
		{16, 5, 2, 2, 4},
		{0, 0, 0, 0, 1},
	} {
		s := Spec{Warmup: tc.warmup, Iterations: tc.iterations}
		if w, n := s.iterations(tc.bytes); w != tc.wantWarmup || n != tc.wantTotal {
			t.Errorf("%d B, -w %d -n %d: %d of %d warm up, want %d of %d", tc.bytes, tc.warmup, tc.iterations, w, n, tc.wantWarmup, tc.wantTotal)
		}
	}
}

// TestExchangesSettleLater than what all ranks wait for.
func TestExchangesSettleLater(t *testing.T) {
	for _, tc := range []struct {
		op            collective.Op
		bytes         int64
		warmup, timed int
	}{
		{collective.AllToAll, 16, 4, 8}, {collective.AllToAll, 1 << 30, 2, 4}, {collective.AllToAllV, 1 << 30, 2, 4},
		{collective.SendRecv, 1 << 20, 4, 8}, {collective.SendRecv, 1<<20 + 4, 2, 4}, {collective.Gather, 1 << 30, 2, 4}, {collective.AllReduce, 1 << 30, 1, 1},
	} {
		s := Spec{Op: tc.op, Warmup: 5, Iterations: 20}
		if w, n := s.iterations(tc.bytes); w != tc.warmup || n != tc.warmup+tc.timed {
			t.Errorf("%s of %d B: %d of %d warm up, want %d of %d", tc.op, tc.bytes, w, n, tc.warmup, tc.warmup+tc.timed)
		}
	}
}

// TestPayloadIsNeverAboveTheCount draws runs of all shapes: full is the count,
// none is nothing, and a scale model is smaller, or full, and has an element
// for every slice of every chunk that has one.
func TestPayloadIsNeverAboveTheCount(t *testing.T) {
	scaled := 0
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		list := collective.Algorithms()
		a := list[rng.IntN(len(list))]
		op := a.Ops[rng.IntN(len(a.Ops))]
		s, o := collective.Uniform(1+rng.IntN(4), 1+rng.IntN(8)), collective.Options{Channels: 1 + rng.IntN(16), Protocol: collective.Protocol(rng.IntN(3))}
		s.NVLS, s.SHARP = true, true
		if a.Check(collective.Use{Op: op, Protocol: o.Protocol}, s) != nil {
			continue
		}
		plan, err := collective.Build(a.Name, op, s, o)
		if err != nil {
			t.Fatal(err)
		}
		r := emu.Run{Op: op, Comm: make([]int, plan.Ranks), Count: rng.Int64N(1 << (1 + rng.IntN(33))), DType: collective.Float64}
		for p := PayloadAuto; p <= PayloadNone; p++ {
			c := Case{Run: r}
			c.choosePayload(p, rng.Int64N(1<<40), []*collective.Plan{plan})
			got, r := c.Payload, c.Run
			g := plan.Size(r.Count, r.DType.Size())
			least := min(r.Count, int64(g.Loops)*int64(g.Chunks)*int64(g.Slices))
			ok := map[Payload]bool{
				PayloadFull:   r.Real == r.Count,
				PayloadNone:   r.Real == 0,
				PayloadScaled: r.Real < r.Count && r.Real >= least,
			}
			if !ok[got] || (p == PayloadFull || p == PayloadNone) && got != p {
				t.Fatalf("seed %d: %s of %d elements became %s with %d real ones; at least %d slices have some", seed, p, r.Count, got, r.Real, least)
			}
			if got == PayloadScaled {
				scaled++
			}
		}
	}
	if scaled < 100 {
		t.Errorf("only %d were scaled: that shows little", scaled)
	}
}

// TestPayloadBudget: all ranks' inputs and outputs together, to the byte.
func TestPayloadBudget(t *testing.T) {
	plan, err := collective.Build("ring", collective.AllReduce, collective.Uniform(1, 8), collective.Options{Channels: 1})
	if err != nil {
		t.Fatal(err)
	}
	r := emu.Run{Op: collective.AllReduce, Comm: make([]int, 8), Count: 1 << 16, DType: collective.Float32}
	const all = 8 * 2 * 4 << 16
	for _, tc := range []struct {
		budget int64
		want   Payload
	}{{all, PayloadFull}, {all - 1, PayloadScaled}, {0, PayloadScaled}} {
		c := Case{Run: r}
		if c.choosePayload(PayloadAuto, tc.budget, []*collective.Plan{plan}); c.Payload != tc.want {
			t.Errorf("%d B of buffers and a budget of %d: %s, want %s", all, tc.budget, c.Payload, tc.want)
		}
		// Two communicators need twice as much.
		c = Case{Run: r, Others: []emu.Run{r}}
		if c.choosePayload(PayloadAuto, 2*tc.budget, []*collective.Plan{plan, plan}); c.Payload != tc.want || c.Buffers() > max(2*tc.budget, all) {
			t.Errorf("two of %d B and a budget of %d: %s, want %s", all, 2*tc.budget, c.Payload, tc.want)
		}
	}
}

// TestScaledSlicesShowEveryRank: a slice has what the test data need for an
// error of any rank to be seen, or what the budget pays for, but never fewer
// than 16 elements.
func TestScaledSlicesShowEveryRank(t *testing.T) {
	plan, err := collective.Build("ring", collective.AllReduce, collective.Uniform(8, 8), collective.Options{Channels: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		d      collective.DType
		op     collective.RedOp
		budget int64
		want   int64 // elements a slice
	}{
		{collective.Float32, collective.Sum, 1 << 40, 16},     // each element shows all 64
		{collective.Float32, collective.Max, 1 << 40, 64},     // each rank is extreme once
		{collective.Float8E4M3, collective.Sum, 1 << 40, 128}, // 4 ranks an element, 2 bits each
		{collective.Float16, collective.Avg, 1 << 40, 128},    // one rank an element, 11 bits
		{collective.Float8E4M3, collective.Sum, 1 << 10, 16},  // too dear
		{collective.Float8E4M3, collective.Sum, 20 << 14, 20}, // 64 ranks × 2 buffers × 128 slices
	} {
		r := emu.Run{Op: collective.AllReduce, Comm: make([]int, 64), Count: 1 << 22, DType: tc.d, RedOp: tc.op}
		c := Case{Run: r}
		if c.choosePayload(PayloadScaled, tc.budget, []*collective.Plan{plan}); c.Payload != PayloadScaled {
			t.Fatalf("%v %v: %s", tc.d, tc.op, c.Payload)
		}
		r = c.Run
		g := plan.Size(r.Count, r.DType.Size())
		if got := r.Real / (int64(g.Loops) * int64(g.Chunks) * int64(g.Slices)); got != tc.want {
			t.Errorf("%v %v with %d B: %d elements a slice; want %d (%d loops of %d chunks of %d slices)",
				tc.d, tc.op, tc.budget, got, tc.want, g.Loops, g.Chunks, g.Slices)
		}
	}
}

// TestRunOneAfterTheOther executes a table by hand: every run begins where the
// one before has left the session, out of place first, and a cell is the time
// between the end of its warm-up and its last end.
func TestRunOneAfterTheOther(t *testing.T) {
	q := question(collective.AllReduce)
	q.MinBytes, q.MaxBytes = 64, 256
	s, err := New(cluster(t, 1, 2), q)
	if err != nil {
		t.Fatal(err)
	}
	var runs []emu.Run
	execute := func(c *Case, b emu.Batch) (Result, error) {
		r := b.Runs[0]
		runs = append(runs, r)
		res := Result{Wrong: []int64{int64(len(runs))}}
		for i := range r.Iterations {
			for rank := range r.Comm {
				at := r.Offset.Add(shaping.Duration((i+1)*(10+len(runs))) * shaping.Microsecond)
				res.Ends = append(res.Ends, emu.End{Rank: rank, Iteration: i, At: at})
				res.Now = max(res.Now, at)
			}
		}
		return res, nil
	}
	var rows []Row
	if err := s.Run(execute, func(r Row) error { rows = append(rows, r); return nil }); err != nil {
		t.Fatal(err)
	}
	if len(rows) != 2 || len(runs) != 4 {
		t.Fatalf("%d rows from %d runs", len(rows), len(runs))
	}
	for i, r := range runs {
		if r.InPlace != (i%2 == 1) {
			t.Errorf("run %d in place: %v", i, r.InPlace)
		}
		if i > 0 && r.Offset < runs[i-1].Offset.Add(2*shaping.Duration(10+i)*shaping.Microsecond) {
			t.Errorf("run %d begins at %v, before run %d has ended", i, r.Offset, i-1)
		}
		row := rows[i/2]
		cell := []Cell{row.OutOfPlace, row.InPlace}[i%2]
		want := Cell{Time: shaping.Duration(11+i) * shaping.Microsecond, Wrong: int64(i + 1), Checked: true}
		if cell != want || row.Size != s.Cases[i/2].Size {
			t.Errorf("run %d: %+v at %d B, want %+v", i, cell, row.Size, want)
		}
	}
}

func TestRunStopsAtAnError(t *testing.T) {
	q := question(collective.AllReduce)
	s, err := New(cluster(t, 1, 2), q)
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	n := 0
	err = s.Run(func(*Case, emu.Batch) (Result, error) { n++; return Result{}, broken }, nil)
	if !errors.Is(err, broken) || n != 1 {
		t.Errorf("%v after %d runs", err, n)
	}
	n = 0
	err = s.Run(func(_ *Case, b emu.Batch) (Result, error) { return Result{}, nil }, func(r Row) error {
		n++
		if r.OutOfPlace.Checked {
			t.Error("nothing was compared, but the row says so")
		}
		return broken
	})
	if !errors.Is(err, broken) || n != 1 {
		t.Errorf("%v after %d rows", err, n)
	}
}

func TestExplain(t *testing.T) {
	f := cluster(t, 2, 2)
	id := func(name string) fabric.PortID {
		for p := range int32(f.Ports()) {
			if f.PortName(p) == name {
				return p
			}
		}
		t.Fatalf("no port %s", name)
		return 0
	}
	const us = shaping.Microsecond
	for _, tc := range []struct {
		name string
		u    Use
		want string
	}{
		{"nothing", Use{}, ""},
		{"the busiest port of each kind, the lower number of equals, three kinds at most", Use{
			Span: 100 * us, Busy: 600 * us, WaitData: 200 * us, WaitSlot: 150 * us, WaitDep: 50 * us,
			Ports: []PortUse{{id("node0/nic0/out"), 80 * us}, {id("node1/nic1/out"), 95 * us}, {id("node0/nic1/out"), 95 * us},
				{id("node0/gpu1/nvlink-out"), 40 * us}, {id("node1/gpu0/pcie-in"), 10 * us}, {id("node1/gpu0/nvlink-in"), 30 * us}}},
			"blocks moved bytes 60 %, waited for data 20 %, for slots 15 %, for other blocks 5 % of the time" +
				"; node0/nic1/out busy 95 %; node0/gpu1/nvlink-out busy 40 %; node1/gpu0/nvlink-in busy 30 %"},
		{"rounded to the nearest", Use{Span: 3 * us, Busy: 2 * us, WaitDep: us, Ports: []PortUse{{id("node0/nic0/in"), 2 * us}}},
			"blocks moved bytes 67 %, waited for data 0 %, for slots 0 %, for other blocks 33 % of the time; node0/nic0/in busy 67 %"},
		{"a span of nothing", Use{Ports: []PortUse{{id("node0/nic0/in"), 2 * us}}}, ""},
	} {
		if got := tc.u.Explain(f); got != tc.want {
			t.Errorf("%s:\n%s\nwant\n%s", tc.name, got, tc.want)
		}
	}
}

func TestPayloadNames(t *testing.T) {
	var got []string
	for p := PayloadAuto; p <= PayloadNone; p++ {
		got = append(got, p.String())
	}
	if !slices.Equal(got, []string{"auto", "full", "scaled", "none"}) {
		t.Errorf("%v", got)
	}
}
