package fault

import (
	"math/rand/v2"
	"testing"

	"github.com/railyard/railyard/shaping"
)

// drawn is a state over a span, as a naive model keeps it.
type drawnState struct {
	from, to shaping.Time
	State
}

func drawState(rng *rand.Rand) drawnState {
	d := drawnState{from: shaping.Time(rng.IntN(40)), to: shaping.Never, State: Sound}
	if rng.IntN(4) > 0 {
		d.to = d.from + shaping.Time(rng.IntN(20))
	}
	switch rng.IntN(4) {
	case 0:
		d.Down = true
	case 1:
		d.Share = Whole / int64(1+rng.IntN(5))
	case 2:
		d.Extra, d.Jitter = shaping.Duration(rng.IntN(9)), shaping.Duration(rng.IntN(9))
	case 3:
		d.Loss, d.Corrupt = rng.Int64N(Certain), rng.Int64N(Certain)
	}
	return d
}

// TestLinesCombine: at every instant a line is what its causes make of a part
// together: shares multiply, downs unite, latencies add up, packets have to
// survive all; and DownDuring finds the first instant that is down.
func TestLinesCombine(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var l Line
		var all []drawnState
		for range rng.IntN(7) {
			d := drawState(rng)
			all = append(all, d)
			l.Add(d.from, d.to, d.State)
		}
		down := [80]bool{}
		for at := range shaping.Time(len(down)) {
			want := Sound
			for _, d := range all {
				if at >= d.from && at < d.to {
					want = State{want.Share * d.Share / Whole, want.Down || d.Down, want.Extra + d.Extra, want.Jitter + d.Jitter,
						want.Loss + d.Loss - want.Loss*d.Loss/Certain, want.Corrupt + d.Corrupt - want.Corrupt*d.Corrupt/Certain}
				}
			}
			got, until := l.At(at)
			if got != want || until <= at {
				t.Fatalf("%+v: at %d %+v until %d, want %+v", all, at, got, until, want)
			}
			down[at] = want.Down
		}
		a := rng.IntN(60)
		b := a + rng.IntN(20)
		first, ok := l.DownDuring(shaping.Time(a), shaping.Time(b))
		for a <= b && !down[a] {
			a++
		}
		if ok != (a <= b) || ok && first != shaping.Time(a) {
			t.Fatalf("%+v: down at %d %v, want %d", all, first, ok, a)
		}
		checkOutages(t, &l, down[:])
	}
}

func checkOutages(t *testing.T, l *Line, down []bool) {
	t.Helper()
	var last shaping.Time = -1
	covered := 0
	for _, o := range l.outages() {
		if o.from <= last || o.to <= o.from {
			t.Fatalf("outages %v touch", l.outages())
		}
		last = o.to
		for at := o.from; at < o.to && int(at) < len(down); at++ {
			covered++
			if !down[at] {
				t.Fatalf("outages %v: up at %d", l.outages(), at)
			}
		}
	}
	for _, d := range down {
		if d {
			covered--
		}
	}
	if covered != 0 {
		t.Fatalf("outages %v cover %d instants too many", l.outages(), covered)
	}
}

// TestOutagesUnite: of parallel links that several faults take, each counts once,
// at every instant; without any the port is down, or stands still where nothing is
// ever dropped.
func TestOutagesUnite(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		of, replays := 1+rng.IntN(6), rng.IntN(2) == 0
		var all []outage
		for range 1 + rng.IntN(6) {
			d := drawState(rng)
			first := rng.IntN(of)
			all = append(all, outage{Span{d.from, d.to}, first, 1 + rng.IntN(of-first), of, replays})
		}
		var l Line
		settleOutages(&l, all)
		for at := range shaping.Time(80) {
			gone := map[int]bool{}
			for _, o := range all {
				for k := o.first; k < o.first+o.lost && at >= o.from && at < o.to; k++ {
					gone[k] = true
				}
			}
			want := State{Share: Whole * int64(of-len(gone)) / int64(of)}
			if len(gone) == of && !replays {
				want = State{Share: Whole, Down: true}
			}
			if got, _ := l.At(at); got != want {
				t.Fatalf("%+v: at %d %+v, want %+v", all, at, got, want)
			}
		}
	}
}

// A sound part, and no line at all, cost nothing.
func TestNoLine(t *testing.T) {
	var l *Line
	if s, until := l.At(5); s != Sound || until != shaping.Never {
		t.Errorf("%+v until %v", s, until)
	}
	if _, down := l.DownDuring(0, shaping.Never-1); down {
		t.Error("down")
	}
	var s *Schedule
	if s.Port(0) != nil || s.GPU(0) != nil || s.Apart(0, 1) != nil || s.Dead(0) != shaping.Never || s.Stops() != nil || s.Waiting() != nil {
		t.Error("no schedule has faults")
	}
	if got := (State{Share: 1}).Of(5); got != 1 {
		t.Errorf("a millionth of 5 B/s is %d, want at least 1", got)
	}
}
