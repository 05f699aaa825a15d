package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/collective/msccl"
	"github.com/railyard/railyard/emu/suggest"
)

// plan returns the command whose commands list, show, prove, read and write
// plans. None of them runs anything.
func (a *App) plan() *cobra.Command {
	cmd := &cobra.Command{Use: "plan", Short: "Algorithms and plans, MSCCL XML included", RunE: unknownVerb, Args: cobra.ArbitraryArgs}
	cmd.AddCommand(a.planList(), a.planShow(), a.planCheck(), a.planImport(), a.planExport())
	return cmd
}

// planLine is a command line of one of them.
type planLine struct {
	Common
	// What a name of the registry is built for.
	ranks, nodes, perNode, channels, root int
	op, proto                             string
	// rank is the one to show, -1 for all.
	rank   int
	out    string
	strict bool
}

// defaultPerNode is how many GPUs a server has unless told: those of a DGX.
const defaultPerNode = 8

// building are the flags that say what an algorithm is built for.
func (l *planLine) building() []setting {
	return []setting{
		{name: "ranks", arg: "N", usage: "number of ranks, on servers of --gpus-per-node (default 8)", set: whole(&l.ranks, 1, maxRanks)},
		{name: "nodes", arg: "N", usage: "number of servers", set: whole(&l.nodes, 1, maxRanks)},
		{name: "gpus-per-node", arg: "N", usage: "GPUs a server (default 8, or --ranks if that is fewer)", set: whole(&l.perNode, 1, 1<<10)},
		{name: "op", arg: "OP", usage: "operation (default the first that the algorithm does)", set: text(&l.op)},
		{name: "channels", arg: "N", def: "1", usage: "lanes of the algorithm", set: whole(&l.channels, 1, 64)},
		{name: "proto", arg: "NAME", def: "simple", usage: "protocol: simple, ll or ll128", set: text(&l.proto)},
		{name: "root", arg: "RANK", def: "-1", usage: "root of a rooted operation (default 0, or the one a file shows)", set: whole(&l.root, msccl.AnyRoot, maxRanks-1)},
	}
}

// command returns one of the commands; run gets what stands behind the flags.
func (l *planLine) command(a *App, use, about string, own []setting, run func(args []string) error) *cobra.Command {
	settings := slices.Concat(own, l.Common.settings())
	cmd := &cobra.Command{Use: use, Short: about, RunE: func(cmd *cobra.Command, args []string) error {
		err := apply(cmd.Flags(), settings, a.Getenv, map[string]source{})
		l.finish(a)
		if err == nil && l.Format == "csv" {
			err = errors.New("--format csv: plan prints table or json")
		}
		if err != nil {
			return &ExitError{ExitUsage, err}
		}
		return run(args)
	}}
	register(cmd, settings)
	return cmd
}

// one returns the only argument.
func one(verb, example string, args []string) (string, error) {
	switch len(args) {
	case 0:
		return "", usagef("%s needs one: coordinator %s", verb, example)
	case 1:
		return args[0], nil
	}
	return "", usagef("%s takes one, not %q as well", verb, suggest.Clip(args[1]))
}

// isFile reports whether an argument means a file rather than an algorithm.
func isFile(arg string) bool {
	return strings.ContainsAny(arg, "/.\\") || filepath.Ext(arg) != ""
}

// load returns the plan that an argument names, and the file if it is one.
func (l *planLine) load(a *App, arg string) (*collective.Plan, *msccl.File, error) {
	if !isFile(arg) {
		p, err := l.build(arg)
		return p, nil, err
	}
	f, err := a.readPlan(arg)
	if err != nil {
		return nil, nil, err
	}
	p, err := f.Plan(l.root)
	if err != nil {
		return nil, nil, usagef("%s: %v", arg, err)
	}
	return p, f, nil
}

// readPlan reads an MSCCL file; errors name it and the line.
func (a *App) readPlan(path string) (*msccl.File, error) {
	data, err := a.ReadPlan(path)
	if err != nil {
		return nil, &ExitError{ExitUsage, err}
	}
	f, err := msccl.Parse(data)
	if err != nil {
		return nil, &ExitError{ExitUsage, fmt.Errorf("%s: %w", path, err)}
	}
	return f, nil
}

// build returns the plan of an algorithm by name.
func (l *planLine) build(name string) (*collective.Plan, error) {
	known := algos()[1:] // auto is no algorithm
	if !slices.Contains(known, name) {
		return nil, usagef("algorithm %s; a file is given with its path, such as ./%s.xml", suggest.Unknown(name, known), suggest.Clip(name))
	}
	alg, err := collective.Lookup(name)
	if err != nil {
		return nil, &ExitError{ExitUsage, err}
	}
	shape, err := l.shape()
	if err != nil {
		return nil, err
	}
	op := alg.Ops[0]
	if l.op != "" {
		var ok bool
		if op, ok = msccl.Op(l.op); !ok {
			return nil, usagef("--op %s", suggest.Unknown(l.op, names(alg.Ops)))
		}
	}
	proto := slices.IndexFunc([]collective.Protocol{collective.Simple, collective.LL, collective.LL128},
		func(p collective.Protocol) bool { return p.String() == strings.ToLower(l.proto) })
	if proto < 0 {
		return nil, usagef("--proto %s", suggest.Unknown(l.proto, []string{"simple", "ll", "ll128"}))
	}
	o := collective.Options{Protocol: collective.Protocol(proto), Channels: l.channels, Root: max(l.root, 0)}
	if err := alg.Check(collective.Use{Op: op, DType: collective.Float32, RedOp: collective.Sum, Protocol: o.Protocol}, shape); err != nil {
		return nil, &ExitError{ExitUsage, err}
	}
	p, err := collective.Build(name, op, shape, o)
	if err != nil {
		return nil, &ExitError{ExitUsage, err}
	}
	return p, nil
}

// shape returns the servers that an algorithm is built for, with switches that
// reduce in each of them and between them.
func (l *planLine) shape() (s collective.Shape, err error) {
	ranks, perNode := l.ranks, l.perNode
	switch {
	case l.nodes > 0 && perNode == 0:
		perNode = defaultPerNode
	case ranks == 0 && l.nodes == 0 && perNode == 0:
		ranks = defaultPerNode
	}
	if perNode == 0 {
		perNode = min(ranks, defaultPerNode)
	}
	nodes := l.nodes
	if nodes == 0 {
		nodes = max(ranks/perNode, 1)
	}
	if ranks > 0 && nodes*perNode != ranks {
		return s, usagef("--ranks %d is not %d servers of %d GPUs; give --nodes and --gpus-per-node that make it", ranks, nodes, perNode)
	}
	if nodes*perNode > maxRanks {
		return s, usagef("--nodes %d of %d GPUs are %d ranks; at most %d are allowed", nodes, perNode, nodes*perNode, maxRanks)
	}
	s = collective.Uniform(nodes, perNode)
	s.NVLS, s.SHARP = true, true
	return s, nil
}

// algorithmJSON is a row of plan list.
type algorithmJSON struct {
	Name      string   `json:"name"`
	Ops       []string `json:"ops"`
	Protocols []string `json:"protocols"`
	When      string   `json:"when"`
	Steps     string   `json:"steps,omitempty"`
	Wire      string   `json:"wire,omitempty"`
	Paper     string   `json:"paper,omitempty"`
	About     string   `json:"about"`
}

func (a *App) planList() *cobra.Command {
	l := &planLine{}
	cmd := l.command(a, "list", "List the algorithms: which operations, when legal, steps and bytes", nil, func([]string) error {
		var rows []algorithmJSON
		for _, alg := range collective.Algorithms() {
			r := algorithmJSON{Name: alg.Name, Ops: names(alg.Ops), When: alg.When, Steps: alg.StepsText, Wire: alg.WireText, Paper: alg.Paper, About: alg.About,
				Protocols: names(alg.Protocols)}
			if alg.Protocols == nil {
				r.Protocols = []string{"all"}
			}
			if r.When == "" {
				r.When = "always"
			}
			rows = append(rows, r)
		}
		if l.Format == "json" {
			return json.NewEncoder(a.Stdout).Encode(rows)
		}
		return listAlgorithms(a.Stdout, rows)
	})
	cmd.Args = none
	return cmd
}

func listAlgorithms(w io.Writer, rows []algorithmJSON) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "NAME\tOPS\tPROTOCOLS\tSTEPS\tBYTES ON THE WIRE\tLEGAL\tABOUT")
	for _, r := range rows {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.Name, strings.Join(r.Ops, ","), strings.Join(r.Protocols, ","),
			orDash(r.Steps), orDash(r.Wire), r.When, r.About)
	}
	return t.Flush()
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func (a *App) planShow() *cobra.Command {
	l := &planLine{}
	own := append(l.building(), setting{name: "rank", arg: "R", def: "-1", usage: "show this rank alone", set: whole(&l.rank, -1, maxRanks-1)})
	return l.command(a, "show NAME|FILE.xml", "Draw a plan, step by step", own, func(args []string) error {
		arg, err := one("plan show", "plan show ring --ranks 4", args)
		if err != nil {
			return err
		}
		if l.Format == "json" {
			return usagef("--format json: plan show draws; plan import and plan check print json")
		}
		p, f, err := l.load(a, arg)
		if err != nil {
			return err
		}
		if l.rank >= p.Ranks {
			return usagef("--rank %d must be a rank from 0 to %d", l.rank, p.Ranks-1)
		}
		a.remark(l, arg, f)
		if l.rank >= 0 {
			return collective.Print(a.Stdout, p, l.rank)
		}
		return collective.Print(a.Stdout, p)
	})
}

// remark says what a reader of the file should know, on stderr.
func (a *App) remark(l *planLine, path string, f *msccl.File) {
	if f == nil || l.Quiet {
		return
	}
	for _, n := range f.Notes {
		a.complain("coordinator", "note: "+path+": "+n)
	}
}

func (a *App) planExport() *cobra.Command {
	l := &planLine{}
	own := append(l.building(), setting{name: "out", arg: "FILE", usage: "where to write (default stdout)", set: text(&l.out)})
	return l.command(a, "export NAME", "Write an algorithm as MSCCL XML", own, func(args []string) error {
		arg, err := one("plan export", "plan export ring --ranks 8 --out ring.xml", args)
		if err != nil {
			return err
		}
		p, f, err := l.load(a, arg)
		if err != nil {
			return err
		}
		a.remark(l, arg, f)
		return a.export(l, p)
	})
}

// export writes a plan to --out, or to stdout.
func (a *App) export(l *planLine, p *collective.Plan) error {
	var b bytes.Buffer
	notes, err := msccl.Export(&b, p)
	if err != nil {
		return &ExitError{ExitUsage, err}
	}
	if !l.Quiet {
		for _, n := range notes {
			a.complain("coordinator", "note: "+n)
		}
	}
	if l.out == "" {
		_, err := b.WriteTo(a.Stdout)
		return err
	}
	if err := a.WriteFile(l.out, b.Bytes()); err != nil {
		return &ExitError{ExitUsage, fmt.Errorf("--out: %w", err)}
	}
	return nil
}
