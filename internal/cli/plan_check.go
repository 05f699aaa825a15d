package cli

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/collective/msccl"
)

// checkJSON is what plan check says of one plan.
type checkJSON struct {
	Plan     string        `json:"plan"`
	Right    bool          `json:"right"`
	Verdicts []verdictJSON `json:"verdicts"`
	// Error and Line are those of a file that could not be read.
	Error string   `json:"error,omitempty"`
	Line  int      `json:"line,omitempty"`
	Notes []string `json:"notes,omitempty"`
}

// verdictJSON is a verdict on one layout. Rank, block and step are -1 where
// there is none.
type verdictJSON struct {
	Layout  string `json:"layout"`
	Verdict string `json:"verdict"`
	Text    string `json:"text"`
	Rank    int    `json:"rank"`
	Block   int    `json:"block"`
	Step    int    `json:"step"`
	Line    int    `json:"line,omitempty"`
	Stuck   int    `json:"stuck"` // blocks
	Wrong   int    `json:"wrong"` // chunks
	Races   int    `json:"races"` // pairs of steps
}

func (a *App) planCheck() *cobra.Command {
	l := &planLine{}
	own := append(l.building(), setting{name: "strict", usage: "a race is wrong, even where the result is right", set: toggle(&l.strict)})
	cmd := l.command(a, "check FILE.xml|NAME...", "Prove plans, or say rank, block, step and what is wrong", own, func(args []string) error {
		if len(args) == 0 {
			return usagef("plan check needs a file or an algorithm: coordinator plan check plan.xml")
		}
		var errs []error
		code := ExitOK
		for _, arg := range args {
			err := a.checkPlan(l, arg)
			if err != nil {
				errs = append(errs, err)
				code = max(code, exitCode(err))
			}
		}
		if len(errs) == 0 {
			return nil
		}
		return &ExitError{code, errors.Join(errs...)}
	})
	cmd.Long = cmd.Short + ".\n\nExit codes: 0 right, 1 wrong (result, deadlock, message without its other end), 64 a file that is no plan.\n" +
		"A result that is right although a race could have spoilt it exits with 0 and is\nsaid to depend on order; with --strict it exits with 1."
	return cmd
}

// checkPlan proves one plan and prints what came of it.
func (a *App) checkPlan(l *planLine, arg string) error {
	c := checkJSON{Plan: arg, Right: true}
	var err error
	if isFile(arg) {
		err = a.checkFile(l, &c)
	} else {
		err = l.checkNamed(&c)
	}
	var bad *msccl.Error
	if errors.As(err, &bad) {
		c.Error, c.Line, c.Right = bad.Text, bad.Line, false
	}
	if l.Format == "json" && (err == nil || bad != nil) {
		if e := json.NewEncoder(a.Stdout).Encode(&c); e != nil {
			return e
		}
	}
	if err != nil {
		return err
	}
	for _, v := range c.Verdicts {
		if l.Format != "json" {
			fmt.Fprintf(a.Stdout, "%s: %s\n", arg, v.Text)
		}
		c.Right = c.Right && !v.failed(l.strict)
	}
	if !c.Right {
		return &ExitError{ExitInvalid, fmt.Errorf("%s: the plan is not right", arg)}
	}
	return nil
}

func (v *verdictJSON) failed(strict bool) bool {
	return v.Verdict != "ok" && v.Verdict != "completes" || strict && v.Races > 0
}

func (a *App) checkFile(l *planLine, c *checkJSON) error {
	f, err := a.readPlan(c.Plan)
	if err != nil {
		return err
	}
	if l.Format != "json" {
		a.remark(l, c.Plan, f)
	}
	c.Notes = f.Notes
	all, err := f.Judge(l.root)
	if err != nil {
		return usagef("%s: %v", c.Plan, err)
	}
	for i := range all {
		v := newVerdict(all[i].Word(f.Op), &all[i].Judgement, all[i].InPlace)
		v.Text, v.Line = all[i].Text, f.Line(collective.Place{Rank: v.Rank, Block: v.Block, Step: v.Step})
		c.add(v, l.strict)
	}
	return nil
}

func (c *checkJSON) add(v verdictJSON, strict bool) {
	c.Verdicts = append(c.Verdicts, v)
	c.Right = c.Right && !v.failed(strict)
}

// checkNamed proves a plan of ours in the layouts that its operation has.
func (l *planLine) checkNamed(c *checkJSON) error {
	p, err := l.build(c.Plan)
	if err != nil {
		return err
	}
	for _, inPlace := range []bool{false, true} {
		if inPlace && (p.Op == collective.AllToAll || p.Op == collective.AllToAllV || p.Op == collective.SendRecv) {
			continue // has no such form
		}
		j := collective.Judge(p, inPlace)
		if j.Err == nil && j.Races > 0 {
			j.Err = j.Race // ours have none
		}
		word := "ok"
		if j.Err != nil {
			word = j.Err.Problem.String()
		}
		v := newVerdict(word, &j, inPlace)
		v.Text = msccl.Layout(inPlace) + ": " + word
		if j.Err != nil {
			v.Text = msccl.Layout(inPlace) + ": " + j.Err.Error()
		}
		c.add(v, l.strict)
	}
	return nil
}

func newVerdict(word string, j *collective.Judgement, inPlace bool) verdictJSON {
	v := verdictJSON{Layout: msccl.Layout(inPlace), Verdict: word, Rank: -1, Block: -1, Step: -1, Wrong: j.Wrong, Races: j.Races}
	at := j.Err
	if at == nil {
		at = j.Race
	}
	if at != nil {
		v.Rank, v.Block, v.Step = at.Rank, at.Block, at.Step
		v.Stuck = len(at.Stuck)
	}
	return v
}
