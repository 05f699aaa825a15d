// Command nodesim is one server of an emulated GPU cluster, or several.
package main

import (
	"context"
	"errors"
	"os"

	"github.com/railyard/railyard/internal/cli"
	"github.com/railyard/railyard/internal/gossip"
	"github.com/railyard/railyard/internal/nodesim"
)

// version is set by the linker.
var version = "dev"

func main() {
	os.Exit(cli.NewApp(version, cli.Hosts{}).MainNodesim(run))
}

func run(ctx context.Context, c cli.NodesimConfig) error {
	g, err := gossip.At(c.Gossip)
	if err != nil {
		return &cli.ExitError{Code: cli.ExitUsage, Err: err}
	}
	config := nodesim.Config{
		Name: c.Name, Nodes: gossip.Nodes{{First: c.First, Last: c.Last}}, Join: c.Join, Cluster: c.ClusterID,
		Version: version, Listen: c.Listen, Gossip: g, Logger: c.Log,
	}
	if c.Lifeline {
		config.Lifeline = os.Stdin
	}
	if err = nodesim.Run(ctx, config); errors.Is(err, nodesim.ErrOrphaned) {
		return &cli.ExitError{Code: cli.ExitUnjudged, Err: err}
	}
	return err
}
