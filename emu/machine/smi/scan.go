package smi

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// row is a line with the cells of a device.
type row struct {
	label string
	cells []cell
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
	prefix     string // what a log has in front of each line
	csv        bool   // commas part the columns
	open       bool   // the last row may go on in the next line
	peer       bool   // a table of topo -p2p
	report     bool   // a report of rocm-smi, made into a table
}

// scanner finds the tables in a text.
type scanner struct {
	tables  []*raw
	current *raw
	header  string // lines that may be the beginning of a header
}

// What a file may have. A table of 72 GPUs and 72 NICs has some 60 KB.
const (
	maxBytes = 2_000_000
	maxRows  = 1024 // of a table, and columns: machine.MaxDevices
	maxLabel = 64
	maxLine  = 64 * maxRows // of a header
	// maxTables is how many machines one file may list.
	maxTables = 64
	// maxCells is how many cells all tables of a file may have together.
	maxCells = 1 << 21
)

// ErrNoTable says that a text has nothing that looks like a table.
var ErrNoTable = errors.New("holds no table of nvidia-smi topo -m: neither a header GPU0 GPU1 … nor a row GPU0 X NV18 …")

// scan finds the tables in a text.
func scan(data []byte) ([]*raw, error) {
	if len(data) > maxBytes {
		return nil, fmt.Errorf("the file is larger than %d bytes, the most that is read", maxBytes)
	}
	s := scanner{current: &raw{names: map[string]string{}}} // of rows before any header
	number := 0
	for line := range strings.Lines(string(data)) {
		number++
		if err := s.line(clean(line)); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		if n := len(s.current.rows); n > 0 && s.current.rows[n-1].line == 0 {
			s.current.rows[n-1].line = number
		}
		if s.current.line == 0 && len(s.tables) > 0 {
			s.current.line = number
		}
	}
	return choose(s.tables)
}

// line reads a line: of a header, of a row, or of a legend; others are no part
// of a table.
func (s *scanner) line(text string) error {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	if taken, err := s.head(text); taken || err != nil {
		return err
	}
	text = s.route(text)
	t := s.current
	if t.csv {
		text = uncomma(text)
	}
	if r, ok := parseRow(text, t); ok {
		return s.row(r)
	}
	if t.open && t.goOn(text) {
		return nil
	}
	t.open = false
	if nic, name, ok := legend(text); ok {
		t.names[nic] = name
	}
	return nil
}

// head reads a line of a header, which may be wrapped into several.
func (s *scanner) head(text string) (taken bool, err error) {
	before := s.header
	s.header = ""
	if joined := before + "\t" + text; before != "" && len(s.current.rows) == 0 && onlyHeader(text) && distinct(joined) {
		s.header = joined
		h, ok := header(joined)
		if !ok {
			return true, nil
		}
		return true, s.begin(h, s.current.columns != nil)
	}
	if h, ok := header(text); ok {
		s.header = text
		return true, s.begin(h, false)
	}
	if _, gpu := isGPU(firstWord(text)); gpu && onlyHeader(text) {
		s.header = text // it ends amid "CPU Affinity"
		s.current = &raw{names: map[string]string{}}
		return true, nil
	}
	return false, nil
}

// distinct reports whether no device is twice in a header.
func distinct(line string) bool {
	seen := map[string]bool{}
	for _, w := range strings.Fields(line) {
		if isDevice(w) && seen[w] {
			return false
		}
		seen[w] = true
	}
	return true
}

// begin begins a table, or corrects the one whose header goes on.
func (s *scanner) begin(h raw, again bool) error {
	switch {
	case len(h.columns) > maxRows:
		return fmt.Errorf("a table of more than %d rows or columns", maxRows)
	case again:
		s.current.columns, s.current.affinities = h.columns, h.affinities
		return nil
	case len(s.tables) == maxTables:
		return fmt.Errorf("more than %d tables", maxTables)
	}
	h.names = map[string]string{}
	s.current = &h
	s.tables = append(s.tables, s.current)
	return nil
}

// route makes the table current whose lines have what the text begins with, and
// takes that away: a log of several hosts may mix their lines.
func (s *scanner) route(text string) string {
	trimmed := strings.TrimLeft(text, " \t")
	var to *raw
	for _, t := range s.tables {
		if begins(trimmed, t.prefix) && (to == nil || len(t.prefix) >= len(to.prefix)) {
			to = t
		}
	}
	if to == nil {
		return text
	}
	s.current = to
	return trimmed[len(to.prefix):]
}

// begins reports whether a text begins with a prefix, and not with a longer word.
func begins(text, prefix string) bool {
	rest, ok := strings.CutPrefix(text, prefix)
	return ok && prefix != "" && (rest == "" || !isAlnum(prefix[len(prefix)-1]) || !isAlnum(rest[0]))
}

func (s *scanner) row(r row) error {
	t := s.current
	next, _ := word(r.tail)
	t.peer = t.peer || len(r.cells) < len(t.columns) && slices.Contains(peerWords, next)
	if len(s.tables) == 0 {
		s.tables = append(s.tables, t)
	}
	if t.rows = append(t.rows, r); len(t.rows) > maxRows || len(r.cells) > maxRows {
		return fmt.Errorf("a table of more than %d rows or columns", maxRows)
	}
	t.open = !t.peer && t.lacks(&t.rows[len(t.rows)-1])
	return nil
}

// lacks reports whether a row has less than its header promises.
func (t *raw) lacks(r *row) bool {
	_, gpu := isGPU(r.label)
	return len(r.cells) < len(t.columns) || gpu && t.affinities > 0 && strings.TrimSpace(r.tail) == ""
}

// goOn adds a line to the last row, if it has what that lacks.
func (t *raw) goOn(text string) bool {
	r := &t.rows[len(t.rows)-1]
	if strings.Contains(text, "=") { // a legend
		return false
	}
	if len(r.cells) < len(t.columns) {
		more, tail := cells(text, len(t.columns)-len(r.cells))
		if len(more) == 0 {
			return false
		}
		r.cells, r.tail = append(r.cells, more...), tail
	} else if parseAffinity(text, t.affinities) == (affinity{}) {
		return false
	} else {
		r.tail = text
	}
	t.open = t.lacks(r)
	return true
}

// choose leaves out tables of topo -p2p, which people paste behind the other, and
// headers without a row when others have some.
func choose(tables []*raw) ([]*raw, error) {
	found := len(tables)
	tables = slices.DeleteFunc(tables, func(t *raw) bool { return t.peer })
	if slices.ContainsFunc(tables, func(t *raw) bool { return len(t.rows) > 0 }) {
		tables = slices.DeleteFunc(tables, func(t *raw) bool { return len(t.rows) == 0 })
	}
	switch {
	case len(tables) > 0:
		return tables, complete(tables)
	case found > 0:
		return nil, errors.New("this is what nvidia-smi topo -p2p prints: which peer to peer is possible, not how near devices are; import what topo -m prints")
	default:
		return nil, ErrNoTable
	}
}

// complete says what is wrong with a table without rows, or with many.
func complete(tables []*raw) error {
	total := 0
	for _, t := range tables {
		if total += len(t.columns) * len(t.columns); total > maxCells {
			return fmt.Errorf("line %d: the tables have more than %d cells, the most that is read", t.line, maxCells)
		}
		if len(t.rows) == 0 {
			return fmt.Errorf("line %d: a header, but no row of cells (GPU0 X NV18 …) behind it", t.line)
		}
	}
	return nil
}
