package experiment

import (
	"fmt"
	"slices"
	"strings"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fault"
	"github.com/railyard/railyard/emu/sweep"
	"github.com/railyard/railyard/shaping"
)

// try is an attempt at a phase: its calls, and how much of them is left to do.
type try struct {
	*runner
	phase *emu.Phase
	cases []*sweep.Case
	comms [][]int
	first int          // number of the phase's first operation in the scenario
	done  []int        // iterations of each call that all ranks ended, in earlier attempts too
	fresh bool         // the first attempt: calls go wrong in it alone
	began shaping.Time // when the last batch was issued
}

// begin works out what the calls are on communicators without the GPUs that are
// lost.
func (r *runner) begin(p *emu.Phase, first int, done []int, fresh bool) (*try, error) {
	t := &try{runner: r, phase: p, first: first, done: done, fresh: fresh}
	for i := range p.Calls {
		comm := r.comm(&p.Calls[i], r.lost)
		if len(comm) == 0 {
			return nil, fmt.Errorf("no rank of %s is left", p.Calls[i].Op)
		}
		c, err := r.build(&p.Calls[i], comm)
		if err != nil {
			return nil, err
		}
		t.cases, t.comms = append(t.cases, c), append(t.comms, comm)
	}
	return t, nil
}

// op returns the number of a call's first operation in the scenario.
func (t *try) op(call int) int {
	op := t.first
	for i := range call {
		op += t.phase.Calls[i].Iterations
	}
	return op
}

// left returns how many iterations the next batch has of each call, and whether
// anything is left. A call alone is cut where one of its operations is called
// wrong, so that the others are not.
func (t *try) left() ([]int, bool) {
	n, some := make([]int, len(t.cases)), false
	for i := range t.cases {
		n[i] = t.phase.Calls[i].Iterations - t.done[i]
		some = some || n[i] > 0
	}
	if len(n) > 1 || !t.fresh {
		return n, some
	}
	at := t.first + t.done[0]
	for _, c := range t.Schedule.Calls() {
		switch {
		case c.Op == at || c.Wrong == fault.Swaps && c.Op+1 == at:
			n[0] = min(n[0], 1)
		case c.Op > at:
			n[0] = min(n[0], c.Op-at)
		}
	}
	return n, some
}

// batch returns the next batch, which begins at an instant, and for each of its
// runs which call it is.
func (t *try) batch(at shaping.Time, n []int) (b emu.Batch, calls []int) {
	b.Watchdog = t.phase.Timeout
	for i, c := range t.cases {
		if n[i] == 0 || c.Run.Count == 0 {
			continue
		}
		run := c.Run
		run.Iterations, run.Offset, run.InPlace = n[i], at, t.phase.Calls[i].InPlace
		run.First, run.Number = t.seq[key(t.comms[i])], t.op(i)+t.done[i]
		if t.fresh {
			t.wrong(&run, i, n[i])
		}
		b.Runs, calls = append(b.Runs, run), append(calls, i)
	}
	if t.phase.Blocking {
		t.chain(&b, calls)
	}
	return b, calls
}

// wrong makes ranks call the run's operations as faults have it.
func (t *try) wrong(run *emu.Run, call, n int) {
	op := t.op(call) + t.done[call]
	for _, c := range t.Schedule.Calls() {
		rank := slices.Index(run.Comm, c.GPU)
		if rank >= 0 && c.Op >= op && c.Op < op+n && t.differ(run, rank, c) {
			t.differs(c.Fault)
		}
	}
}

// differ makes a rank call the run's operation as a fault has it, and reports
// whether the others can tell.
func (t *try) differ(run *emu.Run, rank int, c fault.Call) bool {
	switch c.Wrong {
	case fault.Skips:
		run.Absent = append(run.Absent, rank)
	case fault.Late:
		run.Late = append(run.Late, emu.Late{Rank: rank, By: c.Delay})
	case fault.Resize:
		count := c.Count
		if count < 0 {
			count = run.Count + 1
		}
		if count == run.Count {
			return false
		}
		run.Odd = append(run.Odd, emu.Odd{Rank: rank, Says: fmt.Sprintf("%d elements where others have %d", count, run.Count)})
	case fault.Retype:
		all := signature(run)
		if strings.Contains(" "+all+" ", " "+c.Says+" ") { // what all call is no mismatch
			return false
		}
		run.Odd = append(run.Odd, emu.Odd{Rank: rank, Says: fmt.Sprintf("%s where others call %s", c.Says, all)})
	case fault.Swaps:
		return t.swap(run, rank, c.Op)
	}
	return true
}

// differs notes that a fault made a call differ.
func (r *runner) differs(fault int) {
	if i, known := slices.BinarySearch(r.report.Called, fault); !known {
		r.report.Called = slices.Insert(r.report.Called, i, fault)
	}
}

// signature is what ranks must agree on.
func signature(r *emu.Run) string {
	s := fmt.Sprintf("%s of %d %s", r.Op, r.Count, r.DType)
	if r.Op.Reduces() {
		s += " " + r.RedOp.String()
	}
	if sweep.Rooted(r.Op) {
		s += fmt.Sprintf(" root %d", r.Options.Root)
	}
	return s
}

// swap makes a rank call the operation after this one first, and reports whether
// that makes a difference. In a phase whose calls block each other chain does it; on
// streams of their own the order means nothing. A like call on the same communicator
// can not be told apart. One on another communicator keeps the rank there.
func (t *try) swap(run *emu.Run, rank, op int) bool {
	if len(t.cases) > 1 {
		return false
	}
	next := t.call(op + 1)
	if next == nil {
		return false
	}
	comm := t.comm(next, t.lost)
	if key(comm) != key(run.Comm) {
		if !slices.Contains(comm, run.Comm[rank]) {
			return false
		}
		run.Absent = append(run.Absent, rank)
		return true
	}
	c, err := t.build(next, comm)
	if err != nil || signature(&c.Run) == signature(run) {
		return false
	}
	run.Odd = append(run.Odd, emu.Odd{Rank: rank, Says: fmt.Sprintf("%s where others call %s", signature(&c.Run), signature(run))})
	return true
}

// call returns what an operation of the scenario is, nil beyond the last.
func (r *runner) call(op int) *emu.Call {
	for i := range r.Scenario.Phases {
		for k := range r.Scenario.Phases[i].Calls {
			c := &r.Scenario.Phases[i].Calls[k]
			if op < c.Iterations {
				return c
			}
			op -= c.Iterations
		}
	}
	return nil
}

// chain makes each process wait for one call before it makes the next, in the order
// of the file, but for faults.
func (t *try) chain(b *emu.Batch, calls []int) {
	const atOnce = -1
	for i := range b.Runs {
		b.Runs[i].After = slices.Repeat([]int32{atOnce}, len(b.Runs[i].Comm))
	}
	for gpu := range t.Fabric.GPUs() {
		order := t.order(gpu, b, calls)
		for k := 1; k < len(order); k++ {
			run := &b.Runs[order[k]]
			run.After[slices.Index(run.Comm, gpu)] = int32(order[k-1])
		}
	}
}

// order returns the runs of a batch in which a GPU takes part, as its process calls
// them.
func (t *try) order(gpu int, b *emu.Batch, calls []int) []int {
	var order []int
	for i := range b.Runs {
		if slices.Contains(b.Runs[i].Comm, gpu) {
			order = append(order, i)
		}
	}
	if !t.fresh {
		return order
	}
	for _, c := range t.Schedule.Calls() {
		for k := 0; k+1 < len(order) && c.GPU == gpu && c.Wrong == fault.Swaps; k++ {
			if op := t.op(calls[order[k]]); c.Op >= op && c.Op < op+t.phase.Calls[calls[order[k]]].Iterations {
				order[k], order[k+1] = order[k+1], order[k]
				t.differs(c.Fault)
				break
			}
		}
	}
	return order
}

// key names a communicator by its ranks.
func key(comm []int) string { return emu.FormatRanks(comm) }

// moved returns how many bytes a call's ranks move between them in some iterations.
func moved(c *sweep.Case, iterations int) shaping.Bytes {
	if c.Run.Op == collective.Barrier {
		return 0
	}
	return shaping.Bytes(c.Size) * shaping.Bytes(len(c.Run.Comm)) * shaping.Bytes(iterations)
}
