package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

// Health is what a host can carry under the paced clock.
type Health struct {
	CPUs int `json:"cpus"` // that this process may use
	// Wake is how late alarms are, Stream what a frame needs from process to
	// process, both at the 99th percentile, in microseconds.
	Wake   float64 `json:"wake_up_lateness_us"`
	Stream float64 `json:"stream_latency_us"`
	Frames int64   `json:"frames_per_second"`
	Bytes  int64   `json:"bytes_per_second"`
	// Ways say what dilation that allows, by the shortest way of a fabric.
	Ways []HealthWay `json:"ways"`
}

// HealthWay is the least dilation at which frames make their way in time.
type HealthWay struct {
	Fabric   string  `json:"fabric"`
	Shortest float64 `json:"shortest_way_us"`
	Dilation int64   `json:"dilation"`
}

func (a *App) doctor() *cobra.Command {
	var c Common
	settings := c.settings()
	cmd := &cobra.Command{
		Use: "doctor", Short: "Measure what this host can emulate under the paced clock",
		Long: "Measure what this host can emulate under the paced clock: how late it wakes up, and\nwhat gRPC on loopback carries. It takes half a second; other load counts.",
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			err := apply(cmd.Flags(), settings, a.Getenv, map[string]source{})
			c.finish(a)
			switch {
			case err != nil:
				return &ExitError{ExitUsage, err}
			case c.Format == "csv":
				return usagef("--format csv: doctor prints table or json")
			case a.Hosts.Doctor == nil:
				return &ExitError{ExitUsage, notYet("doctor")}
			}
			h, err := a.Hosts.Doctor(cmd.Context())
			if err != nil {
				return err
			}
			return h.write(a.Stdout, c.Format)
		},
	}
	register(cmd, settings)
	return cmd
}

func (h Health) write(w io.Writer, format string) error {
	if format == "json" {
		return json.NewEncoder(w).Encode(h)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "CPUs\t%d\n", h.CPUs)
	fmt.Fprintf(t, "wake-up lateness (p99)\t%.0f us\n", h.Wake)
	fmt.Fprintf(t, "frame from process to process (p99)\t%.0f us\n", h.Stream)
	fmt.Fprintf(t, "frames\t%d a second\n", h.Frames)
	fmt.Fprintf(t, "payload\t%d MB a second\n", h.Bytes/1e6)
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w, "\nleast dilation at which frames are in time; a run with much to move needs more")
	t = tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "FABRIC\tSHORTEST WAY\tDILATION")
	for _, y := range h.Ways {
		fmt.Fprintf(t, "%s\t%.3g us\t%d\n", y.Fabric, y.Shortest, y.Dilation)
	}
	return t.Flush()
}
