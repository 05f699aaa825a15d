package smi

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/railyard/railyard/emu/machine"
)

// What a file may have. A table of 72 GPUs and 72 NICs has some 60 KB.
const (
	maxBytes = 2_000_000
	maxRows  = machine.MaxDevices // of a table, and columns
	maxLabel = 64
)

// row is a line with the cells of a device.
type row struct {
	label string
	cells []machine.Distance
	tail  string // what follows the cells
	line  int
}

// raw is a table as it was written.
type raw struct {
	columns    []string // labels of the header; nil without one
	affinities int      // columns behind those of devices
	rows       []row
	names      map[string]string // legend: NIC0 is mlx5_0
	line       int
	peer       bool // a table of topo -p2p
}

var escapes = regexp.MustCompile(`\x1b\[[0-9;]*[A-Za-z]`)

// scan finds the tables in a text.
func scan(data []byte) ([]*raw, error) {
	if len(data) > maxBytes {
		return nil, fmt.Errorf("the file is larger than %d bytes, the most that is read", maxBytes)
	}
	var tables []*raw
	current := &raw{names: map[string]string{}} // of rows before any header
	number := 0
	for line := range strings.Lines(string(data)) {
		number++
		line = clean(line)
		if columns, affinities := header(line); columns != nil {
			if len(columns) > maxRows {
				return nil, fmt.Errorf("line %d: a table of more than %d rows or columns", number, maxRows)
			}
			if len(tables) == maxTables {
				return nil, fmt.Errorf("line %d: more than %d tables", number, maxTables)
			}
			current = &raw{columns: columns, affinities: affinities, names: map[string]string{}, line: number}
			tables = append(tables, current)
			continue
		}
		if r, ok := parseRow(line, current); ok {
			r.line = number
			next, _ := word(r.tail)
			current.peer = current.peer || len(r.cells) < len(current.columns) && slices.Contains(peerWords, next)
			if len(tables) == 0 {
				tables = append(tables, current)
			}
			if current.rows = append(current.rows, r); len(current.rows) > maxRows || len(r.cells) > maxRows {
				return nil, fmt.Errorf("line %d: a table of more than %d rows or columns", number, maxRows)
			}
		} else if nic, name, ok := legend(line); ok {
			current.names[nic] = name
		}
	}
	return choose(tables, data)
}

// choose leaves out tables of topo -p2p, which people paste behind the other.
func choose(tables []*raw, data []byte) ([]*raw, error) {
	found := len(tables)
	tables = slices.DeleteFunc(tables, func(t *raw) bool { return t.peer })
	switch {
	case len(tables) > 0:
		return tables, complete(tables)
	case found > 0:
		return nil, errors.New("this is what nvidia-smi topo -p2p prints: which peer to peer is possible, not how near devices are; import what topo -m prints")
	case bytes.Contains(data, []byte("ROCm System Management")):
		return nil, errors.New("this is a report of rocm-smi, which is not read; import the topology file that RCCL writes (NCCL_TOPO_DUMP_FILE)")
	default:
		return nil, errors.New("holds no table of nvidia-smi topo -m: neither a header GPU0 GPU1 … nor a row GPU0 X NV18 …")
	}
}

// maxTables is how many machines one file may list.
const maxTables = 64

// maxCells is how many cells all tables of a file may have together.
const maxCells = 1 << 21

// complete says what is wrong with a table without rows, or with many.
func complete(tables []*raw) error {
	cells := 0
	for _, t := range tables {
		if cells += len(t.columns) * len(t.columns); cells > maxCells {
			return fmt.Errorf("line %d: the tables have more than %d cells, the most that is read", t.line, maxCells)
		}
		if len(t.rows) == 0 {
			return fmt.Errorf("line %d: a header, but no row of cells (GPU0 X NV18 …) behind it", t.line)
		}
	}
	return nil
}

// clean takes away what pasting put around a line.
func clean(line string) string {
	line = escapes.ReplaceAllString(line, "")
	line = strings.NewReplacer("\u00a0", " ", "|", " ").Replace(line)
	line = strings.TrimRight(line, " \r\n")
	return strings.TrimLeft(line, "#>`* ")
}

// header reads the line with the names of the columns; nil if it is none. Only
// the words behind them make sure that a line is one: without these it must
// hold devices and nothing else.
func header(line string) (columns []string, affinities int) {
	for _, a := range []string{"CPU Affinity", "NUMA Affinity", "GPU NUMA ID"} {
		if i := strings.Index(line, a); i >= 0 {
			affinities++
			line = line[:i] + " " + line[i+len(a):]
		}
	}
	words := strings.Fields(line)
	first := slices.IndexFunc(words[:min(len(words), maxLead)], func(w string) bool { _, ok := isGPU(w); return ok })
	if first < 0 || affinities == 0 && (first > 0 || len(words) < 2) {
		return nil, 0
	}
	for _, w := range words[first:] {
		if _, cell := parseCell(w); cell || affinities == 0 && !isDevice(w) {
			return nil, 0
		}
	}
	return words[first:], affinities
}

// maxLead is how many words of a log may stand before a row.
const maxLead = 4

// parseRow reads a line with cells. Behind other words a row must show itself
// by its X: prose names devices and distances, too.
func parseRow(line string, in *raw) (row, bool) {
	rest := line
	for lead := range maxLead {
		label, tail := word(rest)
		if label == "" {
			break
		}
		next, _ := word(tail)
		if _, cell := parseCell(next); cell && (isDevice(label) || slices.Contains(in.columns, label)) {
			r := row{label: label}
			r.cells, r.tail = cells(tail)
			if lead == 0 || slices.Contains(r.cells, machine.Distance{}) {
				return r, true
			}
		}
		rest = tail
	}
	return row{}, false
}

// cells reads cells as long as there are some.
func cells(text string) (found []machine.Distance, tail string) {
	for len(found) <= maxRows {
		next, rest := word(text)
		d, ok := parseCell(next)
		if !ok {
			break
		}
		found, text = append(found, d), rest
	}
	return found, text
}

// word returns the first word of a text and what follows it.
func word(text string) (first, rest string) {
	text = strings.TrimLeft(text, " \t")
	if i := strings.IndexAny(text, " \t"); i >= 0 {
		return text[:i], text[i:]
	}
	return text, ""
}

// legend reads a line such as "NIC0: mlx5_0".
func legend(line string) (nic, name string, ok bool) {
	nic, name, ok = strings.Cut(strings.TrimSpace(line), ":")
	if _, isNIC := numbered(nic, "NIC"); !ok || !isNIC {
		return "", "", false
	}
	name = strings.TrimSpace(name)
	return strings.ToUpper(nic), name, name != "" && len(name) <= maxLabel && !strings.ContainsAny(name, " \t")
}
