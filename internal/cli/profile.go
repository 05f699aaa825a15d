package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/catalog"
)

// noProfile leaves out what a system's environment sets.
const noProfile = "none"

// profileNames are the systems whose environment sets something for NCCL.
func profileNames() []string {
	all := []string{noProfile}
	for _, s := range catalog.Systems() {
		if len(s.Env) > 0 {
			all = append(all, s.Name)
		}
	}
	return all
}

// profiled returns the App as the command line sees it: what the system's
// environment sets for NCCL, or that of the one --profile names, stands below the
// variables of the process.
func (l *benchLine) profiled(a *App, flags *pflag.FlagSet) (*App, error) {
	l.said = a.Getenv
	own := ownSystem(a, flags)
	name := strings.ToLower(flags.Lookup("profile").Value.String())
	if slices.Contains(catalog.Clouds(), name) {
		var err error
		if name, err = instanceOf(name, own); err != nil {
			return a, err
		}
	}
	s, err := catalog.LookupSystem(cmp.Or(name, own))
	if err != nil || len(s.Env) == 0 {
		return a, nil // whoever reads the flag says what is wrong with it
	}
	l.profile = &s
	if own, err := catalog.LookupSystem(own); err == nil {
		l.notes = append(l.notes, stranger(&s, &own)...)
	}
	b := *a
	b.Getenv = func(name string) string {
		if v := a.Getenv(name); v != "" || name == "NCCL_ALGO" && pointToPoint(l.config.Op) {
			return v
		}
		return s.Variable(name)
	}
	return &b, nil
}

// stranger says what of an instance whose variables are taken is not the cluster's.
func stranger(profile, own *catalog.System) []string {
	var all []string
	say := func(format string, args ...any) {
		all = append(all, "--profile "+profile.Name+": "+fmt.Sprintf(format, args...))
	}
	if a, b := profile.Product(), own.Product(); a != b {
		say("variables of an instance with %s GPUs, and %s has %s", a, own.Name, b)
	}
	if a, b := profile.Cloud(), own.Cloud(); b != "" && a != b {
		say("variables of %s's transport (%s), and %s is an instance of %s with %s", a, profile.Link, own.Name, b, own.Link)
	}
	return all
}

// pointToPoint reports whether NCCL makes an operation of sends and receives, in
// which NCCL_ALGO has no say.
func pointToPoint(op collective.Op) bool {
	switch op {
	case collective.AllToAll, collective.AllToAllV, collective.SendRecv, collective.Gather, collective.Scatter:
		return true
	}
	return false
}

// ownSystem returns the system of the first group of servers, empty when it is not
// known. What is wrong with a file is said when it is read.
func ownSystem(a *App, flags *pflag.FlagSet) string {
	given := func(name string) string { return flags.Lookup(name).Value.String() }
	switch {
	case given("connect") != "":
		return ""
	case given("cluster") == "":
		return given("system")
	}
	data, err := a.ReadFile(given("cluster"))
	if err != nil {
		return ""
	}
	c, err := emu.ParseCluster(given("cluster"), data)
	if err != nil || len(c.Groups) == 0 {
		return ""
	}
	return c.Groups[0].System
}

// instanceOf returns the instance of a cloud that is most like a system: with GPUs of
// its maker and generation, of its model if there is one, and as many NICs. An
// instance is most like itself.
func instanceOf(cloud, system string) (string, error) {
	own, err := catalog.LookupSystem(system)
	best, most := "", -1
	for _, s := range catalog.Systems() {
		if err != nil || s.Compute != own.Compute || s.Arch != own.Arch || s.Cloud() != cloud {
			continue
		}
		like := 0
		if s.Name == own.Name {
			like += 4
		}
		if s.Product() == own.Product() {
			like += 2
		}
		if s.NICs == own.NICs {
			like++
		}
		if like > most {
			best, most = s.Name, like
		}
	}
	if best == "" {
		return "", fmt.Errorf("--profile %s: no instance with the GPUs of this cluster (%s) is known; name one of %s", cloud, cmp.Or(system, "a machine of its own"), strings.Join(profileNames(), ", "))
	}
	return best, nil
}

// fromProfile returns what --print-effective says of the profile's variables: which
// there are, and which of them others overrule or nothing here looks at.
func (l *benchLine) fromProfile() string {
	if l.profile == nil {
		return ""
	}
	var b strings.Builder
	for _, v := range l.profile.Env {
		name, value, _ := strings.Cut(v, "=")
		from := "profile " + l.profile.Name
		switch flag, known := flagOfVariable(name); {
		case l.said(name) != "":
			value, from = l.said(name), "environment"
		case name == "NCCL_ALGO" && pointToPoint(l.config.Op):
			from += fmt.Sprintf(", has no effect on %v", l.config.Op)
		case flag != "" && l.given(flag):
			from += ", --" + flag + " is stronger"
		case !known:
			from += ", has no effect"
		}
		fmt.Fprintf(&b, "#   %-28s %-10s %s\n", name, value, from)
	}
	return b.String()
}

// flagOfVariable returns the flag that is stronger than a variable, empty for none,
// and whether anything here looks at the variable.
func flagOfVariable(name string) (flag string, known bool) {
	switch name {
	case "NCCL_ALGO":
		return "algo", true
	case "NCCL_PROTO":
		return "proto", true
	}
	for _, v := range variables {
		if v.name == name {
			return v.flag, true
		}
	}
	return "", false
}
