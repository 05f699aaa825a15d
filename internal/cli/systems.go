package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/railyard/railyard/emu/catalog"
	"github.com/railyard/railyard/emu/suggest"
	"github.com/railyard/railyard/shaping"
)

func (a *App) systems() *cobra.Command {
	var c Common
	settings := c.settings()
	cmd := &cobra.Command{
		Use: "systems [NAME]", Short: "List the servers, with figures, units and sources",
		Long: "List the servers of the catalog, or everything that is known of one: each figure\nwith its unit and its source. [assumed] marks those that no source was found for.\nEnv are variables that its environment, a cloud's image say, sets for NCCL.",
		RunE: func(cmd *cobra.Command, args []string) error {
			err := apply(cmd.Flags(), settings, a.Getenv, map[string]source{})
			if err == nil && len(args) > 1 {
				err = fmt.Errorf("systems takes one name or none: coordinator systems dgx-h100")
			}
			if err == nil {
				c.finish(a)
				err = a.printSystems(args, c.Format)
			}
			if err != nil {
				return &ExitError{ExitUsage, err}
			}
			return nil
		}}
	register(cmd, settings)
	return cmd
}

func (a *App) printSystems(args []string, format string) error {
	t, err := readTables()
	if err != nil {
		return err
	}
	if len(args) == 0 && format == "table" {
		return a.listSystems()
	}
	all := catalog.Systems()
	if len(args) == 1 {
		s, err := lookupSystem(args[0])
		if err != nil {
			return err
		}
		all = []catalog.System{s}
	}
	switch {
	case format == "json":
		return a.systemsJSON(t, all)
	case format == "csv" && len(args) == 1:
		return writeCSV(a.Stdout, records(t.system(all[0].Name)))
	case format == "csv":
		return writeCSV(a.Stdout, records(systemRows(t, all)))
	}
	w := tabwriter.NewWriter(a.Stdout, 0, 8, 2, ' ', 0)
	for _, f := range t.system(all[0].Name) {
		fmt.Fprintln(w, strings.TrimRight(f.Name+"\t"+f.Value+"\t"+f.Source, "\t "))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(a.Stdout, "\nSources:\n%s\n", strings.Join(t.sources, "\n"))
	return nil
}

// lookupSystem is the catalog's, with advice on a misspelt name.
func lookupSystem(name string) (catalog.System, error) {
	s, err := catalog.LookupSystem(name)
	if err != nil {
		return s, fmt.Errorf("system %s", suggest.Unknown(name, known().SystemNames()))
	}
	return s, nil
}

func (a *App) listSystems() error {
	w := tabwriter.NewWriter(a.Stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "name\tGPUs\tNICs\tNVLink/GPU\tPCIe\tfabric\t")
	all := catalog.Systems()
	for i := range all {
		s := &all[i]
		nv := "-"
		if s.NVLink.Wire > 0 {
			nv = s.NVLink.Wire.String()
		}
		nics := fmt.Sprint(s.NICs)
		if s.Cards > 1 {
			nics += fmt.Sprintf("×%d", s.Cards)
		}
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\tgen %d\t%s %s\t%s\n", s.Name, s.GPUs, nics, nv, s.PCIe.Gen, s.Fabric, s.Link, s.About)
	}
	return w.Flush()
}

// systemJSON is one system; figures are those of the table, with its sources.
type systemJSON struct {
	Name    string       `json:"name"`
	Alias   string       `json:"alias,omitempty"`
	About   string       `json:"about"`
	GPUs    int          `json:"gpus"`
	NICs    int          `json:"nics"`
	Cards   int          `json:"cards_a_nic,omitempty"`
	NVLink  shaping.Rate `json:"nvlink_bytes_per_second"` // one GPU, one direction
	PCIe    shaping.Rate `json:"pcie_bytes_per_second"`
	Domain  int          `json:"domain_nodes,omitempty"`
	Link    string       `json:"link"`
	Fabric  string       `json:"fabric"`
	Env     []string     `json:"env,omitempty"` // what its environment sets for NCCL
	Figures []figure     `json:"figures"`
}

func (a *App) systemsJSON(t *tables, all []catalog.System) error {
	out := struct {
		Systems []systemJSON `json:"systems"`
		Sources []string     `json:"sources"`
	}{systemRows(t, all), t.sources}
	e := json.NewEncoder(a.Stdout)
	e.SetIndent("", "  ")
	return e.Encode(out)
}

func systemRows(t *tables, all []catalog.System) []systemJSON {
	var rows []systemJSON
	for i := range all {
		s := &all[i]
		rows = append(rows, systemJSON{s.Name, s.Alias, s.About, s.GPUs, s.NICs, s.Cards, s.NVLink.Wire, s.PCIe.Wire,
			s.Board.Domain, s.Link, s.Fabric, s.Env, t.system(s.Name)})
	}
	return rows
}
