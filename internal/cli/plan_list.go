package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/railyard/railyard/collective"
)

func (a *App) planList() *cobra.Command {
	l := &planLine{}
	cmd := l.command(a, "list", "List the algorithms: which operations, when legal, steps and bytes", nil, func([]string) error {
		if l.Format == "json" {
			return json.NewEncoder(a.Stdout).Encode(collective.Rows())
		}
		return listAlgorithms(a.Stdout, collective.Rows())
	})
	cmd.Args = none
	return cmd
}

func listAlgorithms(w io.Writer, rows []collective.Row) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "NAME\tOPS\tPROTOCOLS\tSTEPS\tBYTES ON THE WIRE\tLEGAL\tABOUT")
	for _, r := range rows {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.Name, strings.Join(r.Ops, ","), strings.Join(r.Protocols, ","), r.Steps, r.Wire, r.When, r.About)
	}
	return t.Flush()
}
