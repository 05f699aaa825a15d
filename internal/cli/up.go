package cli

import (
	"github.com/spf13/cobra"

	"github.com/railyard/railyard/emu"
)

// UpConfig is everything up was told.
type UpConfig struct {
	Common

	Cluster   emu.Cluster // defaults left out
	ClusterID string      // under which down, status and fault find it
	Listen    string      // gRPC, host:port; port 0 is any
	Procs     int         // processes to spread the nodes over; 0 is one a node
	Nodesim   string      // path of the nodesim binary; empty looks for it
	// Detach leaves the cluster in the background: the program runs itself again,
	// with Args but for that flag.
	Detach bool
	Args   []string
}

func (c *UpConfig) settings() []setting {
	return []setting{
		{name: "detach", short: "d", usage: "return when the cluster is up, and leave it in the background until coordinator down", set: toggle(&c.Detach)},
		{name: "listen", arg: "ADDR", def: "127.0.0.1:0", usage: "address for clients; the one chosen is printed", set: address(&c.Listen)},
		{name: "cluster-id", arg: "NAME", def: DefaultClusterID, usage: "its name among the clusters that are up", set: name(&c.ClusterID)},
		{name: "procs", arg: "N", usage: "processes to spread the nodes over (default one a node)", set: whole(&c.Procs, 1, maxCount)},
		{name: "nodesim", arg: "PATH", usage: "the nodesim binary (default beside this one, then on PATH)", set: text(&c.Nodesim)},
	}
}

func (a *App) up(args []string) *cobra.Command {
	c := UpConfig{Args: args}
	var h hardware
	settings := append(c.settings(), h.settings()...)
	settings = append(settings, c.Common.settings()...)
	cmd := &cobra.Command{
		Use: "up", Short: "Start a cluster that stays, for bench --connect and faults",
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			sources := map[string]source{}
			given := func(name string) bool { return sources[name].from == "flag" }
			err := apply(cmd.Flags(), settings, a.Getenv, sources)
			c.finish(a)
			if err == nil {
				c.Cluster, err = h.cluster(a, given)
			}
			if err == nil {
				err = h.dumpTopology(a, &c.Cluster, given)
			}
			if err != nil {
				return &ExitError{ExitUsage, err}
			}
			for _, n := range h.notes {
				a.complain("coordinator", "note: "+n)
			}
			if a.Hosts.Up == nil {
				return &ExitError{ExitUsage, notYet("up")}
			}
			return a.Hosts.Up(cmd.Context(), c)
		},
	}
	register(cmd, settings)
	return cmd
}

// DownConfig is everything down was told.
type DownConfig struct{ Reach }

func (a *App) down() *cobra.Command {
	var c DownConfig
	settings := c.Reach.settings()
	cmd := &cobra.Command{
		Use: "down", Short: "End a cluster that stayed, and every process of it",
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := c.read(a, cmd, settings); err != nil {
				return err
			}
			if a.Hosts.Down == nil {
				return &ExitError{ExitUsage, notYet("down")}
			}
			return a.Hosts.Down(cmd.Context(), c)
		},
	}
	register(cmd, settings)
	return cmd
}
