package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

// StatusConfig is everything status was told.
type StatusConfig struct {
	Common
	Connect string // host:port of the coordinator
}

// Status is what a coordinator says of its cluster.
type Status struct {
	Coordinator string       `json:"coordinator"` // its address
	Version     string       `json:"version"`
	ClusterID   string       `json:"cluster_id"`
	State       string       `json:"state"` // for example "waiting for nodes", "idle", "running"
	Lost        *Loss        `json:"lost,omitempty"`
	Nodes       []NodeStatus `json:"nodes"`
}

// Loss is what a cluster lost last.
type Loss struct {
	Cause  string  `json:"cause"` // verdict word
	Text   string  `json:"text"`  // one line
	Member string  `json:"member"`
	Detect float64 `json:"detect_wall_seconds"` // how long it took to notice, at most
}

// NodeStatus is one server of the cluster.
type NodeStatus struct {
	Index   int    `json:"index"`
	System  string `json:"system"`
	GPUs    int    `json:"gpus"`
	NICs    int    `json:"nics"`
	Process string `json:"process"` // name of the nodesim that hosts it; empty when missing
	Address string `json:"address"`
	State   string `json:"state"` // "ready", "missing" or "lost"
}

func (a *App) status() *cobra.Command {
	var c StatusConfig
	settings := append([]setting{
		{name: "connect", arg: "ADDR", usage: "the coordinator to ask (HOST:PORT)", set: address(&c.Connect)},
	}, c.Common.settings()...)
	cmd := &cobra.Command{
		Use: "status --connect ADDR", Short: "Name every node and GPU of a cluster that is up",
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			err := apply(cmd.Flags(), settings, a.Getenv, map[string]source{})
			c.finish(a)
			switch {
			case err != nil:
				return &ExitError{ExitUsage, err}
			case c.Connect == "":
				return usagef("status needs --connect ADDR: what a coordinator printed when it started to serve")
			case c.Format == "csv":
				return usagef("--format csv: status prints table or json")
			case a.Hosts.Status == nil:
				return &ExitError{ExitUsage, notYet("status")}
			}
			s, err := a.Hosts.Status(cmd.Context(), c)
			if err != nil {
				return err
			}
			return s.write(a.Stdout, c.Format)
		},
	}
	register(cmd, settings)
	return cmd
}

func (s Status) write(w io.Writer, format string) error {
	if format == "json" {
		return json.NewEncoder(w).Encode(s)
	}
	fmt.Fprintf(w, "coordinator %s  version %s  cluster %s  %s\n", s.Coordinator, s.Version, s.ClusterID, s.State)
	if s.Lost != nil {
		fmt.Fprintf(w, "lost: %s\n", s.Lost.Text)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "NODE\tSYSTEM\tGPUS\tNICS\tSTATE\tPROCESS\tADDRESS")
	for _, n := range s.Nodes {
		fmt.Fprintf(t, "node%d\t%s\t%d\t%d\t%s\t%s\t%s\n", n.Index, n.System, n.GPUs, n.NICs, n.State, n.Process, n.Address)
	}
	return t.Flush()
}
