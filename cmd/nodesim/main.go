// Command nodesim is one server of an emulated GPU cluster, or several; nodesim
// proxy puts any TCP program on an emulated link.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/railyard/railyard/internal/cli"
	"github.com/railyard/railyard/internal/gossip"
	"github.com/railyard/railyard/internal/nodesim"
	"github.com/railyard/railyard/internal/proxy"
)

// version is set by the linker.
var version = "dev"

func main() {
	os.Exit(cli.NewApp(version, cli.Hosts{Proxy: carry}).MainNodesim(run))
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

func carry(ctx context.Context, c cli.ProxyConfig, ready func(string)) (cli.ProxyReport, error) {
	r, err := proxy.Run(ctx, proxy.Config{Listen: c.Listen, To: c.To, Hops: c.Link, Dilation: c.Dilation, Seed: c.Seed,
		Logger: c.Log, Ready: ready})
	if errors.Is(err, proxy.ErrListen) {
		err = &cli.ExitError{Code: cli.ExitUsage, Err: fmt.Errorf("--listen %s: %w", c.Listen, err)}
	}
	return cli.ProxyReport(r), err
}
