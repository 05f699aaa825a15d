package simtest

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/fault"
	"github.com/railyard/railyard/emu/kernel"
	"github.com/railyard/railyard/emu/transit"
	"github.com/railyard/railyard/emu/trial"
	"github.com/railyard/railyard/emu/window"
	"github.com/railyard/railyard/shaping"
)

// Virtual is a cluster on several kernels, granted windows by a conductor, as
// the daemons are, but in one goroutine.
type Virtual struct {
	fabric    *fabric.Fabric
	owners    transit.Owners
	kernels   []*kernel.Kernel
	conductor *window.Conductor
	shared    *transit.Shared
	rng       *rand.Rand

	faults *fault.Schedule
	bear   emu.Resilience
	trial  *trial.Trial // of the batch
	// flipped is up to when bits of results have turned over.
	flipped shaping.Time

	inbox   [][][]message // to, from: sent and not yet taken
	sent    [][]uint64    // from, to
	taken   [][]uint64    // to, from
	records []emu.Record

	hosts    []elements // of the batch, by participant
	verdicts []Verdict
	spoil    func(elements []byte) // for tests: what happens to messages on their way
	between  func()                // for tests: called between two windows

	// Input, where it is set, replaces the test data of a rank of a run.
	Input func(run, rank int, input []byte)
}

// message is a frame, and the elements that travel with it or none.
type message struct {
	transit.Header
	elements []byte
}

// NewVirtual spreads the nodes of a cluster over participants as host says:
// node i on participant host[i]. The seed draws the order of everything that a
// network may reorder.
func NewVirtual(f *fabric.Fabric, host []int, seed uint64, record bool) *Virtual {
	return NewFaulty(f, host, seed, record, nil, emu.Resilience{})
}

// NewFaulty is NewVirtual on a cluster that faults strike.
func NewFaulty(f *fabric.Fabric, host []int, seed uint64, record bool, s *fault.Schedule, bear emu.Resilience) *Virtual {
	n := slices.Max(host) + 1
	v := &Virtual{fabric: f, faults: s, bear: bear, flipped: -1, owners: transit.Owners{Node: host, Shared: n},
		rng: rand.New(rand.NewPCG(seed, 1)), inbox: make([][][]message, n),
		sent: square(n), taken: square(n)}
	if f.Contended() {
		v.shared = transit.NewShared(f, v.owners, record)
		if s != nil {
			v.shared.Suffer(s, bear.Sweep)
		}
	}
	v.conductor = window.New(n, v.shared)
	for i := range n {
		v.inbox[i] = make([][]message, n)
		v.kernels = append(v.kernels, kernel.New(kernel.Config{Fabric: f, Owners: v.owners, Me: i, Record: record, Faults: s, Bear: bear}))
		v.conductor.Bury(i, v.death(i))
	}
	return v
}

// death returns when a participant dies: when all its nodes have.
func (v *Virtual) death(i int) shaping.Time {
	at := shaping.Time(0)
	for node, p := range v.owners.Node {
		if p == i {
			at = max(at, v.faults.Dead(node))
		}
	}
	return at
}

func square(n int) [][]uint64 {
	s := make([][]uint64, n)
	for i := range s {
		s[i] = make([]uint64, n)
	}
	return s
}

// Execute runs a batch to its end.
func (v *Virtual) Execute(b emu.Batch) (emu.Outcome, error) {
	var out emu.Outcome
	before := v.conductor.Events()
	v.conductor.Pass(b.Offset())
	v.conductor.Await()
	v.hosts = make([]elements, len(v.kernels))
	v.trial = trial.New(v.fabric, b, v.faults, v.bear)
	v.conductor.Limit = v.trial.Limit()
	for i, k := range v.kernels {
		if v.conductor.Gone(i) {
			v.hosts[i] = make(elements, len(b.Runs))
			continue
		}
		w, err := kernel.Lay(v.fabric, b, func(node int) bool { return v.owners.Node[node] == i })
		if err != nil {
			return out, err
		}
		v.hosts[i] = newElements(b, w)
		v.hosts[i].refill(v.Input)
		k.Begin(b, w)
		v.report(i, &out)
	}
	for !v.trial.Over(v.conductor.Pending()) {
		if v.between != nil {
			v.between()
		}
		v.conductor.Cap = v.trial.Cap()
		grants := v.conductor.Round()
		v.rng.Shuffle(len(grants), func(i, j int) { grants[i], grants[j] = grants[j], grants[i] })
		for _, g := range grants {
			v.run(g, &out)
		}
	}
	if v.shared != nil {
		v.records = append(v.records, v.shared.TakeRecords()...)
	}
	out.Now, out.Events = v.conductor.Now(), v.conductor.Events()-before
	emu.SortEnds(out.Ends)
	if v.faults != nil {
		v.judge(&out)
	}
	after, until := v.flipped, out.Next()-1
	v.flipped = until
	if out.Failure != nil {
		return out, nil
	}
	err := v.stuck()
	if err == nil {
		for _, h := range v.hosts {
			h.flip(&b, v.faults, after, until)
		}
		v.verdicts = judge(b, v.hosts)
	}
	return out, err
}

// judge ends a batch that faults may have struck.
func (v *Virtual) judge(out *emu.Outcome) {
	var waiting []emu.Waiter
	var progress []emu.Progress
	for i, k := range v.kernels {
		out.Redone += k.Redone()
		if v.conductor.Gone(i) {
			continue
		}
		for _, s := range k.Stuck() {
			waiting = append(waiting, s.Waiter())
		}
		progress = append(progress, k.Progress()...)
	}
	if v.trial.Verdict(waiting, progress, out); out.Failure == nil {
		return
	}
	v.conductor.Abort()
	for i, k := range v.kernels {
		k.Abort()
		for from := range v.kernels {
			v.taken[i][from] += uint64(len(v.inbox[i][from]))
			v.inbox[i][from] = nil
		}
	}
}

// run gives a participant its window: it takes the frames it must have, and any
// number of those that happen to be there already.
func (v *Virtual) run(g window.Grant, out *emu.Outcome) {
	k := v.kernels[g.To]
	for _, h := range g.Shared {
		k.Accept(h)
	}
	for _, e := range g.Expect {
		for v.taken[g.To][e.From] < e.Count {
			v.take(g.To, e.From)
		}
	}
	for from := range v.kernels {
		for len(v.inbox[g.To][from]) > 0 && v.rng.IntN(2) == 0 {
			v.take(g.To, from)
		}
	}
	for k.Run(g.Until, 1+v.rng.IntN(1000)); k.Next() < g.Until; k.Run(g.Until, 1+v.rng.IntN(1000)) {
	}
	v.report(g.To, out)
}

func (v *Virtual) take(to, from int) {
	q := v.inbox[to][from]
	m := &q[0]
	if m.Payload && !m.Credit {
		run, conn, _ := v.kernels[to].Locate(m.Conn)
		v.hosts[to][run].Put(conn, m.elements)
	}
	if !m.Alone {
		v.kernels[to].Accept(m.Header)
	}
	v.inbox[to][from] = q[1:]
	v.taken[to][from]++
}

func (v *Virtual) report(i int, out *emu.Outcome) {
	k := v.kernels[i]
	e := k.Effects()
	v.hosts[i].move(e.Moves, v.faults)
	r := window.Report{Next: k.Next(), Out: k.Out(), Now: k.Now(), Events: k.Popped(), Seen: k.Seen()}
	sent := make([]window.Sent, len(v.kernels))
	for to := range sent {
		sent[to] = window.Sent{To: to, Stamp: shaping.Never, Induced: shaping.Never}
	}
	for j := range e.Out {
		v.post(i, &e.Out[j], &r, sent)
	}
	for to := range sent {
		if sent[to].Count = v.sent[i][to]; sent[to].Count > 0 {
			r.Sent = append(r.Sent, sent[to])
		}
	}
	v.trial.Note(e.Ends, e.Failures)
	out.Ends = append(out.Ends, e.Ends...)
	v.records = append(v.records, e.Records...)
	k.Forget()
	v.conductor.Report(i, r)
}

// post sends a frame on its way: straight to the peer, or its header to the
// fabric with the report and its elements straight to the peer.
func (v *Virtual) post(i int, m *kernel.Emission, r *window.Report, sent []window.Sent) {
	f, to := message{Header: m.Header}, m.To
	if to == v.owners.Shared {
		r.Shared = append(r.Shared, m.Header)
		if to = v.kernels[i].Host(m); to == i || !m.Payload {
			return // the elements are here already, or there are none
		}
		f.Alone = true
	}
	if m.Payload {
		f.elements = v.hosts[i][m.Run].Take(int(m.Conn))
		if v.spoil != nil {
			v.spoil(f.elements)
		}
	}
	v.inbox[to][i] = append(v.inbox[to][i], f)
	v.sent[i][to]++
	if !f.Alone {
		s := &sent[to]
		s.Stamp, s.Induced = min(s.Stamp, m.Tail), min(s.Induced, m.Induced)
	}
}

// Verdicts returns what became of the elements of the last batch's runs.
func (v *Virtual) Verdicts() []Verdict { return v.verdicts }

// Outputs returns the output of each rank of a run of the last batch that moved
// elements, as far as the operation says what it holds.
func (v *Virtual) Outputs(run int) [][]byte {
	all := make([][]byte, len(v.trial.Batch().Runs[run].Comm))
	for _, h := range v.hosts {
		if h[run] != nil {
			h[run].Outputs(func(rank int, output []byte) { all[rank] = output })
		}
	}
	return all
}

func (v *Virtual) stuck() error {
	for i, k := range v.kernels {
		if s := k.Stuck(); len(s) > 0 && !v.conductor.Gone(i) {
			return fmt.Errorf("deadlock: %+v and %d more blocks", s[0], len(s)-1)
		}
	}
	return nil
}

// Records returns the timeline so far, in the kernel's order.
func (v *Virtual) Records() []emu.Record {
	slices.SortStableFunc(v.records, emu.CompareRecords)
	return v.records
}

// Conductor gives access to the counts of rounds, grants and frames.
func (v *Virtual) Conductor() *window.Conductor { return v.conductor }
