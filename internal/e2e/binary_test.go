//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// module is what is built.
const module = "github.com/railyard/railyard"

// scratch holds what is built for the whole run. TestMain makes and removes it.
var scratch string

func TestMain(m *testing.M) {
	os.Exit(suite(m))
}

func suite(m *testing.M) int {
	var err error
	if scratch, err = os.MkdirTemp("", "railyard-e2e-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(scratch)
	return m.Run()
}

// binaries returns the directory of the binaries under test.
var binaries = sync.OnceValues(func() (string, error) {
	if dir := os.Getenv("RAILYARD_BIN"); dir != "" {
		return dir, nil
	}
	return scratch, build(scratch, "e2e", "coordinator", "nodesim")
})

// binary returns the path of a binary under test.
func binary(tb testing.TB, name string) string {
	tb.Helper()
	dir, err := binaries()
	if err != nil {
		tb.Fatal(err)
	}
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err != nil {
		tb.Fatalf("%v; make build puts it there", err)
	}
	return path
}

// build puts binaries of a version into a directory.
func build(dir, version string, names ...string) error {
	args := []string{"build", "-buildvcs=false", "-ldflags", "-X main.version=" + version, "-o", dir + string(filepath.Separator)}
	for _, n := range names {
		args = append(args, module+"/cmd/"+n)
	}
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("go %v: %w\n%s", args, err, out)
	}
	return nil
}
