package cli

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/railyard/railyard/emu"
)

// DefaultClusterID is what coordinators and nodesims that are started by hand
// call their cluster. Those that a coordinator starts get one of their own.
const DefaultClusterID = "railyard"

// ServeConfig is everything serve was told.
type ServeConfig struct {
	Common

	Cluster   emu.Cluster   // the hardware that nodes will join for; defaults left out
	ClusterID string        // members of another cluster are refused
	Listen    string        // gRPC, host:port; port 0 is any
	Gossip    string        // memberlist, host:port; port 0 is any
	Wait      time.Duration // wall time to wait for all nodes; 0 for ever
}

func (c *ServeConfig) settings() []setting {
	return []setting{
		{name: "listen", arg: "ADDR", def: "127.0.0.1:0", usage: "address for clients and nodes; the one chosen is printed", set: address(&c.Listen)},
		{name: "gossip", arg: "ADDR", def: "127.0.0.1:0", usage: "address that nodes join", set: address(&c.Gossip)},
		{name: "cluster-id", arg: "NAME", def: DefaultClusterID, usage: "members of another cluster are refused", set: name(&c.ClusterID)},
		{name: "wait", arg: "TIME", def: "0s", usage: "give up when nodes are still missing after this much wall time; 0 never", set: wallTime(&c.Wait)},
	}
}

func (a *App) serve() *cobra.Command {
	var c ServeConfig
	var h hardware
	settings := append(c.settings(), h.settings()...)
	settings = append(settings, c.Common.settings()...)
	cmd := &cobra.Command{
		Use: "serve", Short: "Run the coordinator alone, for nodes that join from elsewhere",
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
			if a.Hosts.Serve == nil {
				return &ExitError{ExitUsage, notYet("serve")}
			}
			return a.Hosts.Serve(cmd.Context(), c)
		},
	}
	register(cmd, settings)
	return cmd
}

// none refuses arguments.
func none(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("%s takes no argument %q", cmd.Name(), args[0])
	}
	return nil
}

// wallTime reads a span of wall time.
func wallTime(to *time.Duration) func(string) error {
	return func(s string) error {
		d, err := time.ParseDuration(s)
		if err != nil || d < 0 {
			return fmt.Errorf("%q must be a time such as 500ms, 90s or 5m", s)
		}
		*to = d
		return nil
	}
}

// name reads a name that other processes will see.
func name(to *string) func(string) error {
	return func(s string) error {
		if s == "" || len(s) > 63 || strings.ContainsAny(s, " \t\r\n/\\\"'") {
			return errors.New("must be 1 to 63 characters without blanks, quotes and slashes")
		}
		*to = s
		return nil
	}
}
