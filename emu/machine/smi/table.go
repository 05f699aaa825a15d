package smi

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/railyard/railyard/emu/machine"
)

// table is a raw table with its cells in place: devices are the GPUs in the
// order of their columns, then the NICs.
type table struct {
	labels []string
	gpus   int
	cells  [][]cell
	of     []affinity        // of each GPU
	rows   []bool            // whether a device has a row
	names  map[string]string // legend
	notes  []machine.Note
	report bool // of rocm-smi
}

// cell is what the table says of two devices, if anything.
type cell struct {
	machine.Distance
	known bool
}

func (t *table) say(k machine.Kind, about, format string, args ...any) {
	t.notes = append(t.notes, machine.Note{Kind: k, About: about, Text: fmt.Sprintf(format, args...)})
}

// place puts the cells of a raw table where they belong.
func place(r *raw) (*table, error) {
	t := &table{names: r.names, report: r.report}
	columns := r.columns
	if columns == nil {
		columns = t.guess(r)
	}
	at, err := t.order(columns)
	if err != nil {
		return nil, err
	}
	n := len(t.labels)
	t.cells, t.of, t.rows = make([][]cell, n), make([]affinity, t.gpus), make([]bool, n)
	for i := range t.cells {
		t.cells[i] = make([]cell, n)
	}
	for _, row := range r.rows {
		if err := t.row(row, at, r.affinities); err != nil {
			return nil, err
		}
	}
	t.mirror()
	return t, nil
}

// order makes the list of devices, GPUs first and by number, and returns the
// device of each column.
func (t *table) order(columns []string) (at []int, err error) {
	var gpus, nics []int // columns
	for c, label := range columns {
		if _, ok := isGPU(label); ok {
			gpus = append(gpus, c)
		} else {
			nics = append(nics, c)
		}
	}
	number := func(c int) int { n, _ := isGPU(columns[c]); return n }
	slices.SortStableFunc(gpus, func(a, b int) int { return cmp.Compare(number(a), number(b)) })
	at, seen := make([]int, len(columns)), map[string]bool{}
	for _, c := range append(gpus, nics...) {
		label := columns[c]
		if seen[label] {
			return nil, fmt.Errorf("column %s is given twice", label)
		}
		seen[label], at[c] = true, len(t.labels)
		t.labels = append(t.labels, label)
	}
	if t.gpus = len(gpus); t.gpus == 0 {
		return nil, fmt.Errorf("no column is a GPU: %s", some(columns))
	}
	return at, nil
}

// guess returns columns for a table without a header: each row has its X in its
// own column; a column without a row is a GPU's when NVLink leads there, or
// when it lies before one.
func (t *table) guess(r *raw) []string {
	var columns []string
	lastGPU := -1
	grow := func(n int) {
		for len(columns) < n {
			columns = append(columns, "")
		}
	}
	for _, row := range r.rows {
		grow(len(row.cells))
		own := slices.Index(row.cells, cell{machine.Distance{}, true})
		if own >= 0 && columns[own] == "" && !slices.Contains(columns, row.label) {
			columns[own] = row.label
		}
		_, gpu := isGPU(row.label)
		for c, d := range row.cells {
			if d.Nearness == machine.NV || gpu && c == own {
				lastGPU = max(lastGPU, c)
			}
		}
	}
	var invented []string
	for c, label := range columns {
		if label != "" {
			continue
		}
		columns[c] = fmt.Sprintf("GPU%d", c)
		if c > lastGPU {
			columns[c] = fmt.Sprintf("NIC%d", c-lastGPU-1)
		}
		invented = append(invented, columns[c])
	}
	t.say(machine.Assumed, "", "the table has no header; columns are named after the rows")
	if invented != nil {
		t.say(machine.Assumed, "", "columns without a row are taken as %s", some(invented))
	}
	return columns
}

// device returns the device that a row is of, -1 when there is none: rows may
// have the names of the legend where the columns have numbers, or the reverse.
func (t *table) device(label string) int {
	if i := slices.Index(t.labels, label); i >= 0 {
		return i
	}
	if i := slices.Index(t.labels, t.names[strings.ToUpper(label)]); i >= 0 {
		return i
	}
	return slices.IndexFunc(t.labels, func(l string) bool { return strings.EqualFold(l, label) || t.names[strings.ToUpper(l)] == label })
}

func (t *table) row(r row, at []int, affinities int) error {
	d := t.device(r.label)
	switch {
	case d < 0:
		t.say(machine.Odd, r.label, "line %d: a row without a column; it is left out", r.line)
		return nil
	case t.rows[d]:
		t.say(machine.Odd, r.label, "line %d: a second row; it is left out", r.line)
		return nil
	}
	t.rows[d] = true
	if len(r.cells) > len(at) {
		t.say(machine.Odd, r.label, "line %d: %d cells, but %d columns; the rest is left out", r.line, len(r.cells), len(at))
		r.cells = r.cells[:len(at)]
	}
	silent := 0
	for c, v := range r.cells {
		if !v.known {
			silent++
			continue
		}
		if own := at[c] == d; own != (v.Nearness == machine.Self) {
			return fmt.Errorf("line %d: row %s has %v in column %s; X stands in a device's own column and nowhere else, so columns and rows do not fit", r.line, r.label, v.Distance, t.labels[at[c]])
		}
		t.cells[d][at[c]] = v
	}
	if silent > 0 {
		t.say(machine.Odd, r.label, "line %d: %d cells tell no distance (N/A, ERR!, NV0 and the like)", r.line, silent)
	}
	switch {
	case len(r.cells) < len(at):
		t.say(machine.Odd, r.label, "line %d: the row ends after %d of %d cells", r.line, len(r.cells), len(at))
	case d < t.gpus:
		t.of[d] = parseAffinity(r.tail, affinities)
	}
	return nil
}

// mirror fills what is missing from the other half of the table. Where the two
// halves differ, the farther one counts.
func (t *table) mirror() {
	for i := range t.cells {
		for j := range i {
			a, b := &t.cells[i][j], &t.cells[j][i]
			switch {
			case !a.known:
				*a = *b
			case !b.known:
				*b = *a
			case a.Distance != b.Distance:
				far := *a
				if nearer(a.Distance, b.Distance) {
					far = *b
				}
				t.say(machine.Odd, t.labels[j], "%v to %s, which says %v; taken as %v", b.Distance, t.labels[i], a.Distance, far.Distance)
				*a, *b = far, far
			}
		}
	}
}

// nearer reports whether a is nearer than b, more links being nearer.
func nearer(a, b machine.Distance) bool {
	if a.Nearness != b.Nearness {
		return a.Nearness < b.Nearness
	}
	return a.Links > b.Links
}

// some lists names, but not a screen of them.
func some(names []string) string {
	const most = 8
	if len(names) > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(names, ", ")
}
