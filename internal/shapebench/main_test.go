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
		{2, 0, false, true, 1, "2 promises are broken on an idle host"},
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
	r.write(&judged, true)
	r.write(&told, false)
	if strings.Count(judged.String(), "BROKEN") != 1 || strings.Count(judged.String(), "kept") != 1 {
		t.Errorf("judged:\n%s", judged.String())
	}
	if strings.Contains(told.String(), "BROKEN") || strings.Count(told.String(), "kept") != 1 {
		t.Errorf("timing is judged where it should not be:\n%s", told.String())
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
