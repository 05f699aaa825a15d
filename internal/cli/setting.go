package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/railyard/railyard/emu/suggest"
	"github.com/railyard/railyard/emu/sweep"
	"github.com/railyard/railyard/shaping"
)

// setting is one flag. Its value is text until apply hands it to set: the flag
// library would stop at the first value it can't read.
type setting struct {
	name   string
	short  string
	arg    string   // what help calls the value; empty for a switch
	def    string   // default, in the same words a user would type
	env    string   // environment variable that replaces the default
	values []string // what completion offers
	usage  string
	idle   bool // has no effect, whatever its value
	set    func(value string) error
}

// label is how errors call the flag.
func (s *setting) label() string {
	if s.short != "" {
		return "-" + s.short
	}
	return "--" + s.name
}

// value is the pflag.Value of a setting.
type value struct {
	text string
	arg  string
}

func (v *value) String() string { return v.text }
func (v *value) Type() string   { return v.arg }
func (v *value) Set(s string) error {
	v.text = s
	return nil
}

// register adds the flags to a command, in the order of the table.
func register(cmd *cobra.Command, settings []setting) {
	cmd.Flags().SortFlags = false
	for _, s := range settings {
		v := &value{text: s.def, arg: s.arg}
		f := cmd.Flags().VarPF(v, s.name, s.short, s.usage)
		if s.arg == "" {
			v.arg, f.NoOptDefVal = "bool", "true" // what the flag library calls a switch
		}
		if s.values != nil {
			_ = cmd.RegisterFlagCompletionFunc(s.name, cobra.FixedCompletions(s.values, cobra.ShellCompDirectiveNoFileComp))
		}
	}
}

// source says where the value of a setting came from.
type source struct {
	value string
	from  string // "default", "flag", or the name of an environment variable
}

// apply reads every setting: the flag if it was given, else the environment
// variable, else the default. It records where each came from, and returns
// everything that was wrong.
func apply(flags *pflag.FlagSet, settings []setting, getenv func(string) string, sources map[string]source) error {
	var errs []error
	for _, s := range settings {
		src, label := source{s.def, "default"}, s.label()
		if f := flags.Lookup(s.name); f != nil && f.Changed {
			src = source{f.Value.String(), "flag"}
		} else if v := environment(s.env, getenv); v != "" {
			src, label = source{v, s.env}, s.env
		}
		sources[s.name] = src
		if src.value == "" && src.from == "default" {
			continue
		}
		if err := s.set(src.value); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", label, err))
		}
	}
	return errors.Join(errs...)
}

func environment(name string, getenv func(string) string) string {
	if name == "" {
		return ""
	}
	return getenv(name)
}

// The functions below return what reads one kind of value into a place.

func text(to *string) func(string) error {
	return func(s string) error {
		*to = s
		return nil
	}
}

// choice reads one of the allowed words; case does not count. Words of later
// are known, but not yet.
func choice(to *string, allowed, later []string) func(string) error {
	return func(s string) error {
		word := strings.ToLower(s)
		switch {
		case slices.Contains(allowed, word):
			*to = word
			return nil
		case slices.Contains(later, word):
			return notYet(word)
		default:
			return errors.New(suggest.Unknown(s, allowed))
		}
	}
}

func whole[T int | int64](to *T, least, most T) func(string) error {
	return func(s string) error {
		v, err := strconv.ParseInt(s, 10, 64)
		if err != nil || v < int64(least) || v > int64(most) {
			return fmt.Errorf("%q must be a whole number from %d to %d", suggest.Clip(s), least, most)
		}
		*to = T(v)
		return nil
	}
}

func size(to *int64) func(string) error {
	return func(s string) error {
		b, err := shaping.ParseBytes(s)
		if err == nil && b > sweep.MaxBytes {
			err = fmt.Errorf("size %q is above %v, the most there may be", suggest.Clip(s), shaping.Bytes(sweep.MaxBytes))
		}
		*to = int64(b)
		return err
	}
}

// toggle reads a switch: --quiet, --quiet=false.
func toggle(to *bool) func(string) error {
	return func(s string) error {
		v, err := strconv.ParseBool(s)
		if err != nil {
			return fmt.Errorf("%q must be true or false", suggest.Clip(s))
		}
		*to = v
		return nil
	}
}
