package main

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/railyard/railyard/shaping/link"
)

// TestCall runs the example: each call takes the link's latency twice, or more.
func TestCall(t *testing.T) {
	defer goleak.VerifyNone(t)
	rail, err := link.Open("ndr / 1000", link.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer rail.Close()
	var out strings.Builder
	if err := call(&out, rail); err != nil {
		t.Fatal(err)
	}
	lines := regexp.MustCompile(`SERVING in (\S+) over rate=49MB/s,latency=1\.795ms\n`).FindAllStringSubmatch(out.String(), -1)
	if len(lines) != 3 {
		t.Fatalf("it says %q, want three lines", out.String())
	}
	for _, l := range lines {
		if took, err := time.ParseDuration(l[1]); err != nil || took < 2*1795*time.Microsecond {
			t.Errorf("a call took %s, want twice 1.795 ms at least: %v", l[1], err)
		}
	}
}
