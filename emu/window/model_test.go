package window_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/railyard/railyard/emu/transit"
	"github.com/railyard/railyard/emu/window"
	"github.com/railyard/railyard/shaping"
)

// world is a model of participants that knows nothing of kernels: each has
// pending instants, and handling one may send a frame that is due at another
// participant no sooner than a lookahead later, or add work of its own.
type world struct {
	rng       *rand.Rand
	lookahead []shaping.Duration
	pending   [][]shaping.Time
	flying    [][][]shaping.Time // to, from: sent and not taken yet
	sent      [][]uint64         // from, to
	taken     [][]uint64         // to, from
	handled   []shaping.Time     // the last instant handled
	left      int                // frames that may still be sent
	events    uint64
}

func newWorld(rng *rand.Rand, n int) *world {
	w := &world{rng: rng, left: 150}
	for range n {
		w.lookahead = append(w.lookahead, shaping.Duration(1+rng.IntN(50)))
		w.pending = append(w.pending, []shaping.Time{shaping.Time(rng.IntN(100))})
		w.flying = append(w.flying, make([][]shaping.Time, n))
		w.sent = append(w.sent, make([]uint64, n))
		w.taken = append(w.taken, make([]uint64, n))
	}
	w.handled = make([]shaping.Time, n)
	return w
}

func (w *world) next(i int) shaping.Time {
	if len(w.pending[i]) == 0 {
		return shaping.Never
	}
	return slices.Min(w.pending[i])
}

// report is what participant i says, having sent these frames.
func (w *world) report(i int, sent []window.Sent) window.Report {
	next := w.next(i)
	return window.Report{Next: next, Out: next.Add(w.lookahead[i]), Now: w.handled[i], Sent: sent}
}

// run handles what lies before a horizon, and returns what was sent.
func (w *world) run(t *testing.T, i int, until shaping.Time) []window.Sent {
	t.Helper()
	sent := map[int]*window.Sent{}
	for at := w.next(i); at < until; at = w.next(i) {
		k := slices.Index(w.pending[i], at)
		w.pending[i] = slices.Delete(w.pending[i], k, k+1)
		if at < w.handled[i] {
			t.Fatalf("participant %d handles %d after %d", i, at, w.handled[i])
		}
		w.handled[i] = at
		w.events++
		if w.left == 0 {
			continue
		}
		w.left--
		w.pending[i] = append(w.pending[i], at+shaping.Time(w.rng.IntN(40)))
		to := w.rng.IntN(len(w.pending))
		if to == i {
			continue
		}
		stamp := at.Add(w.lookahead[i] + shaping.Duration(w.rng.IntN(60)))
		if stamp < until {
			t.Fatalf("participant %d sends for %d within its own window up to %d: its bound was wrong", i, stamp, until)
		}
		w.flying[to][i] = append(w.flying[to][i], stamp)
		w.sent[i][to]++
		s, ok := sent[to]
		if !ok {
			s = &window.Sent{To: to, Stamp: shaping.Never, Induced: shaping.Never}
			sent[to] = s
		}
		s.Count, s.Stamp, s.Induced = w.sent[i][to], min(s.Stamp, stamp), min(s.Induced, stamp.Add(w.lookahead[to]))
	}
	var all []window.Sent
	for to := range w.pending {
		if s := sent[to]; s != nil {
			all = append(all, *s)
		}
	}
	return all
}

// take makes participant i hold a number of the frames of another, of which
// none may lie before what it has handled.
func (w *world) take(t *testing.T, i, from int, count uint64) {
	t.Helper()
	for w.taken[i][from] < count {
		stamp := w.flying[i][from][0]
		w.flying[i][from] = w.flying[i][from][1:]
		w.taken[i][from]++
		if stamp < w.handled[i] {
			t.Fatalf("participant %d gets a frame for %d when it has handled %d", i, stamp, w.handled[i])
		}
		w.pending[i] = append(w.pending[i], stamp)
	}
}

// TestConductorKeepsCausality: whoever participants are and whatever they send,
// nobody gets a frame for its past, every round lets somebody handle something,
// and the last round comes when nothing is left. Frames that arrive before they
// must be there change nothing of that.
func TestConductorKeepsCausality(t *testing.T) {
	crossed := uint64(0)
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 1))
		w := newWorld(rng, 1+rng.IntN(6))
		c := window.New(len(w.pending), nil)
		c.Limit = shaping.Duration([]int{0, 0, 7, 1000}[rng.IntN(4)])
		for i := range w.pending {
			c.Report(i, w.report(i, nil))
		}
		for grants := c.Round(); len(grants) > 0; grants = c.Round() {
			before := w.events
			rng.Shuffle(len(grants), func(i, j int) { grants[i], grants[j] = grants[j], grants[i] })
			for _, g := range grants {
				for _, e := range g.Expect {
					w.take(t, g.To, e.From, e.Count)
				}
				for from := range w.pending {
					early := uint64(rng.IntN(1 + len(w.flying[g.To][from])))
					w.take(t, g.To, from, w.taken[g.To][from]+early)
				}
				c.Report(g.To, w.report(g.To, w.run(t, g.To, g.Until)))
			}
			if w.events == before {
				t.Fatalf("seed %d: a round up to %d in which nobody handled anything", seed, c.Horizon())
			}
		}
		if w.left > 0 || slices.ContainsFunc(w.pending, func(p []shaping.Time) bool { return len(p) > 0 }) {
			t.Fatalf("seed %d: over with %v pending", seed, w.pending)
		}
		crossed += c.Frames()
	}
	if crossed < 5_000 {
		t.Fatalf("only %d frames crossed: that shows little", crossed)
	}
}

// TestGrantsCarryTheFabricsFramesOnce: a frame of the fabric goes with the first
// grant of its receiver after it was handed on, though that be rounds later, and
// with no other.
func TestGrantsCarryTheFabricsFramesOnce(t *testing.T) {
	c := window.New(2, uplinks(t))
	h := transit.Header{Source: 0, Seq: 1, At: 3, Head: 10, Tail: 10, Bytes: 65_536, From: 0, To: 8}
	c.Report(0, window.Report{Next: 500, Out: 1000, Shared: []transit.Header{h}})
	c.Report(1, window.Report{Next: shaping.Never, Out: shaping.Never})
	got := map[int]int{} // participant → frames
	grants := map[int]int{}
	for range 8 {
		for _, g := range c.Round() {
			got[g.To] += len(g.Shared)
			grants[g.To]++
			at := max(900_000*shaping.Time(grants[g.To]), g.Until)
			c.Report(g.To, window.Report{Next: at, Out: at + 1_000_000})
		}
	}
	if got[0] != 0 || got[1] != 1 || grants[1] < 3 {
		t.Errorf("handed on %v times in %v grants, want once to 1", got, grants)
	}
}
