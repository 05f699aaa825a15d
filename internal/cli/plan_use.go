package cli

import (
	"fmt"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/collective/msccl"
	"github.com/railyard/railyard/emu/sweep"
	"github.com/railyard/railyard/shaping"
)

// PlanUse is a plan to be run in place of an algorithm (--plan).
type PlanUse struct {
	*collective.Plan
	Text    []byte // what it was read from
	Layouts []bool // in place: true
}

// usePlan reads the file of --plan and sees that it does what was asked.
func (l *benchLine) usePlan(a *App) error {
	c := &l.config
	for _, f := range []string{"algo", "proto", "channels", "slices"} {
		if l.given(f) {
			return fmt.Errorf("--%s: the plan says; leave it out, or leave out --plan", f)
		}
	}
	for _, f := range []string{"algo", "proto"} {
		if v := l.variableOf(f); v != "" {
			l.notes = append(l.notes, v+" has no effect: the plan says")
		}
	}
	for _, v := range []string{"NCCL_MIN_NCHANNELS", "NCCL_MAX_NCHANNELS", "NCCL_MIN_CTAS", "NCCL_MAX_CTAS"} {
		if a.Getenv(v) != "" {
			l.notes = append(l.notes, v+" has no effect: the plan says")
		}
	}
	text, err := a.ReadPlan(c.PlanFile)
	if err != nil {
		return fmt.Errorf("--plan: %w", err)
	}
	f, err := msccl.Parse(text)
	if err != nil {
		return fmt.Errorf("--plan %s: %w", c.PlanFile, err)
	}
	if f.Op != c.Op {
		return fmt.Errorf("--plan %s: its coll is %s, which is not %s: coordinator %s %s", c.PlanFile, f.Coll, c.Op, l.verb, f.Op)
	}
	p, err := f.Plan(msccl.AnyRoot)
	if err != nil {
		return fmt.Errorf("--plan %s: %w", c.PlanFile, err)
	}
	if p, err = l.rootPlan(f, p); err != nil {
		return err
	}
	c.Root = p.Root
	c.Plan = &PlanUse{Plan: p, Text: text, Layouts: f.Meant()}
	for _, n := range f.Notes {
		l.notes = append(l.notes, c.PlanFile+": "+n)
	}
	l.noteRange(f)
	return nil
}

// rootPlan returns the plan for the root that was asked for.
func (l *benchLine) rootPlan(f *msccl.File, p *collective.Plan) (*collective.Plan, error) {
	c := &l.config
	if !sweep.Rooted(f.Op) || !l.given("root") || c.Root == p.Root {
		return p, nil
	}
	refuse := fmt.Errorf("-r %d: the root of plan %s is rank %d", c.Root, c.PlanFile, p.Root)
	if c.Root >= f.Ranks {
		return nil, refuse
	}
	verdicts, err := f.Judge(c.Root)
	if err != nil {
		return nil, refuse
	}
	for i := range verdicts {
		if !verdicts[i].Right() {
			return nil, refuse
		}
	}
	return f.Plan(c.Root)
}

// noteRange says, once, that sizes are asked for which the file is not meant
// for. They run all the same: the user chose the plan, where the original
// runtimes would choose another for the size.
func (l *benchLine) noteRange(f *msccl.File) {
	c := &l.config
	if c.MinBytes < f.MinBytes || f.MaxBytes > 0 && c.MaxBytes > f.MaxBytes {
		most := "up"
		if f.MaxBytes > 0 {
			most = "to " + shaping.Bytes(f.MaxBytes).String()
		}
		l.notes = append(l.notes, fmt.Sprintf("%s is meant for sizes from %s %s; the others run as well", c.PlanFile, shaping.Bytes(f.MinBytes), most))
	}
}
