//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// standing is a cluster that stays, in a runtime directory of its own.
type standing struct {
	t      *testing.T
	dir    string
	detach *program // which started it; its mark is that of all processes
	addr   string
}

func up(t *testing.T, args ...string) *standing {
	t.Helper()
	s := &standing{t: t, dir: t.TempDir()}
	t.Setenv("XDG_RUNTIME_DIR", s.dir)
	s.detach = start(t, "coordinator", append([]string{"up", "--detach"}, args...)...)
	t.Cleanup(func() { // before start's, which wants nothing to be left
		for _, pid := range s.detach.left() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	if code := s.detach.wait(); code != 0 {
		t.Fatalf("up --detach: exit code %d\n%s", code, s.detach.stderr)
	}
	s.addr = s.detach.await(s.detach.stdout, `serving on (\S+)\n`)[1]
	return s
}

// bench runs a small all-reduce on it.
func (s *standing) bench(code int) *program {
	s.t.Helper()
	return run(s.t, code, "coordinator", "bench", "all_reduce", "--connect", s.addr, "-b", "64K", "-e", "64K", "--quiet")
}

// TestUpDown: a cluster stays in the background until down, which leaves nothing; who
// comes later finds it without its address.
func TestUpDown(t *testing.T) {
	s := up(t, "--nodes", "3", "--gpus-per-node", "2")
	if out := run(t, 0, "coordinator", "status").stdout.String(); !strings.Contains(out, s.addr) || strings.Count(out, "ready") != 3 {
		t.Errorf("status:\n%s", out)
	}
	if p := run(t, 64, "coordinator", "up", "--detach"); !strings.Contains(p.stderr.String(), "is up already, at "+s.addr) {
		t.Errorf("a second one of that name: %s", p.stderr)
	}
	if p := run(t, 64, "coordinator", "up", "--detach", "--cluster-id", "other", "--nodesim", "/no/such"); !strings.Contains(p.stderr.String(), "--nodesim /no/such") {
		t.Errorf("one that can't start: %s", p.stderr)
	}
	s.detach.running(4)
	p := run(t, 0, "coordinator", "down")
	if took := p.ended.Sub(p.began); took > interrupt {
		t.Errorf("down took %v, want at most %v", took, interrupt)
	}
	s.detach.nothingLeft(0)
	if left, _ := filepath.Glob(filepath.Join(s.dir, "railyard", "*.json")); len(left) > 0 {
		t.Errorf("down leaves %v", left)
	}
	run(t, 64, "coordinator", "status")
}

// TestFaultsOnUp: faults strike benches on a cluster that stays, also one that kills
// a process; the next bench runs as if nothing had been.
func TestFaultsOnUp(t *testing.T) {
	s := up(t, "--nodes", "3", "--gpus-per-node", "2")
	sound := s.bench(0).rows()
	run(t, 0, "coordinator", "fault", "add", "gpu-hang", "node1/gpu1", "--at", "20us")
	if p := s.bench(1); !strings.Contains(p.stdout.String(), "# error: failed: timeout: missing-exit: rank 3") {
		t.Errorf("a bench with a GPU that hangs:\n%s", p.stdout)
	}
	for _, verb := range []string{"explain", "status"} {
		out := run(t, 0, "coordinator", verb).stdout.String()
		for _, want := range []string{"failed, 0 of 1 rows", "under faults: gpu-hang-1", "hang: missing-exit", "(node1/gpu1)", " of rank 3 (channel "} {
			if !strings.Contains(out, want) {
				t.Errorf("%s lacks %q:\n%s", verb, want, out)
			}
		}
	}
	run(t, 0, "coordinator", "fault", "reset")
	run(t, 0, "coordinator", "fault", "add", "kill", "node2", "--at", "20us")
	if p := s.bench(1); !strings.Contains(p.stdout.String(), "# error: failed: peer-lost: rank 4 (node2/gpu0) is gone") {
		t.Errorf("a bench with a node that is killed:\n%s", p.stdout)
	}
	run(t, 0, "coordinator", "fault", "remove", "kill-1")
	if again := s.bench(0).rows(); again != sound || again == "" {
		t.Errorf("after the faults are gone:\n%s\nbefore them:\n%s", again, sound)
	}
	run(t, 0, "coordinator", "down")
	s.detach.nothingLeft(0)
}

// TestFaultsAmidBench: faults strike a bench that runs, go away again, and end it, each
// from an instant of its clock on that is told; the bench says so itself, and so does
// status. The next one runs as if nothing had been.
func TestFaultsAmidBench(t *testing.T) {
	s := up(t, "--nodes", "3", "--gpus-per-node", "2")
	sound := s.bench(0).rows()
	file := filepath.Join(t.TempDir(), "result.json")
	// More rows than anybody waits for.
	b := start(t, "coordinator", "bench", "all_reduce", "--connect", s.addr, "-b", "64K", "-e", "64G", "-f", "2", "--payload", "scaled", "-J", file)
	b.await(b.stdout, `(?m)^ +65536 .*\n`)
	fault := func(args ...string) string {
		t.Helper()
		return run(t, 0, "coordinator", append([]string{"fault"}, args...)...).stdout.String()
	}
	strikes := regexp.MustCompile(`strikes the bench that runs \(all_reduce on 6 GPUs\) from (\S+) of its clock on`)
	added := strikes.FindStringSubmatch(fault("add", "rate", "node1/nic0", "share=50%"))
	if removed := fault("remove", "rate-1"); added == nil || !strings.Contains(removed, "the bench that runs (all_reduce on 6 GPUs) is rid of it from ") {
		t.Fatalf("added: %v\nremoved: %s", added, removed)
	}
	killed := strikes.FindStringSubmatch(fault("add", "kill", "node2"))
	if code := b.wait(); code != 1 || killed == nil {
		t.Fatalf("a bench whose node was killed, %v: code %d\n%s\n%s", killed, code, b.stdout, b.stderr)
	}
	status := run(t, 0, "coordinator", "status").stdout.String()
	result, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"it goes back to fault kill-1, which was added while it ran", "added rate-1: rate node1/nic0 at=" + added[1] + " share=50%",
		"took back rate-1: rate node1/nic0 at=" + added[1] + " to=", "added kill-1: kill node2 at=" + killed[1]} {
		if !strings.Contains(b.stdout.String(), want) || !strings.Contains(status, want) || !strings.Contains(string(result), want) {
			t.Errorf("bench, its JSON or status lack %q:\n%s\n%s\n%s", want, b.stdout, result, status)
		}
	}
	if !strings.Contains(b.stdout.String(), "# Perturbed from "+added[1]+" on") || !strings.Contains(string(result), `"perturbed_ps"`) || !strings.Contains(status, "perturbed from ") {
		t.Errorf("bench, its JSON or status do not say that it was perturbed:\n%s\n%s\n%s", b.stdout, result, status)
	}
	if out := fault("reset"); !strings.Contains(out, "removed kill-1") {
		t.Errorf("reset: %s", out)
	}
	if again := s.bench(0).rows(); again != sound || again == "" {
		t.Errorf("after the faults are gone:\n%s\nbefore them:\n%s", again, sound)
	}
	run(t, 0, "coordinator", "down")
	s.detach.nothingLeft(0)
}

// TestStale: a cluster whose coordinator was killed is known to be gone, and a new
// one may take its name; one that is stopped is ended by force.
func TestStale(t *testing.T) {
	s := up(t)
	coordinator := func() int {
		t.Helper()
		for _, pid := range s.detach.left() {
			if name, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "comm")); err == nil && strings.TrimSpace(string(name)) == "coordinator" {
				return pid
			}
		}
		t.Skip("no /proc to find the coordinator in")
		return 0
	}
	_ = syscall.Kill(coordinator(), syscall.SIGKILL)
	s.detach.nothingLeft(crash)
	if p := run(t, 64, "coordinator", "down"); !strings.Contains(p.stderr.String(), "has ended without coordinator down") {
		t.Errorf("down on a stale file: %s", p.stderr)
	}
	s = up(t)
	_ = syscall.Kill(coordinator(), syscall.SIGSTOP)
	if p := run(t, 0, "coordinator", "down"); !strings.Contains(p.stdout.String(), "killed") {
		t.Errorf("down on one that is stopped: %s", p.stdout)
	}
	s.detach.nothingLeft(crash)
}

var tableRow = regexp.MustCompile(`(?m)^ +65536 .*$`)

// rows returns the row of the table.
func (p *program) rows() string { return tableRow.FindString(p.stdout.String()) }
