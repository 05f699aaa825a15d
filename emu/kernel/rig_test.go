package kernel_test

import (
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/kernel"
	"github.com/railyard/railyard/emu/transit"
	"github.com/railyard/railyard/emu/wiring"
	"github.com/railyard/railyard/shaping"
)

const (
	ns = shaping.Nanosecond
	us = shaping.Microsecond
)

// rig is a cluster in one kernel, and all that has left it in the last batch.
type rig struct {
	t       testing.TB
	fabric  *fabric.Fabric
	kernel  *kernel.Kernel
	records []emu.Record
	moves   []kernel.Move
	outcome emu.Outcome
}

func newRig(t testing.TB, c emu.Cluster) *rig {
	t.Helper()
	return newRigOn(t, build(t, c))
}

func newRigOn(t testing.TB, f *fabric.Fabric) *rig {
	o := transit.Owners{Node: make([]int, f.Nodes())}
	return &rig{t: t, fabric: f, kernel: kernel.New(kernel.Config{Fabric: f, Owners: o, Record: true})}
}

func build(t testing.TB, c emu.Cluster) *fabric.Fabric {
	t.Helper()
	f, err := fabric.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// servers is a cluster of one group of H100 servers.
func servers(nodes, gpus int) emu.Cluster {
	return emu.Cluster{Groups: []emu.Group{{Count: nodes, System: "dgx-h100", GPUs: gpus}}}
}

// run executes runs of registered algorithms at once, to their end.
func (r *rig) run(runs ...emu.Run) {
	r.t.Helper()
	b := emu.Batch{Runs: runs}
	w, err := kernel.Lay(r.fabric, b, func(int) bool { return true })
	if err != nil {
		r.t.Fatal(err)
	}
	r.begin(b, w)
	if s := r.kernel.Stuck(); len(s) > 0 {
		r.t.Fatalf("stuck: %+v", s)
	}
	for i := range runs {
		if !r.outcome.Done(i, &runs[i]) {
			r.t.Fatalf("run %d did not end on every rank: %v", i, r.outcome.Ends)
		}
	}
}

// play executes a plan that no registry holds, for count elements of 4 bytes a
// part, once, and leaves it to the caller whether it has ended.
func (r *rig) play(p *collective.Plan, count int64) {
	r.t.Helper()
	r.playRun(p, emu.Run{Count: count})
}

func (r *rig) playRun(p *collective.Plan, run emu.Run) {
	r.t.Helper()
	w, err := wiring.Lay(p, 0, func(int) bool { return true })
	if err != nil {
		r.t.Fatal(err)
	}
	run.Comm = r.fabric.All()[:p.Ranks]
	run.Iterations = max(run.Iterations, 1)
	r.begin(emu.Batch{Runs: []emu.Run{run}}, []*wiring.Wiring{w})
}

func (r *rig) begin(b emu.Batch, w []*wiring.Wiring) {
	r.records, r.moves, r.outcome = nil, nil, emu.Outcome{}
	r.kernel.Begin(b, w)
	r.kernel.Run(shaping.Never, 0)
	e := r.kernel.Effects()
	r.records = append(r.records, e.Records...)
	r.moves = append(r.moves, e.Moves...)
	r.outcome.Ends = append(r.outcome.Ends, e.Ends...)
	r.outcome.Now = r.kernel.Now()
	emu.SortEnds(r.outcome.Ends)
	r.kernel.Forget()
}

// steps returns the records of a rank's block, a slice each, in order.
func (r *rig) steps(rank, block int32) []emu.Record {
	var all []emu.Record
	for _, x := range r.records {
		if x.Kind != emu.Carry && x.Rank == rank && x.Block == block {
			all = append(all, x)
		}
	}
	return all
}

// carried returns what a port carried, in order.
func (r *rig) carried(port string) []emu.Record {
	var all []emu.Record
	for _, x := range r.records {
		if x.Kind == emu.Carry && r.fabric.PortName(x.Port) == port {
			all = append(all, x)
		}
	}
	return all
}

func end(r emu.Record) shaping.Time { return r.Start.Add(r.Duration) }

// last returns the instant at which the last rank of a run ended.
func (r *rig) last(run int) shaping.Time {
	at := shaping.Time(0)
	for _, e := range r.outcome.Ends {
		if e.Run == run {
			at = max(at, e.At)
		}
	}
	return at
}

// one is the least that options can say.
var one = collective.Options{Channels: 1}

// allReduce is one iteration of an all-reduce of float over a communicator.
func allReduce(algorithm string, o collective.Options, comm []int, bytes int64) emu.Run {
	return emu.Run{Op: collective.AllReduce, Algorithm: algorithm, Options: o, Comm: comm, Count: bytes / 4, Iterations: 1}
}

// plan makes a plan of explicit blocks, rank by rank. What is not set is as
// small as can be: a chunk is one slice and takes one of 8 slots.
func plan(p collective.Plan, ranks ...[]collective.Block) *collective.Plan {
	p.Algorithm, p.Ranks = "test", len(ranks)
	p.Chunks, p.ChunkSteps, p.SliceSteps = max(p.Chunks, 1), max(p.ChunkSteps, 1), max(p.SliceSteps, 1)
	if p.Slots == 0 {
		p.Slots = 8
	}
	for _, blocks := range ranks {
		p.Blocks = max(p.Blocks, len(blocks))
		for _, b := range blocks {
			p.Channels = max(p.Channels, b.Channel+1)
		}
	}
	return collective.NewPlan(p, func(rank int) []collective.Block { return ranks[rank] })
}

// sends and recvs are n steps, each over a chunk of its own.
func sends(n int) []collective.Step {
	steps := make([]collective.Step, n)
	for i := range steps {
		steps[i] = collective.Step{Kind: collective.Send, Src: collective.Ref{Index: i}, Send: 1}
	}
	return steps
}

func recvs(n int) []collective.Step {
	steps := make([]collective.Step, n)
	for i := range steps {
		steps[i] = collective.Step{Kind: collective.Recv, Dst: collective.Ref{Buffer: collective.Output, Index: i}, Recv: 1}
	}
	return steps
}

// flow is a plan in which rank 0 sends n chunks to rank 1, and nothing else.
func flow(p collective.Plan, n int) *collective.Plan {
	p.Chunks = n
	return plan(p,
		[]collective.Block{{SendTo: []int{1}, Steps: sends(n)}},
		[]collective.Block{{RecvFrom: []int{0}, Steps: recvs(n)}})
}
