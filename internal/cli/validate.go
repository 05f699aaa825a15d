package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/railyard/railyard/emu"
)

func (a *App) validate() *cobra.Command {
	var effective bool
	settings := []setting{{name: "print-effective", usage: "print the files with every default filled in", set: toggle(&effective)}}
	cmd := &cobra.Command{
		Use: "validate FILE...", Short: "Check cluster and scenario files without running anything",
		RunE: func(cmd *cobra.Command, args []string) error {
			err := apply(cmd.Flags(), settings, a.Getenv, map[string]source{})
			if err == nil && len(args) == 0 {
				err = errors.New("validate needs a file: coordinator validate cluster.yaml")
			}
			if err != nil {
				return &ExitError{ExitUsage, err}
			}
			return a.validateFiles(args, effective)
		},
	}
	register(cmd, settings)
	return cmd
}

func fabricWords(f emu.Fabric) string {
	if f.Kind == "" || f.Link == "" {
		return "no fabric named"
	}
	return fmt.Sprintf("%s fabric of %s links", f.Kind, f.Link)
}

// validateFiles looks at every file, also after a bad one.
func (a *App) validateFiles(files []string, effective bool) error {
	var errs []error
	for _, f := range files {
		data, err := a.ReadFile(f)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if emu.KindOf(data) == emu.KindScenario {
			errs = append(errs, a.validateScenario(f, effective))
			continue
		}
		c, err := emu.LoadCluster(f, data, known())
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for _, n := range idle(&c) {
			a.complain(f, "note: "+n)
		}
		e := c.Effective(known())
		if effective {
			a.Stdout.Write(e.YAML())
			continue
		}
		gpus := 0
		for _, g := range e.Groups {
			gpus += g.Count * g.GPUs
		}
		fmt.Fprintf(a.Stdout, "%s: ok: %d nodes, %d GPUs, %s\n", f, c.Nodes(), gpus, fabricWords(e.Fabric))
	}
	if err := errors.Join(errs...); err != nil {
		return &ExitError{ExitUsage, err}
	}
	return nil
}

func (a *App) validateScenario(file string, effective bool) error {
	s, err := a.scenario(file)
	switch {
	case err != nil:
		return err
	case effective:
		a.Stdout.Write(effectively(s))
	default:
		fmt.Fprintf(a.Stdout, "%s: ok: a scenario of %d runs, %d faults and %d expectations on %d nodes\n", file, len(s.Phases), len(s.Faults), len(s.Expect), s.Cluster.Nodes())
	}
	return nil
}
