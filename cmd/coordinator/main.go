// Command coordinator plans and runs collectives on an emulated GPU cluster.
package main

import (
	"os"

	"github.com/railyard/railyard/internal/cli"
	"github.com/railyard/railyard/internal/verbs"
)

// version is set by the linker.
var version = "dev"

func main() {
	os.Exit(cli.NewApp(version, verbs.Hosts(version)).Main())
}
