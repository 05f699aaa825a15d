package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// Files that examples of help name are there: people begin by typing them.
func TestExamplesNameFiles(t *testing.T) {
	named := 0
	var look func(c *cobra.Command)
	look = func(c *cobra.Command) {
		for _, word := range strings.Fields(c.Example + " " + c.Long) {
			if !strings.HasPrefix(word, "deploy/") {
				continue
			}
			named++
			if _, err := os.Stat(filepath.Join("..", "..", word)); err != nil {
				t.Errorf("%s: %v", c.CommandPath(), err)
			}
		}
		for _, sub := range c.Commands() {
			look(sub)
		}
	}
	look(newSession(t).root(nil))
	if named == 0 {
		t.Error("no example names a file")
	}
}
