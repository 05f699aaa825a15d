//go:build e2e

package e2e

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
)

// row is a line of the table, nothing wrong in it.
var row = regexp.MustCompile(`(?m)^ +(\d+) +(\d+) +float +sum +-1 +[\d.]+ +[\d.]+ +[\d.]+ +0 +[\d.]+ +[\d.]+ +[\d.]+ +0 *$`)

// TestDemo is the main job, as make demo runs it but for the largest sizes.
func TestDemo(t *testing.T) {
	p := run(t, 0, "coordinator", "bench", "all_reduce", "-b", "16", "-e", "1M", "-f", "4",
		"--system", "dgx-h100", "--nodes", "4", "--fabric", "rail-ndr")
	out := p.stdout.String()
	rows := row.FindAllStringSubmatch(out, -1)
	if len(rows) != 9 || rows[0][1] != "16" || rows[8][1] != "1048576" || rows[8][2] != "262144" {
		t.Errorf("rows %q, want nine from 16 to 1048576 bytes without a wrong element", rows)
	}
	pids := map[int]bool{}
	for node := range 4 {
		pids[p.pid(node)] = true
	}
	if len(pids) != 4 || len(device.FindAllString(out, -1)) != 32 {
		t.Errorf("%d processes, want 4 with 8 ranks each:\n%s", len(pids), out)
	}
	for _, want := range []string{"# Out of bounds values : 0 OK", "# Avg bus bandwidth", "# Where the time went", "# Timing : trustworthy"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
	if !strings.Contains(p.stderr.String(), "9 of 9") {
		t.Errorf("progress on stderr is %q", p.stderr)
	}
}

// TestQuietJSON: with --quiet nothing is on stderr, and JSON is all that is on
// stdout.
func TestQuietJSON(t *testing.T) {
	p := run(t, 0, "coordinator", "bench", "all_reduce", "-b", "4K", "-e", "4K", "--nodes", "2", "--gpus-per-node", "2",
		"--format", "json", "--quiet", "-d", "all", "-o", "all", "--payload", "full")
	var m measured
	if err := json.Unmarshal([]byte(p.stdout.String()), &m); err != nil {
		t.Fatalf("%v\n%s", err, p.stdout)
	}
	if len(m.Results) == 0 || m.Railyard.Frames == 0 || p.stderr.String() != "" {
		t.Errorf("%d results, %d frames, stderr %q", len(m.Results), m.Railyard.Frames, p.stderr)
	}
	for i, r := range m.Results {
		if r.OutOfPlace.NWrong != 0 {
			t.Errorf("result %d: %v elements wrong", i, r.OutOfPlace.NWrong)
		}
	}
}
