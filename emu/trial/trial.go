package trial

import (
	"cmp"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/fault"
	"github.com/railyard/railyard/shaping"
)

// Trial judges one batch. Its zero failure means that none is known yet.
type Trial struct {
	fabric *fabric.Fabric
	batch  emu.Batch
	faults *fault.Schedule
	bear   emu.Resilience

	runs    []run
	noted   []emu.Failure // what kernels gave up on
	failure *emu.Failure
	// next is what expected returned last, good until kernels say more.
	next  *emu.Failure
	known bool
	// perturbed: somebody died whom no schedule foresaw, perhaps before what he had
	// sent was here.
	perturbed bool
}

// run is how far a run has come.
type run struct {
	left   int          // ends that are still to come
	ended  map[int]int  // iteration → ranks that have ended it
	latest shaping.Time // when an iteration was ended by all ranks last
	last   map[int]shaping.Time
	by     []int // iterations that each rank has ended
}

// New returns the trial of a batch.
func New(f *fabric.Fabric, b emu.Batch, s *fault.Schedule, bear emu.Resilience) *Trial {
	bear.Watchdog = cmp.Or(b.Watchdog, bear.Watchdog)
	t := &Trial{fabric: f, batch: b, faults: s, bear: bear}
	for i := range b.Runs {
		r := &b.Runs[i]
		t.runs = append(t.runs, run{left: len(r.Comm) * max(r.Iterations, 1), ended: map[int]int{},
			last: map[int]shaping.Time{}, latest: r.Offset, by: make([]int, len(r.Comm))})
	}
	return t
}

// Limit returns how long a window may be: news of a failure must not come to
// somebody who has run past it. 0: as long as it likes.
func (t *Trial) Limit() shaping.Duration {
	if t.faults == nil {
		return 0
	}
	return max(t.bear.Control, shaping.Microsecond)
}

// Note takes what kernels said.
func (t *Trial) Note(ends []emu.End, failures []emu.Failure) {
	for _, e := range ends {
		t.end(e)
		t.known = false
	}
	for i := range failures {
		f := failures[i]
		f.Abort = f.At.Add(t.Limit())
		f.Seq += t.batch.Runs[f.Run].First
		t.noted = append(t.noted, f)
	}
}

func (t *Trial) end(e emu.End) {
	r := &t.runs[e.Run]
	r.left--
	r.by[e.Rank]++
	r.ended[e.Iteration]++
	r.last[e.Iteration] = max(r.last[e.Iteration], e.At)
	if r.ended[e.Iteration] == len(t.batch.Runs[e.Run].Comm) {
		r.latest = max(r.latest, r.last[e.Iteration])
		delete(r.ended, e.Iteration)
		delete(r.last, e.Iteration)
	}
}

// Perturb replaces the schedule by one that agrees with it on all that has been run:
// somebody has died in fact. Runs that he had a part in fail, since nobody knows
// what of him is missing.
func (t *Trial) Perturb(s *fault.Schedule) { t.faults, t.perturbed, t.known = s, true, false }

// Revise is Perturb for what somebody has done to the faults, who saw to it that
// nobody had looked that far ahead: as if the schedule had been the one to begin with.
func (t *Trial) Revise(s *fault.Schedule, bear emu.Resilience) {
	bear.Watchdog = cmp.Or(t.batch.Watchdog, bear.Watchdog)
	t.faults, t.bear, t.known = s, bear, false
}

// Done reports whether every rank has ended every iteration.
func (t *Trial) Done() bool {
	for i := range t.runs {
		if t.runs[i].left > 0 {
			return false
		}
	}
	return true
}

// Failed reports whether the batch is given up, or has come to a halt.
func (t *Trial) Failed() bool { return t.failure != nil || len(t.noted) > 0 || !t.Done() }

// Batch returns what is on trial.
func (t *Trial) Batch() *emu.Batch { return &t.batch }

// Cap returns the instant up to which kernels may run: at it the batch is ended,
// unless it is through before.
func (t *Trial) Cap() shaping.Time {
	if f := t.first(); f != nil {
		return t.told(f)
	}
	return shaping.Never
}

// Over reports whether the batch is over, when the earliest thing that is pending
// anywhere comes at next.
func (t *Trial) Over(next shaping.Time) bool {
	if next < t.Cap() {
		return false
	}
	if t.faults == nil {
		return true
	}
	// Calls that do not match fail even if they went through.
	if t.failure = t.first(); t.failure != nil {
		f := *t.failure
		if at := t.told(&f); at != shaping.Never { // else nothing is left to tell those who are parted
			f.Abort = at
		}
		t.failure = &f
	}
	return true
}

// first returns the failure that ends the batch, as far as is known: nil if there
// is none.
func (t *Trial) first() *emu.Failure {
	f := t.expected()
	for i := range t.noted {
		if f == nil || emu.CompareFailures(t.noted[i], *f) < 0 {
			f = &t.noted[i]
		}
	}
	return f
}

// told returns when every rank of a failed run knows: as soon as news gets there. Who
// is parted from where it happened hears nothing of it until the parts are joined, or
// until something fails on its own side.
func (t *Trial) told(f *emu.Failure) shaping.Time {
	if f.Rank < 0 || !t.faults.Parts() {
		return f.Abort
	}
	comm := t.batch.Runs[f.Run].Comm
	here, all := t.fabric.NodeOf(comm[f.Rank]), f.Abort
	for _, gpu := range comm {
		if node := t.fabric.NodeOf(gpu); node != here && t.faults.Dead(node) > f.At {
			all = max(all, t.hears(node, here, f))
		}
	}
	return all
}

// hears returns when a node knows of a failure on another.
func (t *Trial) hears(node, from int, f *emu.Failure) shaping.Time {
	at := f.Abort
	line := t.faults.Apart(node, from)
	if s, until := line.At(f.At); s.Down {
		at = shaping.Never
		if until != shaping.Never {
			at = until.Add(t.Limit())
		}
	} else {
		return at
	}
	for i := range t.noted { // something nearer
		g := &t.noted[i]
		near := t.fabric.NodeOf(t.batch.Runs[g.Run].Comm[g.Rank])
		if s, _ := t.faults.Apart(node, near).At(g.At); node == near || !s.Down {
			at = min(at, g.Abort)
		}
	}
	if t.bear.Watchdog > 0 {
		at = min(at, t.runs[f.Run].latest.Add(t.bear.Watchdog))
	}
	return max(at, f.Abort)
}

// expected returns the failure that comes if nothing else happens before, nil if
// none does.
func (t *Trial) expected() *emu.Failure {
	if t.faults == nil || t.known {
		return t.next
	}
	var first *emu.Failure
	take := func(f emu.Failure) {
		if first == nil || emu.CompareFailures(f, *first) < 0 {
			first = &f
		}
	}
	for i := range t.batch.Runs {
		t.odd(i, take)
		if t.runs[i].left > 0 || t.perturbed {
			t.losses(i, take)
		}
		if t.runs[i].left > 0 {
			t.watch(i, take)
		}
	}
	t.next, t.known = first, true
	return first
}

// losses names ranks whose process or GPU is gone: whoever is left hears of it by
// a broken socket, or an error of the process.
func (t *Trial) losses(i int, take func(emu.Failure)) {
	r := &t.batch.Runs[i]
	for rank, gpu := range r.Comm {
		if t.runs[i].by[rank] == max(r.Iterations, 1) && !t.perturbed {
			continue // it was needed no more
		}
		for _, s := range t.faults.Stops() {
			if s.GPU != gpu || s.How != fault.Killed && s.How != fault.Lost {
				continue
			}
			at := max(s.At.Add(t.Limit()), r.Offset) // news may have come, or be on its way
			take(emu.Failure{Cause: emu.PeerLost, Run: i, Seq: r.First + int64(t.runs[i].by[rank]), Rank: rank, Peer: -1, Channel: -1, Step: -1,
				Fault: s.Fault, At: at, Abort: at})
		}
	}
}

// odd names ranks whose calls do not match: signatures travel to all. Whether the
// sizes happen to come to as many slices makes no difference.
func (t *Trial) odd(i int, take func(emu.Failure)) {
	r := &t.batch.Runs[i]
	for _, o := range r.Odd {
		at := r.Offset.Add(r.Launch + t.Limit())
		take(emu.Failure{Cause: emu.Mismatch, Hang: emu.SignatureMismatch, Run: i, Seq: r.First, Rank: o.Rank, Peer: -1, Channel: -1, Step: -1,
			Fault: -1, At: at, Abort: at, Text: o.Says})
	}
}

// watch is the watchdog.
func (t *Trial) watch(i int, take func(emu.Failure)) {
	if t.bear.Watchdog == 0 {
		return
	}
	at := t.runs[i].latest.Add(t.bear.Watchdog)
	take(emu.Failure{Cause: emu.Timeout, Run: i, Rank: -1, Peer: -1, Channel: -1, Step: -1, Fault: -1, At: at, Abort: at})
}
