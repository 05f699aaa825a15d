package cli

import (
	"bytes"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/collective/msccl"
)

// plan returns the command whose commands list, show, prove, read and write
// plans. None of them runs anything.
func (a *App) plan() *cobra.Command {
	cmd := &cobra.Command{Use: "plan", Short: "Algorithms and plans, MSCCL XML included", RunE: unknownVerb, Args: cobra.ArbitraryArgs}
	cmd.AddCommand(a.planList(), a.planShow(), a.planCheck(), a.planImport(), a.planExport())
	return cmd
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
