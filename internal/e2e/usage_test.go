//go:build e2e

package e2e

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// taken returns an address that somebody listens on.
func taken(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l.Addr().String()
}

// write writes a file of the test.
func write(t *testing.T, name, content string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// other builds a nodesim of another version.
func other(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := build(dir, "other", "nodesim"); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "nodesim")
}

// TestUsage: what the user can mend gets one line that says so, exit code 64,
// and leaves nothing behind.
func TestUsage(t *testing.T) {
	port := taken(t)
	bench := func(args ...string) []string {
		return append([]string{"coordinator", "bench", "all_reduce", "--quiet"}, args...)
	}
	for _, test := range []struct {
		name  string
		args  []string // the binary first
		words []string
	}{
		{"unknown system", bench("--system", "dgx-h10"), []string{"--system", "dgx-h10", `did you mean "dgx-h100"`}},
		{"unknown algorithm", bench("--algo", "rign"), []string{"--algo", "rign", `did you mean "ring"`}},
		{"unknown type", bench("-d", "flaot"), []string{"-d", "flaot", `did you mean "float"`}},
		{"unknown flag", bench("--nodse", "4"), []string{"--nodse", "did you mean --nodes"}},
		{"unknown operation", []string{"coordinator", "bench", "all_redcue"}, []string{"all_redcue", `did you mean "all_reduce"`}},
		{"-b above -e", bench("-b", "2M", "-e", "1M"), []string{"-b", "-e"}},
		{"more nodes than ports", bench("--nodes", "9000"), []string{"--nodes", "9000", "ports"}},
		{"more processes than nodes", bench("--nodes", "2", "--procs", "3"), []string{"--procs 3"}},
		{"not yet", bench("-z", "2"), []string{"not yet"}},
		{"nodesim missing", bench("--nodesim", "/nonexistent"), []string{"--nodesim /nonexistent", "no such file"}},
		{"nodesim of another version", bench("--nodes", "2", "--nodesim", other(t)), []string{"version mismatch", "other"}},
		{"no nodesim at all", bench("--nodes", "2", "--nodesim", binary(t, "coordinator")), []string{"did not start"}},
		{"nobody to connect to", bench("--connect", "127.0.0.1:1"), []string{"--connect 127.0.0.1:1"}},
		{"unknown key", bench("--cluster", write(t, "c.yaml", "apiVersion: railyard/v1alpha1\nkind: Cluster\nspec:\n  nodes:\n    - {count: 1, system: dgx-h100, gpu: 8}\n")),
			[]string{"c.yaml:5", "gpu"}},
		{"serve: port in use", []string{"coordinator", "serve", "--listen", port}, []string{"--listen " + port, "in use"}},
		{"serve: gossip port in use", []string{"coordinator", "serve", "--gossip", port}, []string{"--gossip", port, "in use"}},
		{"nodesim: port in use", []string{"nodesim", "--join", "127.0.0.1:1", "--listen", port}, []string{"--listen " + port, "in use"}},
		{"proxy: port in use", []string{"nodesim", "proxy", "--to", "127.0.0.1:1", "--link", "ndr", "--listen", port}, []string{"--listen " + port, "in use"}},
		{"proxy: unknown link", []string{"nodesim", "proxy", "--to", "127.0.0.1:1", "--link", "nrd"}, []string{"--link", "nrd", `did you mean "ndr"`}},
		{"nodesim: gossip port in use", []string{"nodesim", "--join", "127.0.0.1:1", "--gossip", port}, []string{"gossip", port, "in use"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := run(t, 64, test.args[0], test.args[1:]...)
			said := p.stderr.lines()
			if len(said) != 1 || p.stdout.String() != "" {
				t.Errorf("stderr has %d lines, stdout %d bytes; want 1 and 0:\n%s%s", len(said), len(p.stdout.String()), p.stderr, p.stdout)
			}
			for _, w := range test.words {
				if !strings.Contains(p.stderr.String(), w) {
					t.Errorf("%q does not say %q", said, w)
				}
			}
			if strings.Contains(p.stderr.String(), "goroutine ") {
				t.Errorf("a stack trace:\n%s", p.stderr)
			}
		})
	}
}
