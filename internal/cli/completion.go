package cli

import (
	"errors"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/railyard/railyard/emu/suggest"
)

// shell is a shell that completes our command lines.
type shell struct {
	name  string
	write func(root *cobra.Command, w io.Writer) error
}

var shells = []shell{
	{"bash", func(root *cobra.Command, w io.Writer) error { return root.GenBashCompletionV2(w, true) }},
	{"zsh", (*cobra.Command).GenZshCompletion},
	{"fish", func(root *cobra.Command, w io.Writer) error { return root.GenFishCompletion(w, true) }},
	{"powershell", (*cobra.Command).GenPowerShellCompletionWithDesc},
}

func completion() *cobra.Command {
	var known []string
	for _, s := range shells {
		known = append(known, s.name)
	}
	return &cobra.Command{
		Use: "completion SHELL", Short: "Print a script that completes commands, flags and names",
		Long:      "Print a script that completes commands, flags and names in bash, zsh, fish or\npowershell.",
		Example:   "  source <(coordinator completion bash)",
		ValidArgs: known,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return &ExitError{ExitUsage, errors.New("completion needs a shell: coordinator completion bash")}
			}
			i := slices.Index(known, args[0])
			if i < 0 {
				return usagef("shell %s", suggest.Unknown(args[0], known))
			}
			return shells[i].write(cmd.Root(), cmd.OutOrStdout())
		},
	}
}
