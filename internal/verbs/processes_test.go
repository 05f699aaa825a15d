package verbs

import (
	"strings"
	"testing"
)

// TestTellProcesses: the limit of processes on a host is stated when it is
// passed, with what to do, and not before.
func TestTellProcesses(t *testing.T) {
	for _, test := range []struct {
		procs, nodes, cores int
		says                string
	}{
		{0, 100, 2, ""}, {0, 101, 2, "--procs 100 "}, {100, 4096, 2, ""}, {60, 4096, 1, "60 nodesims on 1 cores"},
	} {
		var said string
		tellProcesses(processes(test.procs, test.nodes), test.cores, func(s string) { said = s })
		if !strings.Contains(said, test.says) || (test.says == "") != (said == "") {
			t.Errorf("%+v: said %q", test, said)
		}
	}
}
