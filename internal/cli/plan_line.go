package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/collective/msccl"
	"github.com/railyard/railyard/emu/suggest"
)

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
	proto, err := collective.ParseProtocol(strings.ToLower(l.proto))
	if err != nil {
		return nil, usagef("--proto %s", suggest.Unknown(l.proto, names(collective.Protocols())))
	}
	o := collective.Options{Protocol: proto, Channels: l.channels, Root: max(l.root, 0)}
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
