package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fault"
	"github.com/railyard/railyard/shaping"
)

// FaultVerb is what is done to the faults in force.
type FaultVerb uint8

// What may be done.
const (
	FaultList FaultVerb = iota
	FaultAdd
	FaultRemove // those of Names; all, where there is none
)

// FaultConfig is everything fault was told.
type FaultConfig struct {
	Reach
	Verb  FaultVerb
	Fault emu.Fault // to add
	Names []string
}

// FaultStatus is a fault in force.
type FaultStatus struct {
	Name       string           `json:"name"`
	Type       string           `json:"type"`
	Target     string           `json:"target"`
	Parameters []FaultParameter `json:"parameters"`
	Live       *FaultLive       `json:"live,omitempty"` // when it was added or taken back while a bench runs
}

// FaultLive is what becomes of a bench that runs when faults change.
type FaultLive struct {
	Running string `json:"running"`
	At      *int64 `json:"at_ps"` // the instant of its clock from which on it is so; null: not in this bench, or not yet
	But     string `json:"but,omitempty"`
}

// FaultParameter is a parameter in the words of a scenario.
type FaultParameter struct {
	Word  string `json:"word"`
	Value string `json:"value"`
}

// NewFaultStatus returns what is shown of a fault.
func NewFaultStatus(f *emu.Fault) FaultStatus {
	s := FaultStatus{Name: f.Name, Type: f.Type, Target: f.Target, Parameters: []FaultParameter{}}
	for _, p := range fault.Given(f) {
		s.Parameters = append(s.Parameters, FaultParameter{p[0], p[1]})
	}
	return s
}

func (a *App) fault() *cobra.Command {
	cmd := &cobra.Command{Use: "fault", Short: "Break and mend a running cluster", Args: cobra.ArbitraryArgs, RunE: unknownVerb,
		Long: "Faults strike the bench that runs, if one does, and every bench that begins after\n" +
			"they were added. Each bench is an emulated session of its own, whose time begins\n" +
			"at 0: with at=1ms a fault strikes a millisecond into it. In the bench that runs it\n" +
			"strikes a millisecond after the instant to which that has come, which is told; the\n" +
			"bench is marked as perturbed, and says what to declare to get the same again.\n" +
			"A partition that holds from 0 on keeps the gossip of the processes apart as well,\n" +
			"until it is taken back: status says who is cut off.",
		FParseErrWhitelist: cobra.FParseErrWhitelist{UnknownFlags: true}}
	cmd.AddCommand(a.faultAdd(), a.faultList(), a.faultRemove(), a.faultReset())
	return cmd
}

// whenFlags are the parameters of when that are flags as well.
var whenFlags = []struct{ flag, word, usage string }{
	{"at", "at", "when it strikes, from the start of each bench, and from now in the one that runs: 200us"},
	{"from", "from", "the same"},
	{"to", "to", "when it is over"},
	{"until", "until", "the same"},
	{"every", "every", "it strikes again after so long"},
	{"times", "times", "how often it strikes"},
	{"after-ops", "afterOps", "at which operation a call goes wrong; each half of a row is one"},
	{"chance", "chance", "probability that it strikes, each time: 5%"},
}

func (a *App) faultAdd() *cobra.Command {
	c := FaultConfig{Verb: FaultAdd}
	var words [][2]string
	settings := []setting{{name: "name", arg: "NAME", usage: "what reports call it (default its type and a number)", set: name(&c.Fault.Name)}}
	for _, f := range whenFlags {
		settings = append(settings, setting{name: f.flag, arg: "VALUE", usage: f.usage, set: func(v string) error {
			words = append(words, [2]string{f.word, v})
			return nil
		}})
	}
	settings = append(settings, c.Reach.settings()...)
	cmd := &cobra.Command{
		Use: "add TYPE TARGET [PARAMETER=VALUE]...", Short: "Put a fault in force, in the bench that runs too",
		Example: "  coordinator fault add down node1/nic0 --at 200us --to 1ms\n  coordinator fault add rate node0/nic3 share=25%\n  coordinator fault add kill node2 --at 1ms",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.read(a, cmd, settings); err != nil {
				return err
			}
			if len(args) < 2 {
				return usagef("fault add needs a type and a target: coordinator fault add down node1/nic0 --at 200us; fault list --kinds shows the types")
			}
			if err := c.declare(args, words); err != nil {
				return &ExitError{ExitUsage, err}
			}
			return a.faults(cmd, &c)
		},
	}
	register(cmd, settings)
	return cmd
}

// declare makes the fault of a command line.
func (c *FaultConfig) declare(args []string, words [][2]string) error {
	c.Fault.Type, c.Fault.Target = args[0], args[1]
	c.Fault.Element, c.Fault.Bit = -1, -1
	if _, err := fault.Lookup(c.Fault.Type); err != nil {
		return err
	}
	var errs []error
	for _, arg := range args[2:] {
		word, v, ok := strings.Cut(arg, "=")
		if !ok {
			errs = append(errs, fmt.Errorf("%q: parameters are written WORD=VALUE", arg))
			continue
		}
		words = append(words, [2]string{word, v})
	}
	for _, w := range words {
		if err := fault.Set(&c.Fault, w[0], w[1]); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (a *App) faultList() *cobra.Command {
	c := FaultConfig{Verb: FaultList}
	kinds := false
	settings := append([]setting{{name: "kinds", usage: "list the types that there are instead, with what each strikes and its parameters", set: toggle(&kinds)}}, c.Reach.settings()...)
	cmd := &cobra.Command{
		Use: "list", Short: "List the faults in force, or the types that there are", Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := c.read(a, cmd, settings); err != nil {
				return err
			}
			if kinds {
				return writeKinds(a.Stdout, c.Format)
			}
			return a.faults(cmd, &c)
		},
	}
	register(cmd, settings)
	return cmd
}

func (a *App) faultRemove() *cobra.Command {
	c := FaultConfig{Verb: FaultRemove}
	settings := c.Reach.settings()
	cmd := &cobra.Command{
		Use: "remove NAME...", Short: "Take faults back",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.read(a, cmd, settings); err != nil {
				return err
			}
			if c.Names = args; len(args) == 0 {
				return usagef("fault remove needs the name of a fault, as fault list shows it; fault reset takes all back")
			}
			return a.faults(cmd, &c)
		},
	}
	register(cmd, settings)
	return cmd
}

func (a *App) faultReset() *cobra.Command {
	c := FaultConfig{Verb: FaultRemove}
	settings := c.Reach.settings()
	cmd := &cobra.Command{
		Use: "reset", Short: "Take all faults back", Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := c.read(a, cmd, settings); err != nil {
				return err
			}
			return a.faults(cmd, &c)
		},
	}
	register(cmd, settings)
	return cmd
}

// faults carries a verb out and prints the faults that it was about.
func (a *App) faults(cmd *cobra.Command, c *FaultConfig) error {
	if a.Hosts.Faults == nil {
		return &ExitError{ExitUsage, notYet("fault " + cmd.Name())}
	}
	all, err := a.Hosts.Faults(cmd.Context(), *c)
	if err != nil {
		return err
	}
	if c.Format == "json" {
		return json.NewEncoder(a.Stdout).Encode(append([]FaultStatus{}, all...))
	}
	if len(all) == 0 {
		_, err := fmt.Fprintln(a.Stdout, "no fault is in force")
		return err
	}
	if c.Verb == FaultRemove {
		for _, f := range all {
			fmt.Fprintf(a.Stdout, "removed %s\n", f.Name)
		}
	} else if err := writeFaults(a.Stdout, all); err != nil {
		return err
	}
	if says := all[0].Live.says(c.Verb); says != "" {
		_, err = fmt.Fprintln(a.Stdout, says)
	}
	return err
}

// says says what a change means to the bench that runs; nothing where there is none.
func (l *FaultLive) says(verb FaultVerb) string {
	switch {
	case verb == FaultList || l == nil && verb == FaultRemove:
		return ""
	case l == nil:
		return "strikes from the next bench on; none runs"
	case l.At == nil && l.But == "":
		return ""
	case l.At == nil:
		return fmt.Sprintf("not in the bench that runs (%s), or not yet: %s", l.Running, l.But)
	}
	what := "strikes the bench that runs (%s) from %v of its clock on, and every one after it"
	if verb == FaultRemove {
		what = "the bench that runs (%s) is rid of it from %v of its clock on"
	}
	says := fmt.Sprintf(what, l.Running, shaping.Time(*l.At))
	if l.But != "" {
		says += "; " + l.But
	}
	return says
}

func writeFaults(w io.Writer, all []FaultStatus) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "FAULT\tTYPE\tTARGET\tPARAMETERS")
	for _, f := range all {
		var words []string
		for _, p := range f.Parameters {
			words = append(words, p.Word+"="+p.Value)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", f.Name, f.Type, f.Target, strings.Join(words, " "))
	}
	return t.Flush()
}

// kindJSON is a type of fault.
type kindJSON struct {
	Type       string   `json:"type"`
	Also       []string `json:"also"`
	Family     string   `json:"family"`
	Strikes    string   `json:"strikes"`
	Needs      []string `json:"needs"`
	Parameters []string `json:"parameters"`
	Means      string   `json:"means"`
	Default    string   `json:"default"`
	Hardware   string   `json:"hardware"`
	Source     string   `json:"source"`
}

func writeKinds(w io.Writer, format string) error {
	var all []kindJSON
	for _, k := range fault.Kinds() {
		j := kindJSON{Type: k.Word, Also: append([]string{}, k.Also...), Family: k.Family, Strikes: k.Targets(), Means: k.Means, Default: k.Default,
			Hardware: k.Hardware, Source: k.Source, Needs: []string{}, Parameters: []string{}}
		ps, needed := k.Params()
		for i, p := range ps {
			if j.Parameters = append(j.Parameters, p.Word); needed[i] {
				j.Needs = append(j.Needs, p.Word)
			}
		}
		all = append(all, j)
	}
	if format == "json" {
		return json.NewEncoder(w).Encode(all)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "TYPE\tSTRIKES\tNEEDS\tPARAMETERS\tMEANS")
	for _, j := range all {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", j.Type, j.Strikes, strings.Join(j.Needs, ","), strings.Join(j.Parameters, ","), j.Means)
	}
	return t.Flush()
}
