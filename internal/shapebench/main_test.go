package main

import (
	"strings"
	"testing"
	"time"
)

// TestVerdict: the exit code tells a broken promise from one that nobody can judge.
func TestVerdict(t *testing.T) {
	for _, test := range []struct {
		late, ever  int
		quick, idle bool
		code        int
		says        string
	}{
		{0, 0, false, true, 0, "all promises were kept\n"},
		{0, 0, false, false, 0, "though others used the host"},
		{2, 0, false, true, 1, "2 promises are broken on a host that did nothing else"},
		{2, 0, false, false, 2, "others used the host"},
		{2, 0, true, true, 0, "not judged"},
		{0, 1, true, false, 1, "hold on every host"},
		{3, 1, false, false, 1, "hold on every host"},
	} {
		var out strings.Builder
		code, err := verdict(&out, test.late, test.ever, test.quick, test.idle)
		if err != nil || code != test.code || !strings.Contains(out.String(), test.says) {
			t.Errorf("%+v: code %d, %q, %v", test, code, out.String(), err)
		}
	}
}

func TestRound(t *testing.T) {
	r := round{title: "a title"}
	r.add(line{"rate", "90 MB/s", "within 1 %", timing, false})
	r.add(line{"seed", "alike", "alike", always, true})
	r.add(line{what: "loopback", got: "1 GB/s", kind: report})
	if r.broken(timing) != 1 || r.broken(always) != 0 || r.broken(report) != 1 {
		t.Error("promises are counted wrong")
	}
	var judged, told strings.Builder
	r.write(&judged, timing, always)
	r.write(&told, always)
	if strings.Count(judged.String(), "BROKEN") != 1 || strings.Count(judged.String(), "kept") != 1 {
		t.Errorf("judged:\n%s", judged.String())
	}
	if strings.Contains(told.String(), "BROKEN") || strings.Count(told.String(), "kept") != 1 {
		t.Errorf("timing is judged where it should not be:\n%s", told.String())
	}
}

// TestPerSecond: a reader that the host let wait, first, last or in between, does not
// change what arrived meanwhile; bytes that never came do.
func TestPerSecond(t *testing.T) {
	const ms, n = time.Millisecond, 2000
	arrivals := func(late func(i int) time.Duration) (all []arrival) {
		for i := range n {
			all = append(all, arrival{time.Duration(i)*ms + late(i), i * 100})
		}
		return all
	}
	for what, test := range map[string]struct {
		late func(i int) time.Duration
		want float64
	}{
		"none late":        {func(int) time.Duration { return 0 }, 100_000},
		"the first ones":   {func(i int) time.Duration { return max(0, 40*ms-time.Duration(i)*ms) }, 100_000},
		"the last ones":    {func(i int) time.Duration { return time.Duration(max(0, i-n+20)) * ms }, 100_000},
		"some in between":  {func(i int) time.Duration { return time.Duration(i%7) * ms / 10 }, 100_000},
		"a rate that fell": {func(i int) time.Duration { return time.Duration(i) * ms / 50 }, 100_000 / 1.02},
		"a gap":            {func(i int) time.Duration { return time.Duration(i/(n/2)) * 40 * ms }, 100_000 / 1.02},
	} {
		if got := perSecond(arrivals(test.late), n*ms/8); got < 0.995*test.want || got > 1.005*test.want {
			t.Errorf("%s: %.0f bytes a second, want %.0f", what, got, test.want)
		}
	}
	if got := perSecond([]arrival{{0, 0}, {time.Second, 500}}, time.Second/8); got != 500 {
		t.Errorf("of two arrivals: %v", got)
	}
}

// TestStamped: a message is in the socket before it is read, and after it was written.
func TestStamped(t *testing.T) {
	all, err := delays(nil, 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range all {
		if d.socket <= 0 || d.socket > d.program {
			t.Errorf("in the socket after %v, read after %v", d.socket, d.program)
		}
	}
}

func TestQuantile(t *testing.T) {
	all := []time.Duration{5, 1, 4, 2, 3}
	for share, want := range map[float64]time.Duration{0: 1, 0.5: 3, 0.99: 5, 1: 5} {
		if got := quantile(all, share); got != want {
			t.Errorf("quantile %v is %v, want %v", share, got, want)
		}
	}
	if d := apart([]time.Duration{1, 10, 5}, []time.Duration{3, 3, 5}); d != 2 {
		t.Errorf("%v apart, want 2", d)
	}
}
