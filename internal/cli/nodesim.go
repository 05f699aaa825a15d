package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/suggest"
)

// NodesimConfig is everything nodesim was told.
type NodesimConfig struct {
	Common

	Name        string // of this member; empty makes one from the nodes
	First, Last int    // nodes hosted, both ends included
	Join        []string
	ClusterID   string // members of another cluster are refused
	Listen      string // gRPC, host:port; port 0 is any
	Gossip      string // memberlist, host:port; port 0 is any
	// Lifeline makes the process end when its standard input does: whoever
	// started it holds the other end, and lets go however it dies.
	Lifeline bool
}

func (c *NodesimConfig) settings() []setting {
	return []setting{
		{name: "join", arg: "ADDR,...", usage: "address of one member, or more, of the cluster to join", set: c.setJoin},
		{name: "nodes", arg: "N|N-M", def: "0", usage: "which servers of the cluster this process is", set: c.setNodes},
		{name: "name", arg: "NAME", usage: "what other members call this process (default from its nodes)", set: name(&c.Name)},
		{name: "listen", arg: "ADDR", def: "127.0.0.1:0", usage: "address for the coordinator and other nodes", set: address(&c.Listen)},
		{name: "gossip", arg: "ADDR", def: "127.0.0.1:0", usage: "address for membership", set: address(&c.Gossip)},
		{name: "cluster-id", arg: "NAME", def: DefaultClusterID, usage: "members of another cluster are refused", set: name(&c.ClusterID)},
		{name: "lifeline", usage: "end when standard input does; for programs that start nodesims", set: toggle(&c.Lifeline)},
	}
}

func (c *NodesimConfig) setJoin(s string) error {
	c.Join = nil
	var errs []error
	for _, part := range strings.Split(s, ",") {
		var addr string
		if err := address(&addr)(part); err != nil {
			errs = append(errs, err)
		}
		c.Join = append(c.Join, addr)
	}
	return errors.Join(errs...)
}

// setNodes reads "3" or "3-5".
func (c *NodesimConfig) setNodes(s string) error {
	first, last, ranged := strings.Cut(s, "-")
	if !ranged {
		last = first
	}
	a, errA := strconv.ParseUint(first, 10, 31)
	b, errB := strconv.ParseUint(last, 10, 31)
	if errA != nil || errB != nil || a > b || b >= emu.MaxNodes {
		return fmt.Errorf("%q must be a node such as 3, or nodes such as 3-5, from 0 to %d", suggest.Clip(s), emu.MaxNodes-1)
	}
	c.First, c.Last = int(a), int(b)
	return nil
}

// MainNodesim runs nodesim's command line and returns the exit code.
func (a *App) MainNodesim(host func(context.Context, NodesimConfig) error) int {
	ctx, stop := interruptible()
	defer stop()
	return a.RunNodesim(ctx, os.Args[1:], host)
}

// RunNodesim runs a command line of nodesim.
func (a *App) RunNodesim(ctx context.Context, args []string, host func(context.Context, NodesimConfig) error) int {
	var c NodesimConfig
	settings := append(c.settings(), c.Common.settings()...)
	root := newRoot("nodesim", "One server, or several, of an emulated GPU cluster",
		"nodesim is one server of an emulated GPU cluster, or several. coordinator starts\nit by itself; start it by hand to join one that serves. nodesim proxy puts any\nTCP program on an emulated link.")
	root.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return unknownVerb(cmd, args)
		}
		err := apply(cmd.Flags(), settings, a.Getenv, map[string]source{})
		c.finish(a)
		if err == nil && len(c.Join) == 0 {
			err = errors.New("--join is missing; give the address that coordinator serve printed")
		}
		if err != nil {
			return &ExitError{ExitUsage, err}
		}
		if c.Name == "" {
			c.Name = "nodesim-" + strconv.Itoa(c.First)
		}
		return host(cmd.Context(), c)
	}
	register(root, settings)
	root.AddCommand(a.proxy(), versionCommand("nodesim", a.Version))
	return a.execute(ctx, root, args)
}
