package emu

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Problem is one thing that is wrong with a cluster.
type Problem struct {
	File   string // as the caller named it; empty when there is no file
	Line   int    // from 1; 0 when it is not known
	Field  string // for example "spec.nodes[0].count"; empty for the whole file
	Reason string // the value, what is allowed, what to do
}

// Error puts the problem on one line: "two-pods.yaml:7: spec.seed: …".
func (p *Problem) Error() string {
	var b strings.Builder
	if p.File != "" {
		b.WriteString(p.File + ":")
		if p.Line > 0 {
			fmt.Fprintf(&b, "%d:", p.Line)
		}
		b.WriteByte(' ')
	}
	if p.Field != "" {
		b.WriteString(p.Field + ": ")
	}
	return b.String() + p.Reason
}

// maxProblems is how many problems of a file are spelt out. A file can hold
// thousands; nobody reads more than a screen.
const maxProblems = 20

type problems []*Problem

// join returns the problems as one error in the order of their lines, nil when
// there are none.
func (ps problems) join() error {
	slices.SortStableFunc(ps, func(a, b *Problem) int { return a.Line - b.Line })
	var errs []error
	for i, p := range ps {
		if i == maxProblems {
			errs = append(errs, &Problem{File: p.File, Reason: fmt.Sprintf("… and %d more", len(ps)-i)})
			break
		}
		errs = append(errs, p)
	}
	return errors.Join(errs...)
}

func (ps *problems) say(field, format string, args ...any) {
	*ps = append(*ps, &Problem{Field: field, Reason: fmt.Sprintf(format, args...)})
}

// between checks that v is the default, 0, or lies between 1 and most; of says
// where the bound comes from.
func (ps *problems) between(field string, v, most int, of string) {
	if v < 0 || v > most {
		ps.say(field, "%d must be a whole number from 1 to %d%s", v, most, of)
	}
}
