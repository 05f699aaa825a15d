package transit_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/railyard/railyard/shaping"
)

// TestFairness is the fairness table of DESIGN §4 for ports downstream of the
// source. To rewrite the golden, run the test with -rewrite.
//
//	share port=48GB/s [egress=48GB/s] [latency=2us] [credit=2us] [from=2ms] [to=10ms]
//	slots=8 slice=512K        one connection a line
//
// Every connection has an egress of its own and always something to send; all
// go on to one port. The table says what each got of it in a span of time.
func TestFairness(t *testing.T) {
	datadriven.RunTest(t, "testdata/fairness.txt", func(t *testing.T, d *datadriven.TestData) string {
		if d.Cmd != "share" {
			d.Fatalf(t, "unknown command %q", d.Cmd)
		}
		var lines []flow
		for line := range strings.Lines(d.Input) {
			var f flow
			var size string
			if _, err := fmt.Sscanf(line, "slots=%d slice=%s", &f.slots, &size); err != nil {
				d.Fatalf(t, "%q: %v", line, err)
			}
			var err error
			if f.slice, err = shaping.ParseBytes(size); err != nil {
				d.Fatalf(t, "%v", err)
			}
			f.egress, f.latency, f.credit = rate(t, d, "egress"), duration(t, d, "latency", "2us"), duration(t, d, "credit", "2us")
			lines = append(lines, f)
		}
		s := contend(t, rate(t, d, "port"), lines, duration(t, d, "from", "2ms"), duration(t, d, "to", "10ms"))
		return s.table(lines)
	})
}

// flow is a connection that always has something to send.
type flow struct {
	slots           int
	slice           shaping.Bytes
	egress          shaping.Rate
	latency, credit shaping.Duration
}

// shares is what flows got of a port.
type shares struct {
	port shaping.Rate
	span shaping.Duration
	held []shaping.Duration
}

// contend lets flows share a port, and measures from one instant to another.
func contend(t *testing.T, port shaping.Rate, flows []flow, from, to shaping.Duration) shares {
	t.Helper()
	rates := []shaping.Rate{port}
	for _, f := range flows {
		rates = append(rates, f.egress)
	}
	r := newRig(t, true, rates...)
	for i, f := range flows {
		c := r.connect(f.slots, f.credit, []int{1 + i, 0}, f.latency, 0)
		c.ever(f.slice)
	}
	// What a port lets through is booked when the tail comes, for the time before.
	r.run(shaping.Time(to + (to-from)/2))
	return shares{port, to - from, r.held(0, shaping.Time(from), shaping.Time(to))}
}

// idle is for how long nobody had the port.
func (s *shares) idle() shaping.Duration {
	left := s.span
	for _, h := range s.held {
		left -= h
	}
	return left
}

// jain is Jain's index of fairness, (Σx)² ÷ n Σx²: 1 when all get the same, 1/n
// when one gets all (Jain, Chiu and Hawe, DEC-TR-301, 1984).
func (s *shares) jain() float64 {
	var sum, squares float64
	for _, h := range s.held {
		sum += float64(h)
		squares += float64(h) * float64(h)
	}
	return sum * sum / (float64(len(s.held)) * squares)
}

func (s *shares) table(flows []flow) string {
	var b strings.Builder
	b.WriteString("slots  slice    GB/s  share\n")
	for i, f := range flows {
		got := float64(s.held[i]) / float64(s.span)
		fmt.Fprintf(&b, "%5d  %5s  %6.3f  %5.2f %%\n", f.slots, f.slice, got*float64(s.port)/float64(shaping.GBps), 100*got)
	}
	fmt.Fprintf(&b, "Jain's index %.4f; the port was idle for %d ps of %s\n", s.jain(), s.idle(), s.span)
	return b.String()
}

// unlike draws flows that are unlike in slots, egress rates, latencies and
// slices: of any size when it is the same for all, else whole quanta, since a
// turn with less than a quantum is a turn. Each could take more than its share,
// and has slots enough to keep a slice waiting.
func unlike(rng *rand.Rand, port shaping.Rate) []flow {
	const quantum = 64 * shaping.KiB
	odd := []shaping.Bytes{10_000, 100_000, 551_883, quantum + 1}[rng.IntN(4)]
	same := rng.IntN(2) == 0
	flows := make([]flow, 2+rng.IntN(15))
	for i := range flows {
		f := &flows[i]
		*f = flow{slice: quantum << rng.IntN(5), egress: port/shaping.Rate(1+rng.IntN(len(flows)/2)) + shaping.Rate(rng.IntN(1000)),
			latency: shaping.Duration(rng.IntN(4)) * shaping.Microsecond,
			credit:  shaping.Duration(rng.IntN(4)) * shaping.Microsecond}
		if same {
			f.slice = odd
		}
		away := f.latency + f.credit + 2*f.egress.Time(f.slice)
		f.slots = 4 + rng.IntN(12) + int(away/port.Time(f.slice))
	}
	return flows
}

// TestEqualSharesOfOneLink: they get equal shares within 2 %, and together
// exactly the link.
func TestEqualSharesOfOneLink(t *testing.T) {
	for seed := range uint64(25) {
		rng := rand.New(rand.NewPCG(seed, 6))
		port := shaping.Rate(1+rng.IntN(49))*shaping.GBps + shaping.Rate(rng.IntN(1000))
		flows := unlike(rng, port)
		round := shaping.Duration(len(flows)) * port.Time(min(flows[0].slice, 64*shaping.KiB))
		s := contend(t, port, flows, 40*round, 240*round)
		if s.idle() != 0 {
			t.Fatalf("seed %d: the port was idle for %d ps of %d, with %d flows waiting for it", seed, s.idle(), s.span, len(flows))
		}
		for i, h := range s.held {
			fair := s.span / shaping.Duration(len(flows))
			if off := h - fair; off > fair/50 || off < -fair/50 {
				t.Fatalf("seed %d: flow %d (%+v) had the port for %d ps; a fair share is %d", seed, i, flows[i], h, fair)
			}
		}
		if j := s.jain(); j < 0.9999 {
			t.Errorf("seed %d: Jain's index %v", seed, j)
		}
	}
}

// TestJainTellsUnfairness: the measure itself can fail.
func TestJainTellsUnfairness(t *testing.T) {
	for _, tc := range []struct {
		held     []shaping.Duration
		at, most float64
	}{
		{[]shaping.Duration{5, 5, 5, 5}, 1, 1},
		{[]shaping.Duration{1, 0, 0, 0}, 0.25, 0.25},
		{[]shaping.Duration{200, 100}, 0.9, 0.9},
		{[]shaping.Duration{700, 100}, 0.64, 0.64},
	} {
		s := shares{held: tc.held}
		if j := s.jain(); j < tc.at || j > tc.most {
			t.Errorf("%v: %v", tc.held, j)
		}
	}
}
