package cli

import "github.com/spf13/cobra"

// Reach says which running cluster is meant.
type Reach struct {
	Common
	Connect   string // host:port of the coordinator; empty: the one that up left
	ClusterID string // of that one
}

func (r *Reach) settings() []setting {
	return append([]setting{
		{name: "connect", arg: "ADDR", usage: "the coordinator to ask, HOST:PORT (default the cluster that is up)", set: address(&r.Connect)},
		{name: "cluster-id", arg: "NAME", def: DefaultClusterID, usage: "which cluster, where up started several", set: name(&r.ClusterID)},
	}, r.Common.settings()...)
}

// read takes the flags of a verb that asks a cluster and prints a table or JSON.
func (r *Reach) read(a *App, cmd *cobra.Command, settings []setting) error {
	err := apply(cmd.Flags(), settings, a.Getenv, map[string]source{})
	r.finish(a)
	switch {
	case err != nil:
		return &ExitError{ExitUsage, err}
	case r.Format == "csv":
		return usagef("--format csv: %s prints table or json", cmd.Name())
	}
	return nil
}
