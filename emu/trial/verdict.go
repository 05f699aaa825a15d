package trial

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/fault"
)

// Verdict says in the outcome why the batch was ended, if it did not run to its
// end. Waiting are the blocks that can not go on, progress how far ranks came.
func (t *Trial) Verdict(waiting []emu.Waiter, progress []emu.Progress, out *emu.Outcome) {
	waiting, progress = t.living(waiting, progress)
	if out.Failure = t.verdict(waiting, progress); out.Failure != nil {
		out.Progress = progress
		t.drop(out)
	}
}

// drop takes back ends that were foreseen, and that the abort forestalled: a rank's
// last step had begun.
func (t *Trial) drop(out *emu.Outcome) {
	out.Ends = slices.DeleteFunc(out.Ends, func(e emu.End) bool {
		if e.At <= out.Failure.Abort {
			return false
		}
		for i := range out.Progress {
			if p := &out.Progress[i]; p.Run == e.Run && p.Rank == e.Rank {
				p.Finished--
			}
		}
		return true
	})
}

func (t *Trial) verdict(waiting []emu.Waiter, progress []emu.Progress) *emu.Failure {
	f := t.failure
	if f == nil && !t.Done() && len(waiting) > 0 {
		f = t.deadlock(waiting)
	}
	if f == nil {
		return nil
	}
	t.failure = f
	v := verdict{Trial: t, Failure: f, waiting: waiting, progress: progress}
	if f.Cause == emu.Timeout {
		v.hang()
	}
	v.locate()
	v.lost()
	if f.Cause == emu.LinkDown {
		v.struck()
	}
	if f.Text == "" || f.Cause == emu.Mismatch {
		f.Text = v.text()
	}
	return f
}

// living leaves out what only a process that is gone could tell, and puts the rest
// in an order that does not depend on who told first.
func (t *Trial) living(waiting []emu.Waiter, progress []emu.Progress) ([]emu.Waiter, []emu.Progress) {
	end := t.Cap()
	if t.failure != nil {
		end = t.failure.Abort
	}
	dead := func(run, rank int) bool {
		return t.faults.Dead(t.fabric.NodeOf(t.batch.Runs[run].Comm[rank])) < end
	}
	waiting = slices.DeleteFunc(slices.Clone(waiting), func(w emu.Waiter) bool { return dead(w.Run, w.Rank) })
	progress = slices.DeleteFunc(slices.Clone(progress), func(p emu.Progress) bool { return dead(p.Run, p.Rank) })
	slices.SortFunc(waiting, func(a, b emu.Waiter) int {
		return cmp.Or(cmp.Compare(a.Run, b.Run), cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Block, b.Block), cmp.Compare(a.Channel, b.Channel))
	})
	slices.SortFunc(progress, func(a, b emu.Progress) int {
		return cmp.Or(cmp.Compare(a.Run, b.Run), cmp.Compare(a.Rank, b.Rank))
	})
	return waiting, progress
}

// deadlock is the failure of ranks that wait for each other when there is no
// watchdog to end it: the emulator sees that nothing is pending.
func (t *Trial) deadlock(waiting []emu.Waiter) *emu.Failure {
	w := waiting[0]
	at := t.runs[w.Run].latest
	return &emu.Failure{Cause: emu.Deadlock, Run: w.Run, Rank: w.Rank, Channel: w.Channel, Step: w.Step, Peer: w.Peer, Fault: -1, At: at, Abort: at}
}

type verdict struct {
	*Trial
	*emu.Failure
	waiting  []emu.Waiter
	progress []emu.Progress
	absent   []int  // ranks that never entered
	circle   string // who waits where, of operations issued in different orders
	apart    bool   // a partition is to blame
}

// hang says what kind of hang it is.
func (v *verdict) hang() {
	runs, circle := v.chain()
	if !circle {
		v.Run = runs[0]
	}
	var behind int
	v.absent, behind = v.missing(v.Run)
	v.Seq = v.batch.Runs[v.Run].First + int64(behind)
	switch {
	case circle:
		v.circle = v.whoWaits(runs)
		v.Cause, v.Hang, v.Rank = emu.Deadlock, emu.MissingEnter, v.absent[0]
	case len(v.absent) > 0:
		v.Hang, v.Rank = emu.MissingEnter, v.absent[0]
		v.stuck(v.absent)
	case v.stuck(v.everybody()):
		v.Hang = emu.MissingExit
	default:
		v.Hang = emu.AllRanksStuck
	}
}

// of returns the progress of a run's ranks.
func (v *verdict) of(run int) []emu.Progress {
	var all []emu.Progress
	for _, p := range v.progress {
		if p.Run == run {
			all = append(all, p)
		}
	}
	return all
}

// everybody returns the ranks of the run.
func (v *verdict) everybody() []int {
	all := make([]int, len(v.batch.Runs[v.Run].Comm))
	for rank := range all {
		all[rank] = rank
	}
	return all
}

// stuck names the first of some ranks whose GPU has stopped for good, and the fault
// that did it, and reports whether there is one.
func (v *verdict) stuck(ranks []int) bool {
	for _, rank := range ranks {
		for _, s := range v.faults.Stops() {
			if s.GPU == v.batch.Runs[v.Run].Comm[rank] && s.At < v.At && s.Until >= v.At {
				v.Rank, v.Fault = rank, s.Fault
				return true
			}
		}
	}
	return false
}

// locate names channel, step and peer of a block that waits, where the failure
// does not name them: one that waits for the rank in question, if there is one.
func (v *verdict) locate() {
	if v.Channel >= 0 {
		return
	}
	best := -1
	for i, w := range v.waiting {
		if w.Run != v.Run {
			continue
		}
		if best < 0 || w.Peer == v.Rank && v.waiting[best].Peer != v.Rank {
			best = i
		}
	}
	if best < 0 {
		return
	}
	w := v.waiting[best]
	v.Channel, v.Step = w.Channel, w.Step
	switch {
	case v.Rank < 0:
		v.Rank, v.Peer = w.Rank, w.Peer
	case w.Rank == v.Rank: // nobody else waits any more
		v.Peer = w.Peer
	default:
		v.Peer = w.Rank
	}
}

// lost lists the ranks that can not go on.
func (v *verdict) lost() {
	v.Lost = append(v.Lost, v.absent...)
	r := &v.batch.Runs[v.Run]
	for rank, gpu := range r.Comm {
		for _, s := range v.faults.Stops() {
			if s.GPU == gpu && s.At <= v.Abort && s.Until > v.Abort && s.How != fault.Paused {
				v.Lost = append(v.Lost, rank)
			}
		}
	}
	if v.Cause == emu.LinkDown {
		v.Lost = append(v.Lost, v.behind()...)
	}
	slices.Sort(v.Lost)
	v.Lost = slices.Compact(v.Lost)
}

// behind returns the ranks that a dead port cuts off: its GPU's where it is a GPU's,
// else those on its node, whose channels all have a part of their way there. A port
// of the fabric cuts off nobody in particular.
func (v *verdict) behind() (all []int) {
	id, ok := v.port()
	if !ok || v.fabric.Port(id).Node == fabric.Shared {
		return nil
	}
	p := v.fabric.Port(id)
	for rank, gpu := range v.batch.Runs[v.Run].Comm {
		own := fmt.Sprintf("node%d/gpu%d/", p.Node, v.fabric.Local(gpu))
		if v.fabric.NodeOf(gpu) == p.Node && (strings.HasPrefix(p.Name, own) || !strings.Contains(p.Name, "/gpu")) {
			all = append(all, rank)
		}
	}
	return all
}

// port returns the port that lost what was sent.
func (v *verdict) port() (fabric.PortID, bool) {
	for id := range fabric.PortID(v.fabric.Ports()) {
		if v.fabric.PortName(id) == v.Link {
			return id, true
		}
	}
	return 0, false
}

// struck names the part that a fault has struck in place of the port that lost what
// was sent: with a leaf down NICs are sound.
func (v *verdict) struck() {
	id, ok := v.port()
	if !ok || v.Rank < 0 || v.Peer < 0 {
		return
	}
	comm := v.batch.Runs[v.Run].Comm
	if c, ok := v.faults.Culprit(v.fabric, id, v.fabric.NodeOf(comm[v.Rank]), v.fabric.NodeOf(comm[v.Peer]), v.At); ok {
		v.Link, v.Fault, v.apart = c.Part, c.Fault, c.Parts
	}
}

func (v *verdict) text() string {
	who := func(rank int) string {
		if rank < 0 {
			return "nobody in particular"
		}
		gpu := v.batch.Runs[v.Run].Comm[rank]
		return fmt.Sprintf("rank %d (node%d/gpu%d)", rank, v.fabric.NodeOf(gpu), v.fabric.Local(gpu))
	}
	at := fmt.Sprintf("channel %d step %d", v.Channel, v.Step)
	switch {
	case v.Cause == emu.Mismatch:
		return fmt.Sprintf("%s calls operation %d otherwise than the others: %s", who(v.Rank), v.Seq, v.Text)
	case v.apart:
		return fmt.Sprintf("%s gives up sending to %s on %s: a partition keeps %s apart, and retries are used up", who(v.Rank), who(v.Peer), at, v.Link)
	case v.Cause == emu.LinkDown:
		return fmt.Sprintf("%s gives up sending to %s on %s: %s is dead, and retries are used up", who(v.Rank), who(v.Peer), at, v.Link)
	case v.Cause == emu.PeerLost && v.Link != "":
		return fmt.Sprintf("%s gives up sending to %s on %s: the peer is gone", who(v.Rank), who(v.Peer), at)
	case v.Cause == emu.PeerLost:
		return fmt.Sprintf("%s is gone in operation %d", who(v.Rank), v.Seq)
	case v.circle != "":
		return "operations were issued in different orders: " + v.circle
	case v.Hang == emu.MissingEnter:
		return fmt.Sprintf("%s never entered operation %d, which %d of %d ranks wait in", who(v.Rank), v.Seq, len(v.of(v.Run))-len(v.absent), len(v.of(v.Run)))
	case v.Hang == emu.MissingExit:
		return fmt.Sprintf("%s entered operation %d and does not go on; %s waits for it on %s", who(v.Rank), v.Seq, who(v.Peer), at)
	default:
		return fmt.Sprintf("%s waits for %s on %s, and nothing moves", who(v.Rank), who(v.Peer), at)
	}
}
