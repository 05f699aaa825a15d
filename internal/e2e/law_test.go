//go:build e2e

package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
)

// timeline runs a verb and returns the timeline it wrote.
func timeline(t *testing.T, args ...string) []byte {
	t.Helper()
	file := filepath.Join(t.TempDir(), "timeline")
	run(t, 0, "coordinator", append(args, "--quiet", "--timeline", file)...)
	lines, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

// same fails the test if two timelines differ, or are empty.
func same(t *testing.T, what string, got, want []byte) {
	t.Helper()
	if len(want) == 0 {
		t.Fatalf("%s: predict's timeline is empty", what)
	}
	if bytes.Equal(got, want) {
		return
	}
	a, b := bytes.Split(got, []byte("\n")), bytes.Split(want, []byte("\n"))
	for i := range min(len(a), len(b)) {
		if !bytes.Equal(a[i], b[i]) {
			t.Fatalf("%s: record %d differs:\n  bench   %s\n  predict %s", what, i, a[i], b[i])
		}
	}
	t.Fatalf("%s: %d records from bench, %d from predict", what, len(a)-1, len(b)-1)
}

// twoGroups writes a cluster file of two groups that share uplinks of a quarter
// of what their NICs can send.
func twoGroups(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "two-groups.yaml")
	err := os.WriteFile(file, []byte(`apiVersion: railyard/v1alpha1
kind: Cluster
metadata: {name: two-groups}
spec:
  nodes:
    - {count: 2, system: dgx-h100, gpus: 2}
    - {count: 2, system: dgx-h100, gpus: 2}
  fabric: {kind: rail-optimized, link: ndr, oversubscription: 4}
`), 0o644)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// TestLaw: bench and predict write the same bytes, over however many processes
// the nodes are spread.
func TestLaw(t *testing.T) {
	for _, test := range []struct {
		name  string
		args  []string
		procs []int
	}{
		{"four nodes", []string{"--nodes", "4", "--gpus-per-node", "2", "-b", "256", "-e", "1M", "-f", "64"}, []int{1, 2, 4}},
		{"eight nodes, tree", []string{"--nodes", "8", "--gpus-per-node", "2", "-b", "64K", "-e", "64K", "--algo", "tree"}, []int{8}},
		{"two groups", []string{"--cluster", twoGroups(t), "-b", "64K", "-e", "64K", "--algo", "ring"}, []int{1, 4}},
	} {
		t.Run(test.name, func(t *testing.T) {
			want := timeline(t, slices.Concat([]string{"predict", "all_reduce"}, test.args)...)
			for _, n := range test.procs {
				got := timeline(t, slices.Concat([]string{"bench", "all_reduce", "--procs", fmt.Sprint(n)}, test.args)...)
				same(t, fmt.Sprintf("%d processes", n), got, want)
			}
		})
	}
}

// TestLawUnderLoad: nor does it matter how busy the host is.
func TestLawUnderLoad(t *testing.T) {
	args := []string{"all_reduce", "--cluster", twoGroups(t), "-b", "64K", "-e", "64K"}
	want := timeline(t, append([]string{"predict"}, args...)...)
	for range 2 * runtime.NumCPU() {
		hog(t)
	}
	same(t, "under load", timeline(t, append([]string{"bench"}, args...)...), want)
}

// hog starts a process that keeps a processor busy until the test is over.
func hog(t *testing.T) {
	t.Helper()
	cmd := exec.Command("sh", "-c", "while :; do :; done")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
}
