package emutest_test

import (
	"os"
	"strings"
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/emutest"
	"github.com/railyard/railyard/shaping"
)

// The example of CONTRIBUTING.md, between the marks.

// example
func TestStarBearsFaults(t *testing.T) {
	c := emutest.Case{Build: star, Nodes: 2, GPUs: 4, Count: 100_003}
	sound := emutest.Run(t, c)

	// A NIC that is down for 50 µs costs time, and every element is still right.
	c.Faults = []emu.Fault{{Type: "down", Target: "node0/nic0", When: emu.When{At: 20 * shaping.Microsecond, Until: 70 * shaping.Microsecond}}}
	c.Bear = emu.DefaultResilience()
	c.Bear.IBTimeout = 4 // NCCL_IB_TIMEOUT: a try lasts 4.096 µs × 2^4
	if r := emutest.Run(t, c); r.Failure != nil || r.Redone == 0 || r.Time < sound.Time {
		t.Errorf("a flap: failure %v, %d bytes again, %v after %v", r.Failure, r.Redone, r.Time, sound.Time)
	}

	// Of a GPU that hangs the verdict says which it is.
	c.Faults = []emu.Fault{{Type: "gpu-hang", Target: "node1/gpu2", When: emu.When{At: 20 * shaping.Microsecond}}}
	if f := emutest.Run(t, c).Failure; f == nil || f.Hang != emu.MissingExit || f.Rank != 6 {
		t.Errorf("a GPU that hangs: %+v", f)
	}
}

// example

func TestContributingShowsFaults(t *testing.T) {
	own, err := os.ReadFile("fault_test.go")
	if err != nil {
		t.Fatal(err)
	}
	guide, err := os.ReadFile("../../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	code := strings.TrimSpace(strings.Split(string(own), "// example\n")[1])
	if !strings.Contains(string(guide), "```go\n"+code+"\n```") {
		t.Error("CONTRIBUTING.md shows other code than fault_test.go between its marks")
	}
}

// A killed node and a dead NIC end with a typed cause; survivors of a slow one with
// the right elements, at a price.
func TestVerdicts(t *testing.T) {
	at := emu.When{At: 10 * shaping.Microsecond}
	quick := emu.DefaultResilience()
	quick.IBTimeout, quick.IBRetry = 4, 2
	for _, test := range []struct {
		fault emu.Fault
		cause emu.Cause
		link  string
	}{
		{emu.Fault{Type: "kill", Target: "node1", When: at}, emu.PeerLost, ""},
		{emu.Fault{Type: "down", Target: "node0/nic0", When: at}, emu.LinkDown, "node0/nic0"},
		{emu.Fault{Type: "down", Target: "unit0/rail0", When: at}, emu.LinkDown, "unit0/rail0"},
		{emu.Fault{Type: "partition", Target: "node0 | node1", When: at}, emu.LinkDown, "node0 | node1"},
		{emu.Fault{Type: "gpu-slow", Target: "node0/gpu0", Share: 500_000, When: emu.When{}}, "", ""},
	} {
		c := emutest.Case{Algorithm: "ring", Op: collective.AllReduce, Nodes: 2, GPUs: 2, Count: 1 << 20, Faults: []emu.Fault{test.fault}, Bear: quick}
		r := emutest.Run(t, c)
		switch {
		case (r.Failure == nil) != (test.cause == ""):
			t.Errorf("%s: failure %+v, want %q", test.fault.Type, r.Failure, test.cause)
		case r.Failure != nil && (r.Failure.Cause != test.cause || !strings.HasPrefix(r.Failure.Link, test.link) || r.Time != 0):
			t.Errorf("%s: failure %+v after %v, want %q of %q", test.fault.Type, r.Failure, r.Time, test.cause, test.link)
		case r.Failure == nil:
			c.Faults = nil
			if sound := emutest.Run(t, c); r.Time <= sound.Time {
				t.Errorf("%s: %v, without it %v", test.fault.Type, r.Time, sound.Time)
			}
		}
	}
}
