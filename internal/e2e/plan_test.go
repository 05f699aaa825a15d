//go:build e2e

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPlanFile: a plan that was exported is proved, and runs on processes of
// its own with no element wrong; with one step changed it fails both.
func TestPlanFile(t *testing.T) {
	t.Parallel()
	coordinator := binary(t, "coordinator")
	run := func(args ...string) (string, int) {
		c := exec.CommandContext(t.Context(), coordinator, args...)
		out, err := c.CombinedOutput()
		if c.ProcessState == nil {
			t.Fatal(err)
		}
		return string(out), c.ProcessState.ExitCode()
	}
	file := filepath.Join(t.TempDir(), "ring.xml")
	bench := []string{"bench", "allreduce", "--plan", file, "--nodes", "2", "--gpus-per-node", "2", "--procs", "2", "-b", "64K", "-e", "64K"}
	for _, args := range [][]string{{"plan", "export", "ring", "--nodes", "2", "--gpus-per-node", "2", "--out", file}, {"plan", "check", file}, bench} {
		if out, code := run(args...); code != 0 {
			t.Fatalf("%v: exit %d: %s", args, code, out)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(text), `type="rrcs"`, `type="rrs"`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, code := run("plan", "check", file); code != 1 || !strings.Contains(out, "never written") {
		t.Errorf("check: exit %d: %s", code, out)
	}
	if out, code := run(bench...); code != 1 || !strings.Contains(out, "hold wrong elements (#wrong)") {
		t.Errorf("bench: exit %d: %s", code, out)
	}
}
