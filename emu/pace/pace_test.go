package pace

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/railyard/railyard/shaping"
)

// TestMappingMeets: an instant has come at Wall and not a nanosecond before, for
// dilations that divide a nanosecond and those that don't.
func TestMappingMeets(t *testing.T) {
	draw := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		m := Mapping{Origin: shaping.Time(draw.Int64N(1e12)), Start: draw.Int64N(1e15), Dilation: 1 + draw.Int64N(MaxDilation)}
		if draw.IntN(2) == 0 {
			m.Dilation = 1 + draw.Int64N(2000)
		}
		at := m.Origin.Add(shaping.Duration(draw.Int64N(1e12)))
		w := m.Wall(at)
		if m.Emulated(w) < at || w > m.Start && m.Emulated(w-1) >= at {
			t.Fatalf("%+v: %d ps is said to come at %d ns; then it is %d ps, and %d ps before", m, at, w, m.Emulated(w), m.Emulated(w-1))
		}
	}
}

func TestMappingEnds(t *testing.T) {
	m := Mapping{Origin: 1000, Start: 50, Dilation: 2}
	if got := m.Wall(shaping.Never); got != Never {
		t.Errorf("Never comes at %d", got)
	}
	if got := m.Wall(1); got != 50 {
		t.Errorf("what lies before the origin comes at %d, want the start", got)
	}
	if got := m.Emulated(49); got >= 1000 {
		t.Errorf("before the start it is %d ps already", got)
	}
	if got := m.Wall(shaping.Never - 1); got <= m.Start {
		t.Errorf("the last instant comes at %d", got)
	}
	m.Dilation = MaxDilation
	if got := m.Wall(shaping.Never - 1); got != Never {
		t.Errorf("an instant beyond all clocks comes at %d", got)
	}
}

// TestOffset: the reading that came back fastest counts, and its error bounds
// what is unknown of it, however the way was divided.
func TestOffset(t *testing.T) {
	draw := rand.New(rand.NewPCG(3, 4))
	const ahead = -123_456_789
	var o Offset
	if _, err := o.Best(); err != Never {
		t.Fatalf("without a reading the error is %d", err)
	}
	now := int64(0)
	for range 100 {
		there, back := draw.Int64N(1e6), draw.Int64N(1e6)
		o.Add(now, now+there+ahead, now+there+back)
		now += 1e9
		got, err := o.Best()
		if d := got - ahead; d > err || -d > err {
			t.Fatalf("offset %d, which is off by %d and said to be off by at most %d", got, d, err)
		}
	}
	_, before := o.Best()
	o.Add(now, now+1+ahead, now+2)
	if got, err := o.Best(); got != ahead || err > before || err > 2 {
		t.Fatalf("after a perfect reading the offset is %d ± %d", got, err)
	}
}

// TestOffsetForgets: clocks drift, so what was read long ago says nothing.
func TestOffsetForgets(t *testing.T) {
	var o Offset
	o.Add(0, 1, 2)
	for i := range int64(remembered) {
		o.Add(i*1e9, i*1e9+500+7000, i*1e9+1000)
	}
	if got, _ := o.Best(); got != 7000 {
		t.Fatalf("offset %d, want the 7000 of all late readings", got)
	}
}

func TestLateness(t *testing.T) {
	var l, all Lateness
	l.Departed(5)
	l.Delivered(0)
	l.Delivered(30)
	l.Delivered(10)
	l.Stall = 7
	all.Add(&l)
	all.Add(&l)
	out, in := &all.Departures, &all.Deliveries
	if out.Count != 2 || out.Max != 5 || in.Count != 6 || all.Late() != 4 || in.Max != 30 || in.Sum != 80 || all.Stall != 7 {
		t.Fatalf("twice %+v is %+v", l, all)
	}
	if in.Percentile(50) != 10 || in.Percentile(33) != 0 {
		t.Errorf("of 0, 0, 10, 10, 30 and 30 the median is %v, the third %v", in.Percentile(50), in.Percentile(33))
	}
}

// TestEnough: at the dilation that would have been enough, what was late by so
// much of its slack has the wall time that it took.
func TestEnough(t *testing.T) {
	late := func(by shaping.Duration) *Lateness {
		var l Lateness
		l.Delivered(by)
		return &l
	}
	if got := late(3000).Enough(100, 1000); got < 400 || got > 401 {
		t.Errorf("what took four times its slack at 100 needs %d, want 400", got)
	}
	if got := (&Lateness{}).Enough(100, 1000); got != 100 {
		t.Errorf("with nothing late %d would have been enough, want what was", got)
	}
	if got := late(math.MaxInt64).Enough(MaxDilation, 1); got != Never {
		t.Errorf("beyond all numbers: %d", got)
	}
}

// TestOutbound: whatever the order in which things were put, they leave in that
// of departure; and at one instant in that in which they came.
func TestOutbound(t *testing.T) {
	draw := rand.New(rand.NewPCG(5, 6))
	var o Outbound[int]
	type pair struct {
		at shaping.Time
		n  int
	}
	var last pair
	in := 0
	for range 5000 {
		if o.Next() == shaping.Never || draw.IntN(5) < 3 && in < 3000 {
			in++
			o.Put(last.at.Add(shaping.Duration(draw.IntN(8))), in)
			continue
		}
		next := o.Next()
		at, n := o.Take()
		if at != next || at < last.at || at == last.at && n < last.n {
			t.Fatalf("%d left at %d, said to be next at %d, after %d at %d", n, at, next, last.n, last.at)
		}
		last = pair{at, n}
	}
}

func TestChoose(t *testing.T) {
	host := Capacity{Wake: 50_000, Stream: 130_000, Frames: 100_000, Bytes: 1e9}
	us := shaping.Microsecond
	for _, test := range []struct {
		name string
		d    Demand
		want int64
		what string
	}{
		// 180 µs of wall time for 1.8 µs
		{"way", Demand{Span: 100 * us, Slack: 1800 * shaping.Nanosecond}, 100, "deliveries"},
		// 1000 frames take 10 ms, in 10 µs
		{"frames", Demand{Span: 10 * us, Slack: 1800 * shaping.Nanosecond, Frames: 1000}, 1000, "1000 frames"},
		// 64 MB take 64 ms, in 100 µs
		{"bytes", Demand{Span: 100 * us, Slack: 1800 * shaping.Nanosecond, Frames: 100, Bytes: 64e6}, 650, "64 MB"},
		{"kernels", Demand{Span: 10 * us, Slack: 1800 * shaping.Nanosecond, Compute: 5e6}, 500, "kernels"},
		{"nothing", Demand{Span: 10 * us, Slack: shaping.Duration(shaping.Never)}, 1, "nothing"},
		{"no host", Demand{Span: 1, Slack: us, Frames: math.MaxInt64, Bytes: math.MaxInt64}, MaxDilation, "work"},
	} {
		got := Choose(test.d, host)
		if got.Dilation < test.want || got.Dilation > test.want+1 {
			t.Errorf("%s: dilation %d, want %d", test.name, got.Dilation, test.want)
		}
		if !strings.Contains(got.What, test.what) {
			t.Errorf("%s: limited by %q, which does not speak of %q", test.name, got.What, test.what)
		}
	}
}
