package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/collective/msccl"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/catalog"
	"github.com/railyard/railyard/internal/report"
)

// benchLine is a command line of bench or predict on its way to a config.
type benchLine struct {
	verb     string
	config   BenchConfig
	hardware hardware
	ranks    ranks
	tables   benchTables
	sources  map[string]source
	notes    []string // said once, on stderr
	// profile is the system whose environment sets variables, nil for none; said
	// returns those of the process itself.
	profile *catalog.System
	said    func(string) string
}

// benchTables are the flags in the groups that are checked together.
type benchTables struct{ nccl, ranks, hardware, own, common, ignored []setting }

func (t benchTables) all() []setting {
	return slices.Concat(t.nccl, t.ranks, t.hardware, t.own, t.common, t.ignored)
}

// bench returns the command bench, or predict when that is the verb.
func (a *App) bench(verb, about string, args []string, host func(context.Context, BenchConfig, report.Sink) error) *cobra.Command {
	l := &benchLine{verb: verb, sources: map[string]source{}}
	l.config.Args = append([]string{"coordinator"}, args...)
	l.tables = benchTables{l.config.nccl(), l.ranks.settings(), l.hardware.settings(), l.config.own(), l.config.Common.settings(), l.config.ignored(&l.notes)}
	cmd := &cobra.Command{
		Use: verb + " OP", Short: about,
		Long:      about + ".\n\nOP is " + strings.Join(names(collective.Ops()), ", ") + ".\nFlags with one letter are those of nccl-tests.",
		Example:   fmt.Sprintf("  coordinator %s all_reduce -b 16 -e 1G -f 4 --system dgx-h100 --nodes 4 --fabric rail-ndr", verb),
		ValidArgs: names(collective.Ops()),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := l.parse(a, cmd.Flags(), args); err != nil {
				return &ExitError{ExitUsage, err}
			}
			return a.runBench(cmd.Context(), l, host)
		},
	}
	register(cmd, l.tables.all())
	return cmd
}

// parse fills in the config, or says everything that is wrong. What depends on
// something that is wrong already is not looked at.
func (l *benchLine) parse(a *App, flags *pflag.FlagSet, args []string) error {
	c := &l.config
	opErr := l.parseOp(args, flags.Changed("plan"))
	a, asked := a.listening()
	a, profileErr := l.profiled(a, flags)
	read := func(table []setting) error { return apply(flags, table, a.Getenv, l.sources) }
	ncclErr, hardwareErr, ownErr := read(l.tables.nccl), read(l.tables.hardware), read(l.tables.own)
	errs := []error{profileErr, opErr, ncclErr, read(l.tables.ranks), hardwareErr, ownErr, read(l.tables.common), read(l.tables.ignored), l.ranks.place(a, l), l.environment(a)}
	c.finish(a)
	l.imply()
	if ncclErr == nil {
		errs = append(errs, c.checkSizes())
	}
	if opErr == nil && ownErr == nil && ncclErr == nil {
		errs = append(errs, l.checkHow(a))
	}
	if ownErr == nil {
		errs = append(errs, c.checkClock(l.given))
	}
	if l.verb == "predict" {
		errs = append(errs, c.checkPredict(l.given))
	}
	if ownErr != nil || hardwareErr != nil {
		return errors.Join(errs...)
	}
	clusterErr := l.cluster(a)
	errs = append(errs, clusterErr)
	if clusterErr == nil && c.Connect == "" {
		l.onePerServer()
	}
	if clusterErr == nil && opErr == nil && ncclErr == nil {
		errs = append(errs, c.checkRanks())
	}
	if clusterErr == nil && l.verb != "predict" {
		errs = append(errs, c.checkProcs())
	}
	for _, s := range l.tables.all() {
		asked[s.env] = true // also where the flag was given, which is stronger
	}
	l.notes = append(l.notes, a.unread(asked)...)
	return errors.Join(errs...)
}

// imply sets what follows from flags that were given for those that were not.
func (l *benchLine) imply() {
	if l.config.GPUs > 1 && !l.given("launch") {
		l.config.issue(perNode)
		l.sources["launch"] = source{l.config.Launch, "-g"}
	}
	if l.verb == "predict" && !l.given("payload") {
		l.config.Payload = "none"
		l.sources["payload"] = source{l.config.Payload, "predict"}
	}
}

// cluster reads the declared hardware, unless it is up already.
func (l *benchLine) cluster(a *App) (err error) {
	c := &l.config
	c.Seed = uint64(l.hardware.seed)
	if c.Connect != "" {
		if c.PXN != emu.PXNDefault || c.CrossNIC != emu.CrossDefault {
			l.notes = append(l.notes, "NCCL_PXN_DISABLE and NCCL_CROSS_NIC have no effect: the cluster at "+c.Connect+" is up already")
		}
		return c.checkConnect(l.given)
	}
	c.Cluster, err = l.hardware.cluster(a, l.given)
	if err == nil && (c.PXN != emu.PXNDefault || c.CrossNIC != emu.CrossDefault) {
		f := &c.Cluster.Fabric
		f.PXN, f.CrossNIC = cmp.Or(f.PXN, c.PXN), cmp.Or(f.CrossNIC, c.CrossNIC)
		err = asFlags(c.Cluster.Validate(known()))
	}
	for i := range c.Cluster.Groups {
		c.Cluster.Groups[i].NoGDR = c.Cluster.Groups[i].NoGDR || c.NoGDR
	}
	if err == nil && len(c.Cluster.Machines) > 0 {
		l.notes = append(l.notes, imported(&c.Cluster)...)
	}
	l.notes = append(l.notes, l.hardware.notes...)
	c.Seed = c.Cluster.Seed
	return err
}

// checkHow looks at the algorithm, or at the plan that stands in for one.
func (l *benchLine) checkHow(a *App) error {
	if l.config.PlanFile != "" {
		return l.usePlan(a)
	}
	l.sendsAndReceives()
	l.config.AlgoBy, l.config.ProtoBy = l.variableOf("algo"), l.variableOf("proto")
	return errors.Join(l.mscclSays(), l.config.checkAlgo())
}

// variableOf returns the variable that a setting's value is from; empty: none.
func (l *benchLine) variableOf(name string) string {
	if from := l.sources[name].from; from != "default" && from != "flag" {
		return from
	}
	return ""
}

// parseOp reads the operation. A plan may do one that no algorithm of ours
// does, and goes by its own dialect's name as well.
func (l *benchLine) parseOp(args []string, planned bool) (err error) {
	switch len(args) {
	case 1:
		if op, ok := msccl.Op(strings.TrimSuffix(args[0], "_perf")); planned && ok {
			l.config.Op = op
			return nil
		}
		l.config.Op, err = parseOp(args[0])
		return err
	case 0:
		return fmt.Errorf("%s needs an operation: coordinator %s all_reduce", l.verb, l.verb)
	default:
		return fmt.Errorf("%s takes one operation, not %q as well", l.verb, args[1])
	}
}

// given reports whether a flag was on the command line.
func (l *benchLine) given(name string) bool { return l.sources[name].from == "flag" }

// environment reads variables that have no flag, and keeps all that had a say,
// for the report.
func (l *benchLine) environment(a *App) (err error) {
	const bound = "NCCL_TESTS_MIN_BW"
	for _, s := range l.tables.all() {
		if src := l.sources[s.name]; s.env != "" && src.from == s.env {
			l.config.Env = append(l.config.Env, s.env+"="+src.value)
		}
	}
	vars := l.variables(a)
	v := a.Getenv(bound)
	if v == "" {
		return vars
	}
	l.config.Env = append(l.config.Env, bound+"="+v)
	if l.config.MinBusBandwidth, err = gigabytes(v); err != nil {
		return errors.Join(vars, fmt.Errorf("%s: %w", bound, err))
	}
	return vars
}

func (a *App) runBench(ctx context.Context, l *benchLine, host func(context.Context, BenchConfig, report.Sink) error) error {
	c := &l.config
	if c.PrintEffective {
		_, err := a.Stdout.Write(l.effective())
		return err
	}
	if host == nil {
		return &ExitError{ExitUsage, notYet(l.verb)}
	}
	if !c.Quiet {
		for _, n := range l.notes {
			a.complain("coordinator", "note: "+n)
		}
	}
	if err := l.hardware.dumpTopology(a, &c.Cluster, l.given); err != nil {
		return &ExitError{ExitUsage, err}
	}
	if c.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.Timeout)
		defer cancel()
	}
	log, err := c.Debug.open(a.Stderr)
	if err != nil {
		return &ExitError{ExitUsage, err}
	}
	if log != nil {
		defer log.Close()
	}
	s, err := a.newScreen(c)
	if err != nil {
		return &ExitError{ExitUsage, err}
	}
	return s.finish(host(ctx, *c, s))
}
