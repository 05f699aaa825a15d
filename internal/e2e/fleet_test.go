//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"testing"
	"time"
)

// TestFleet: sixteen nodesims start, join and finish a run. The aim is 15 s on
// two idle cores; the bound allows for cores that are not idle.
func TestFleet(t *testing.T) {
	p := run(t, 0, "coordinator", "bench", "all_reduce", "-b", "1M", "-e", "1M", "--nodes", "16", "--quiet")
	if rows := row.FindAllString(p.stdout.String(), -1); len(rows) != 1 {
		t.Errorf("rows %q, want one", rows)
	}
	t.Logf("16 processes: %.2f s of wall time", p.ended.Sub(p.began).Seconds())
}

// maxIdle is what an idle nodesim may take of memory, in KiB.
const maxIdle = 40 << 10

// TestIdleMemory: a nodesim of eight GPUs that waits for work takes little
// memory.
func TestIdleMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skipf("%s has no /proc to read it from", runtime.GOOS)
	}
	c := serve(t, "--nodes", "1")
	p := c.nodesim(t, "0")
	ready := regexp.MustCompile(`idle`)
	for late := time.Now().Add(bound); !ready.MatchString(c.status(t)); {
		if time.Now().After(late) {
			t.Fatalf("the nodesim is not ready:\n%s", c.status(t))
		}
	}
	rss := resident(t, p.cmd.Process.Pid)
	t.Logf("an idle nodesim takes %.1f MiB", float64(rss)/1024)
	if rss > maxIdle {
		t.Errorf("an idle nodesim takes %d KiB, want at most %d", rss, maxIdle)
	}
}

// resident returns the memory of a process, in KiB.
func resident(t *testing.T, pid int) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`VmRSS:\s+(\d+) kB`).FindSubmatch(status)
	if m == nil {
		t.Fatalf("no VmRSS in\n%s", status)
	}
	kib, err := strconv.Atoi(string(m[1]))
	if err != nil {
		t.Fatal(err)
	}
	return kib
}
