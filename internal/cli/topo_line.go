package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/shaping"
)

// topoLine is a command line of a topo command that looks at a whole cluster.
type topoLine struct {
	Common
	hardware hardware
	channel  int
	proto    string
	cluster  emu.Cluster
	fabric   *fabric.Fabric
}

// which returns the flags that choose the hardware. One server has no network
// to look at, so there are two unless told.
func (l *topoLine) which() []setting {
	all := l.hardware.settings()
	for i := range all {
		if all[i].name == "nodes" {
			all[i].def = "2"
		}
	}
	return all
}

// protocol returns the flag that chooses it.
func (l *topoLine) protocol() []setting {
	return []setting{{name: "proto", arg: "NAME", def: "simple", values: protos()[1:], usage: "protocol whose latencies count: simple, ll or ll128", set: choice(&l.proto, lower(protos()[1:]), nil)}}
}

func lower(all []string) []string {
	small := slices.Clone(all)
	for i := range small {
		small[i] = strings.ToLower(small[i])
	}
	return small
}

// chosen returns the protocol of --proto.
func (l *topoLine) chosen() collective.Protocol {
	for _, p := range []collective.Protocol{collective.LL, collective.LL128} {
		if strings.EqualFold(p.String(), l.proto) {
			return p
		}
	}
	return collective.Simple
}

// command returns a topo command on a cluster: takes is how many arguments it
// wants, and a cluster file may be given as one more.
func (l *topoLine) command(a *App, use, about, long string, own []setting, takes int, run func(args []string) error) *cobra.Command {
	settings := slices.Concat(l.which(), own, l.Common.settings())
	cmd := &cobra.Command{Use: use, Short: about, Long: about + ".\n\n" + long, RunE: func(cmd *cobra.Command, args []string) error {
		sources := map[string]source{}
		err := apply(cmd.Flags(), settings, a.Getenv, sources)
		l.finish(a)
		given := func(name string) bool { return sources[name].from == "flag" }
		if err == nil {
			args, err = l.file(args, takes, cmd)
		}
		if err == nil {
			err = l.build(a, given)
		}
		if err == nil {
			l.Common.note(a, l.hardware.notes)
			err = run(args)
		}
		if err != nil {
			return &ExitError{ExitUsage, err}
		}
		return nil
	}}
	register(cmd, settings)
	return cmd
}

// file takes a cluster file off the arguments.
func (l *topoLine) file(args []string, takes int, cmd *cobra.Command) ([]string, error) {
	if len(args) == takes+1 && l.hardware.file == "" {
		l.hardware.file, args = args[takes], args[:takes]
	}
	if len(args) != takes {
		return nil, fmt.Errorf("%q: takes %d and perhaps a cluster file: %s %s", args, takes, cmd.Parent().CommandPath(), cmd.Use)
	}
	return args, nil
}

// build makes the cluster concrete.
func (l *topoLine) build(a *App, given func(string) bool) (err error) {
	if l.cluster, err = l.hardware.cluster(a, given); err != nil {
		return err
	}
	if l.fabric, err = fabric.New(l.cluster); err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	return nil
}

// table writes lines of cells, or a value as JSON, or its rows as CSV.
func (l *topoLine) table(a *App, value any, rows []record, head string, lines []string) error {
	switch l.Format {
	case "json":
		text, err := json.MarshalIndent(value, "", "  ")
		return errors.Join(err, a.deliver(append(text, '\n'), ""))
	case "csv":
		return writeCSV(a.Stdout, rows)
	}
	w := tabwriter.NewWriter(a.Stdout, 0, 0, 2, ' ', 0)
	for _, line := range append([]string{head}, lines...) {
		fmt.Fprintln(w, line)
	}
	return w.Flush()
}

// rateText returns a rate as people read it, two digits behind the point at most.
func rateText(r shaping.Rate) string {
	if r == 0 {
		return "-"
	}
	return trim(fmt.Sprintf("%.2f", float64(r)/float64(shaping.GBps))) + " GB/s"
}

// spanText returns a span in microseconds, to the nanosecond.
func spanText(d shaping.Duration) string {
	return trim(fmt.Sprintf("%.3f", float64(d)/float64(shaping.Microsecond))) + " us"
}

func trim(s string) string { return strings.TrimSuffix(strings.TrimRight(s, "0"), ".") }
