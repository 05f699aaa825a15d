package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/railyard/railyard/emu/suggest"
)

// laterVerb is a command that the manual promises and this version lacks.
type laterVerb struct {
	name, about string
	sub         []string
}

var laterVerbs = []laterVerb{}

// root returns the tree of the coordinator's commands. args is the command
// line, which reports quote.
func (a *App) root(args []string) *cobra.Command {
	root := newRoot("coordinator", "An emulated GPU cluster: collectives on hardware you don't have",
		"Railyard is an emulated GPU cluster. Every server is a real process, every\n"+
			"result is checked, and every time it reports is what the emulated hardware\nwould have taken.\n\n"+
			"Exit codes: 0 valid, 1 invalid result, 2 could not judge, 64 usage or a bad file.")
	// A misspelt verb comes with the flags of the verb it was meant to be, so
	// flags are not looked at before the verb is known.
	root.FParseErrWhitelist.UnknownFlags = true
	root.RunE = func(cmd *cobra.Command, verbs []string) error {
		if len(verbs) == 0 && len(args) > 0 {
			return usagef("%s comes before any command; see coordinator --help", suggest.Clip(args[0]))
		}
		return unknownVerb(cmd, verbs)
	}
	root.AddCommand(
		a.bench("bench", "Run a collective over a size sweep on real processes", args, a.Hosts.Bench),
		a.bench("predict", "Compute the same times in one process, without payload", args, a.Hosts.Predict),
		a.run(),
		a.up(args),
		a.down(),
		a.status(),
		a.serve(),
		a.fault(),
		a.explain(),
		a.doctor(),
		a.validate(),
		a.plan(),
		a.topo(),
		a.systems(),
		a.fabrics(),
		versionCommand("coordinator", a.Version),
		completion(),
	)
	for _, v := range laterVerbs {
		root.AddCommand(v.command(""))
	}
	return root
}

// newRoot returns a root command whose errors are single lines and exit with
// ExitUsage.
func newRoot(name, short, long string) *cobra.Command {
	root := &cobra.Command{
		Use: name, Short: short, Long: long,
		SilenceErrors: true, SilenceUsage: true,
		Args: cobra.ArbitraryArgs,
		RunE: unknownVerb,
	}
	root.SetFlagErrorFunc(flagError)
	root.CompletionOptions.DisableDefaultCmd = true // its errors carry no exit code
	return root
}

// command returns a command that says "not yet", and so do its own commands.
func (v laterVerb) command(parent string) *cobra.Command {
	path := strings.TrimSpace(parent + " " + v.name)
	cmd := &cobra.Command{
		Use: v.name, Short: v.about + " (not yet)",
		Args: cobra.ArbitraryArgs,
		// Its flags are not known yet either, and no reason to complain.
		FParseErrWhitelist: cobra.FParseErrWhitelist{UnknownFlags: true},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(v.sub) > 0 && len(args) > 0 {
				return unknownVerb(cmd, args)
			}
			return &ExitError{ExitUsage, notYet(path)}
		},
	}
	for _, s := range v.sub {
		cmd.AddCommand(laterVerb{name: s, about: "Part of " + path}.command(path))
	}
	return cmd
}

// unknownVerb answers a word that is no command, and nothing at all.
func unknownVerb(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	var known []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			known = append(known, c.Name())
		}
	}
	return usagef("command %s", suggest.Unknown(args[0], known))
}

// flagError answers what the flag library could not make sense of.
func flagError(cmd *cobra.Command, err error) error {
	var missing *pflag.ValueRequiredError
	var unknown *pflag.NotExistError
	switch {
	case errors.As(err, &missing):
		f := missing.GetFlag()
		return usagef("--%s needs a value: %s", f.Name, f.Usage)
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "":
		return usagef("flag -%s is unknown; see %s --help", unknown.GetSpecifiedName(), cmd.CommandPath())
	case errors.As(err, &unknown):
		var known []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
		name, advice := unknown.GetSpecifiedName(), "see "+cmd.CommandPath()+" --help"
		if k, ok := suggest.Closest(name, known); ok {
			advice = fmt.Sprintf("did you mean --%s?", k)
		}
		return usagef("flag --%s is unknown; %s", suggest.Clip(name), advice)
	default:
		return &ExitError{ExitUsage, err}
	}
}
