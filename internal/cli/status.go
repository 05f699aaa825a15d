package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

// StatusConfig is everything status was told.
type StatusConfig struct {
	Reach
	Ports bool // list all ports
}

// Status is what a coordinator says of its cluster.
type Status struct {
	Coordinator string       `json:"coordinator"` // its address
	Version     string       `json:"version"`
	ClusterID   string       `json:"cluster_id"`
	State       string       `json:"state"` // for example "waiting for nodes", "idle", "running"
	Lost        *Loss        `json:"lost,omitempty"`
	Nodes       []NodeStatus `json:"nodes"`
	CutOff      []CutOff     `json:"cut_off"` // who does not hear whom, where a partition keeps processes apart or did
	// Ports are the queues of the hardware: all in JSON or when asked for, else
	// those that a fault strikes.
	Ports  []PortStatus  `json:"ports"`
	Faults []FaultStatus `json:"faults"` // that strike the next bench
	Effect []string      `json:"effect"` // what they do, part by part
	Last   *Account      `json:"last"`   // the bench that runs, or the last one; null: none
}

// PortStatus is one port.
type PortStatus struct {
	Name   string `json:"name"`
	Rate   string `json:"rate"`
	Struck string `json:"struck,omitempty"` // what faults do to it, and when
}

// Loss is what a cluster lost last.
type Loss struct {
	Cause  string  `json:"cause"` // verdict word
	Text   string  `json:"text"`  // one line
	Member string  `json:"member"`
	Detect float64 `json:"detect_wall_seconds"` // how long it took to notice, at most
}

// CutOff says of processes whose gossip they are cut off from.
type CutOff struct {
	Processes []string `json:"processes"` // "coordinator" among them
	From      []string `json:"from"`
	// State is "apart": a partition keeps them so, and gossip has noticed; "parting":
	// it has not yet; or "meeting": the partition is over, and they have yet to meet.
	State string `json:"state"`
}

// String puts it into words.
func (c *CutOff) String() string {
	who, from := brief(c.Processes), brief(c.From)
	switch c.State {
	case "apart":
		return fmt.Sprintf("cut off: %s: no gossip from %s", who, from)
	case "parting":
		return fmt.Sprintf("cut off: %s from %s, which gossip has not noticed yet", who, from)
	}
	return fmt.Sprintf("meeting again: %s: no gossip yet from %s", who, from)
}

// brief lists names, of many the first.
func brief(names []string) string {
	const most = 8
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

// NodeStatus is one server of the cluster.
type NodeStatus struct {
	Index   int      `json:"index"`
	System  string   `json:"system"`
	GPUs    int      `json:"gpus"`
	NICs    int      `json:"nics"`
	Devices []string `json:"devices"` // GPUs and NICs by name
	Process string   `json:"process"` // name of the nodesim that hosts it; empty when missing
	Address string   `json:"address"`
	State   string   `json:"state"` // "ready", "missing" or "lost"
}

func (a *App) status() *cobra.Command {
	var c StatusConfig
	settings := append(c.Reach.settings(), setting{name: "ports", usage: "list all ports, not only those that faults strike", set: toggle(&c.Ports)})
	cmd := &cobra.Command{
		Use: "status", Short: "Name every node, GPU, port and fault of a cluster that is up",
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := c.read(a, cmd, settings); err != nil {
				return err
			}
			if a.Hosts.Status == nil {
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
	for i := range s.CutOff {
		fmt.Fprintln(w, &s.CutOff[i])
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "NODE\tSYSTEM\tGPUS\tNICS\tSTATE\tPROCESS\tADDRESS")
	for _, n := range s.Nodes {
		fmt.Fprintf(t, "node%d\t%s\t%s\t%s\t%s\t%s\t%s\n", n.Index, n.System, numbered("gpu", n.GPUs), numbered("nic", n.NICs), n.State, n.Process, n.Address)
	}
	if len(s.Ports) > 0 {
		fmt.Fprintln(t, "\nPORT\tRATE\tFAULTS")
	}
	for _, p := range s.Ports {
		fmt.Fprintf(t, "%s\t%s\t%s\n", p.Name, p.Rate, p.Struck)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if len(s.Faults) > 0 {
		fmt.Fprintln(w)
		if err := writeFaults(w, s.Faults); err != nil {
			return err
		}
	}
	for _, e := range s.Effect {
		fmt.Fprintln(w, "  "+e)
	}
	if s.Last == nil {
		return nil
	}
	fmt.Fprintln(w)
	return s.Last.write(w, "table")
}

// numbered names parts that count from 0.
func numbered(what string, n int) string {
	switch n {
	case 0:
		return "-"
	case 1:
		return what + "0"
	}
	return fmt.Sprintf("%s0-%d", what, n-1)
}
