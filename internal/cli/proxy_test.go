package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/railyard/railyard/shaping"
	"github.com/railyard/railyard/shaping/link"
)

// TestProxyDoubts: rate and latency are each reason enough, in either direction, and
// what is late by little, or seldom, is none.
func TestProxyDoubts(t *testing.T) {
	late := func(n int, d time.Duration) func(*link.Stats) {
		return func(s *link.Stats) {
			for range n {
				s.Lateness.Add(d)
			}
		}
	}
	const ms = time.Millisecond
	for _, test := range []struct {
		what    string
		latency time.Duration
		of      func(*link.Stats)
		want    string // "" if it can be trusted
	}{
		{"nothing", ms, func(*link.Stats) {}, ""},
		{"on time", ms, late(5, 900*time.Microsecond), ""},
		{"an overrun", ms, func(s *link.Stats) { s.Overrun = 3 }, "for 3 segments"},
		{"all late", ms, late(5, 2*ms), "2ms late or more on the way"},
		{"two in a hundred", ms, late(2, 2*ms), "2ms late or more"},
		{"2 % of the latency", time.Second, late(5, 19*ms), ""},
		{"more than that", time.Second, late(5, 30*ms), "where 20ms"},
		{"once, not much", ms, late(1, 90*ms), ""},
		{"once, a stop", ms, late(1, time.Second), "a segment was 1s late on the way"},
		{"once, a stop on a slow link", 100 * time.Second, late(1, time.Second), ""},
	} {
		for _, way := range []string{"up", "down"} {
			var r ProxyReport
			for range 98 { // on time
				r.Up.Lateness.Add(0)
				r.Down.Lateness.Add(0)
			}
			if way == "up" {
				test.of(&r.Up)
			} else {
				test.of(&r.Down)
			}
			got := r.doubts(test.latency)
			if test.want == "" && got != "" || !strings.Contains(got, test.want) {
				t.Errorf("%s, %s: doubts %q, want %q", test.what, way, got, test.want)
			}
		}
	}
	// A stop is seen however few segments there were.
	var r ProxyReport
	late(1, time.Second)(&r.Down)
	if r.doubts(ms) == "" {
		t.Error("the only segment was 1 s late, and there is no doubt")
	}
}

// TestProxyStopped: a stop counts even where nothing was on the link.
func TestProxyStopped(t *testing.T) {
	for stopped, doubts := range map[time.Duration]bool{0: false, 100 * time.Millisecond: false, time.Second: true} {
		r := ProxyReport{Stopped: stopped}
		if got := r.doubts(time.Millisecond); doubts != strings.Contains(got, "did not run the proxy for 1s") {
			t.Errorf("stopped for %v: doubts %q", stopped, got)
		}
	}
}

func TestProxyLatency(t *testing.T) {
	c := ProxyConfig{Link: []shaping.Hop{{Latency: shaping.Millisecond}, {Latency: 2 * shaping.Millisecond}}, Dilation: 10}
	if got := c.latency(); got != 30*time.Millisecond {
		t.Errorf("latency %v, want 30ms", got)
	}
}

// TestProxyToItself: a proxy whose upstream is itself is refused, as is one that
// only looks like another.
func TestProxyToItself(t *testing.T) {
	for _, test := range []struct {
		listen, to string
		want       bool
	}{
		{"127.0.0.1:80", "127.0.0.1:80", true}, {"127.0.0.1:80", "localhost:80", true}, {":80", "127.0.0.9:80", true},
		{"0.0.0.0:80", "localhost:80", true}, {"[::]:80", "[::1]:80", true}, {"127.0.0.1:80", "0.0.0.0:80", true},
		{"box:80", "box:80", true}, {"127.0.0.1:80", "127.0.0.1:81", false}, {"127.0.0.1:0", "127.0.0.1:80", false},
		{"127.0.0.1:80", "127.0.0.2:80", false}, {"box:80", "other:80", false}, {":80", "10.0.0.1:80", false}, {"10.0.0.1:80", "0.0.0.0:80", false},
	} {
		if got := itself(test.listen, test.to); got != test.want {
			t.Errorf("listening at %s, upstream %s is itself: %v, want %v", test.listen, test.to, got, test.want)
		}
		c := ProxyConfig{Listen: test.listen, To: test.to, Link: []shaping.Hop{{Latency: shaping.Millisecond}}, Dilation: 1}
		if err := c.check(); (err != nil) != test.want || err != nil && !strings.Contains(err.Error(), "--to "+test.to) {
			t.Errorf("listening at %s, upstream %s: %v", test.listen, test.to, err)
		}
	}
}
