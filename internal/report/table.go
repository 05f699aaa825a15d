package report

import (
	"fmt"
	"io"
	"strings"
)

// Table writes nccl-tests' table.
type Table struct {
	w       io.Writer
	header  Header
	summary Summary
}

// NewTable returns a table that writes to w, one write a row.
func NewTable(w io.Writer) *Table { return &Table{w: w} }

// Begin writes the header, the devices and the names of the columns.
func (t *Table) Begin(h Header) error {
	t.header = h
	var b strings.Builder
	fmt.Fprintf(&b, "# Collective test starting: %s\n", h.Program())
	parameters(&b, h.Config)
	b.WriteString("#\n# Using devices\n")
	for _, d := range h.Devices {
		fmt.Fprintf(&b, "#  Rank %2d Group %2d Pid %6d on %10s device %2d [%s] %s\n",
			d.Rank, d.Group, d.PID, d.Host, d.Index, d.BusID, d.Name)
	}
	columns(&b)
	return t.write(b.String())
}

func parameters(b *strings.Builder, c Config) {
	step, how := c.StepBytes, "bytes"
	if c.StepFactor > 1 {
		step, how = c.StepFactor, "factor"
	}
	fmt.Fprintf(b, "# nThread %d nGpus %d minBytes %d maxBytes %d step: %d(%s) warmup iters: %d iters: %d agg iters: %d validation: %d graph: %d\n",
		c.Threads, c.GPUs, c.MinBytes, c.MaxBytes, step, how, c.Warmup, c.Iterations, c.Aggregated, c.Check, c.Graph)
	if c.Blocking != 0 {
		b.WriteString("# Blocking Enabled: wait for completion and barrier after each collective \n")
	}
}

// columns writes the lines above the rows. Their trailing spaces are
// nccl-tests' own: the last column is a time stamp that is off by default.
func columns(b *strings.Builder) {
	const names = "# %10s  %12s  %8s  %6s  %6s  %7s  %6s  %6s  %6s  %7s  %6s  %6s  %6s \n"
	b.WriteString("#\n")
	fmt.Fprintf(b, "# %10s  %12s  %8s  %6s  %6s           out-of-place                       in-place          \n", "", "", "", "", "")
	fmt.Fprintf(b, names, "size", "count", "type", "redop", "root", "time", "algbw", "busbw", "#wrong", "time", "algbw", "busbw", "#wrong")
	fmt.Fprintf(b, names, "(B)", "(elements)", "", "", "", "(us)", "(GB/s)", "(GB/s)", "", "(us)", "(GB/s)", "(GB/s)", "")
}

// Row writes one line.
func (t *Table) Row(r Row) error {
	t.summary.Add(t.header, r)
	return t.write(fmt.Sprintf("%12d  %12d  %8s  %6s  %6d%s%s\n",
		r.Size, r.Count, r.Type, r.RedOp, r.Root, t.cell(r.Size, r.OutOfPlace), t.cell(r.Size, r.InPlace)))
}

// cell returns four columns. An unchecked #wrong is one column narrower than a
// number, as in nccl-tests.
func (t *Table) cell(size int64, c Cell) string {
	const unchecked = "    N/A"
	if c.NA {
		return fmt.Sprintf("  %7s  %6s  %6s%s", "N/A", "N/A", "N/A", unchecked)
	}
	alg, bus := Bandwidth(t.header.Op, t.header.Ranks, size, c.TimePs)
	s := fmt.Sprintf("  %s  %s  %s", fit(float64(c.TimePs)/1e6, 7), fit(alg, 6), fit(bus, 6))
	if !c.Checked {
		return s + unchecked
	}
	return s + "  " + pad(general(float64(c.Wrong)), 6)
}

// End writes the footer, and after it two comment lines of ours.
func (t *Table) End(f Footer) error {
	var b strings.Builder
	verdict := "OK"
	if t.summary.Errors > 0 || f.Err != "" { // what never ran is not within bounds
		verdict = "FAILED"
	}
	fmt.Fprintf(&b, "# %-20s : %d %s\n", "Out of bounds values", t.summary.Errors, verdict)
	fmt.Fprintf(&b, "# %-20s : %s %s\n", "Avg bus bandwidth", general(t.summary.BusBandwidth()), t.bound())
	fmt.Fprintf(&b, "#\n# Collective test concluded: %s\n", t.header.Program())
	comment(&b, "error", f.Err)
	comment(&b, "Where the time went ", f.Where)
	comment(&b, "Timing ", f.Timing)
	for _, line := range f.Explain {
		b.WriteString(strings.TrimRight("# "+line, " ") + "\n")
	}
	return t.write(b.String())
}

// bound says whether the average meets NCCL_TESTS_MIN_BW, nothing without one.
func (t *Table) bound() string {
	switch {
	case t.header.MinBusBandwidth <= 0:
		return ""
	case t.summary.Slow(t.header):
		return "FAILED"
	default:
		return "OK"
	}
}

// comment writes a line that parsers skip, whatever the text holds.
func comment(b *strings.Builder, label, text string) {
	if text != "" {
		fmt.Fprintf(b, "# %s: %s\n", label, strings.ReplaceAll(text, "\n", "\n# "))
	}
}

func (t *Table) write(s string) error {
	_, err := io.WriteString(t.w, s)
	return err
}
