package verbs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/tuner"
	"github.com/railyard/railyard/internal/coordinator"
	"github.com/railyard/railyard/internal/report"
	"github.com/railyard/railyard/shaping"
)

// explanation is what --explain says, and the value of its JSON key: every way
// that was considered, what NCCL's model says of it, what ran and what it took.
// A nil explanation takes everything and says nothing.
type explanation struct {
	NCCL string         `json:"nccl"` // the version of the model
	Rows []explainedRow `json:"rows"`
	// Crossings say where the cheaper of ring and tree changes.
	Crossings []crossing `json:"crossings"`
	// Limits name NICs that are faster than their slots.
	Limits []string `json:"limits,omitempty"`
}

type explainedRow struct {
	Size       int64           `json:"size"`
	Type       string          `json:"type"`
	RedOp      string          `json:"redop"`
	Root       int             `json:"root"`
	Algorithm  string          `json:"algorithm"`
	Protocol   string          `json:"protocol"`
	Channels   int             `json:"channels"`
	TookPs     int64           `json:"took_ps"` // out of place
	Candidates []candidateJSON `json:"candidates"`
}

type candidateJSON struct {
	Algorithm  string `json:"algorithm"`
	Protocol   string `json:"protocol"`
	EstimatePs int64  `json:"estimate_ps"`   // 0: NCCL has no model of it
	Why        string `json:"why,omitempty"` // it may not be used
	Chosen     bool   `json:"chosen,omitempty"`
}

type crossing struct {
	From string `json:"from"` // cheaper up to
	To   string `json:"to"`   // cheaper from
	UpTo int64  `json:"up_to_bytes"`
	On   int64  `json:"from_bytes"`
	Type string `json:"type"`
}

// add takes a row.
func (e *explanation) add(row *report.Row, r *coordinator.Row) {
	if e == nil {
		return
	}
	x := explainedRow{Size: row.Size, Type: row.Type, RedOp: row.RedOp, Root: row.Root, Algorithm: r.Chosen.Algorithm,
		Protocol: r.Chosen.Protocol.String(), Channels: r.Channels, TookPs: row.OutOfPlace.TimePs}
	for _, c := range r.Candidates {
		chosen := c.Algorithm == r.Chosen.Algorithm && c.Protocol == r.Chosen.Protocol
		x.Candidates = append(x.Candidates, candidateJSON{c.Algorithm, c.Protocol.String(), int64(c.Time), c.Why, chosen})
	}
	e.Rows = append(e.Rows, x)
}

// best returns the least estimate of an algorithm, used or not; 0 for none.
func (x *explainedRow) best(algorithm string) int64 {
	var least int64
	for _, c := range x.Candidates {
		if c.Algorithm == algorithm && c.EstimatePs > 0 && (least == 0 || c.EstimatePs < least) {
			least = c.EstimatePs
		}
	}
	return least
}

// cheaper returns which of ring and tree is; empty where one has no estimate.
func (x *explainedRow) cheaper() string {
	ring, tree := x.best(tuner.Ring), x.best(tuner.Tree)
	switch {
	case ring == 0 || tree == 0:
		return ""
	case tree < ring:
		return tuner.Tree
	default:
		return tuner.Ring
	}
}

// like reports whether two rows differ in size alone.
func (x *explainedRow) like(o *explainedRow) bool {
	return x.Type == o.Type && x.RedOp == o.RedOp && x.Root == o.Root
}

// cross finds where ring and tree cross, once all rows are there.
func (e *explanation) cross() {
	if e == nil {
		return
	}
	e.Crossings = []crossing{}
	for i := 1; i < len(e.Rows); i++ {
		a, b := &e.Rows[i-1], &e.Rows[i]
		from, to := a.cheaper(), b.cheaper()
		if a.like(b) && from != "" && to != "" && from != to {
			e.Crossings = append(e.Crossings, crossing{from, to, a.Size, b.Size, a.Type})
		}
	}
}

// lines returns what stands below the table: for rows that differ in size alone
// one table, a column a candidate.
func (e *explanation) lines() []string {
	if e == nil || len(e.Rows) == 0 {
		return nil
	}
	out := []string{"", fmt.Sprintf("What was considered, in us by the model of NCCL %s: * ran, () may not be used, - has no model", e.NCCL)}
	for i := 0; i < len(e.Rows); {
		n := i + 1
		for n < len(e.Rows) && e.Rows[n].like(&e.Rows[i]) {
			n++
		}
		out = append(out, block(e.Rows[i:n])...)
		i = n
	}
	for _, c := range e.Crossings {
		out = append(out, fmt.Sprintf("of ring and tree, %s is cheaper up to %d bytes and %s from %d bytes on (%s)", c.From, c.UpTo, c.To, c.On, c.Type))
	}
	for _, l := range e.Limits {
		out = append(out, "limit: "+l)
	}
	return out
}

// look takes what the hardware itself limits.
func (e *explanation) look(c emu.Cluster) error {
	if e == nil {
		return nil
	}
	f, err := fabric.New(c)
	if err == nil {
		e.Limits = f.SlotLimits()
	}
	return err
}

// name is how a candidate heads its column.
func (c *candidateJSON) name() string { return c.Algorithm + "/" + c.Protocol }

// block returns the table of rows that differ in size alone, and why what may
// not be used may not.
func block(rows []explainedRow) []string {
	var columns []string
	for i := range rows {
		for _, c := range rows[i].Candidates {
			if !slices.Contains(columns, c.name()) {
				columns = append(columns, c.name())
			}
		}
	}
	head := fmt.Sprintf("%12s %8s %6s %10s", "size", "type", "redop", "took")
	for _, c := range columns {
		head += fmt.Sprintf("  %*s", width(c), c)
	}
	out := []string{head}
	var why []string
	for i := range rows {
		x := &rows[i]
		line := fmt.Sprintf("%12d %8s %6s %10s", x.Size, x.Type, x.RedOp, micros(x.TookPs))
		for _, name := range columns {
			line += fmt.Sprintf("  %*s", width(name), x.estimate(name))
		}
		out = append(out, line)
		for _, c := range x.Candidates {
			if reason := c.name() + ": " + c.Why; c.Why != "" && !slices.Contains(why, reason) {
				why = append(why, reason)
			}
		}
	}
	for _, w := range why {
		out = append(out, "() "+strings.ReplaceAll(w, "\n", " "))
	}
	return out
}

// width of a column.
func width(name string) int { return max(len(name), len("(123456.7)")) }

// estimate returns the cell of a candidate; empty where it was not considered.
func (x *explainedRow) estimate(name string) string {
	for _, c := range x.Candidates {
		if c.name() != name {
			continue
		}
		s := "-"
		if c.EstimatePs > 0 {
			s = micros(c.EstimatePs)
		}
		switch {
		case c.Why != "":
			return "(" + s + ")"
		case c.Chosen:
			return "*" + s
		default:
			return s
		}
	}
	return ""
}

// micros prints a span in microseconds with one decimal, rounded.
func micros(ps int64) string {
	const tenth = int64(shaping.Microsecond) / 10
	t := (ps + tenth/2) / tenth
	return fmt.Sprintf("%d.%d", t/10, t%10)
}
