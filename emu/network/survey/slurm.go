package survey

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// slurmLine begins a line of topology.conf. Slurm allows blanks around =.
var slurmLine = regexp.MustCompile(`(?i)^\s*(switchname|blockname)\s*=`)

// isSlurm tells topology.conf by a line that begins with SwitchName= or
// BlockName=.
func isSlurm(data []byte) bool {
	for line := range bytes.Lines(data) {
		if slurmLine.Match(line[:min(len(line), 64)]) {
			return true
		}
	}
	return false
}

// slurmRow is a switch or block: its name, and what hangs on it.
type slurmRow struct {
	line                  int
	name, switches, nodes string
	block                 bool
	level                 int // scontrol show topology: 0 is a leaf
}

// readSlurm reads topology.conf, or what scontrol show topology prints of it.
// Keys and the order of lines do not matter to Slurm; comments of the form
// "# switch=its own name" carry names in topograph's files.
func readSlurm(data []byte) (*Survey, error) {
	s := &Survey{Kind: "Slurm topology.conf"}
	var rows []slurmRow
	add := func(line int, text string) error {
		some, err := s.slurmRows(line, text)
		if rows = append(rows, some...); len(rows) > maxLinks {
			return fmt.Errorf("line %d: more than %d switches and blocks", line, maxLinks)
		}
		return err
	}
	number, before := 0, ""
	for line := range bytes.Lines(data) {
		number++
		text, _, _ := strings.Cut(string(line), "#")
		text = before + strings.TrimSpace(text)
		var goesOn bool
		if before, goesOn = strings.CutSuffix(text, "\\"); goesOn {
			continue
		}
		before = ""
		if err := add(number, text); err != nil {
			return nil, err
		}
	}
	if err := add(number, before); err != nil {
		return nil, err
	}
	return s, s.slurm(rows)
}

// slurmRows reads a line: a row for each switch that its SwitchName lists, none
// if the line says nothing of the hardware.
func (s *Survey) slurmRows(line int, text string) ([]slurmRow, error) {
	row, err := s.slurmRow(line, text)
	if err != nil || row.name == "" {
		return nil, err
	}
	if row.block {
		return []slurmRow{row}, nil
	}
	names, err := hostlist(row.name)
	if err != nil {
		return nil, fmt.Errorf("line %d: SwitchName: %w", line, err)
	}
	if len(names) > 1 {
		s.Say(Odd, "line %d: SwitchName=%s lists %d switches; each has what the line says", line, clip(row.name), len(names))
	}
	var rows []slurmRow
	for _, row.name = range names {
		rows = append(rows, row)
	}
	return rows, nil
}

// aroundEquals are blanks that Slurm allows around =.
var aroundEquals = regexp.MustCompile(`[ \t]*=[ \t]*`)

func (s *Survey) slurmRow(line int, text string) (slurmRow, error) {
	row := slurmRow{line: line}
	fields := slurmFields(aroundEquals.ReplaceAllString(text, "="))
	if len(fields) > 0 && strings.EqualFold(fields[0], "include") {
		s.Say(Missing, "line %d: another file is included, and not read; paste it in", line)
		return row, nil
	}
	for _, field := range fields {
		key, v, ok := strings.Cut(field, "=")
		v = strings.Trim(v, `"`)
		switch key = strings.ToLower(key); {
		case !ok:
			return row, fmt.Errorf("line %d: %q must be KEY=VALUE, with keys SwitchName, Switches, Nodes, BlockName, BlockSizes", line, clip(field))
		case key == "switchname":
			row.name = v
		case key == "blockname":
			row.name, row.block = v, true
		case key == "switches":
			row.switches = v
		case key == "nodes":
			row.nodes = v
		case key == "linkspeed":
			s.Say(Odd, "line %d: LinkSpeed=%s is ignored, as Slurm does", line, clip(v))
		case key == "blocksizes":
			s.Say(Odd, "line %d: BlockSizes=%s says how jobs are placed, nothing of the hardware; ignored", line, clip(v))
		case key == "aggregatedblock":
			s.Say(Odd, "line %d: AggregatedBlock=%s sums up blocks that have lines of their own; ignored", line, clip(v))
			return slurmRow{}, nil
		case key == "level":
			row.level, _ = strconv.Atoi(v) // scontrol writes a number; else it is as if unsaid
		case key == "blockindex" || key == "blocksize":
		default:
			return row, fmt.Errorf("line %d: key %q is unknown; allowed are SwitchName, Switches, Nodes, LinkSpeed, BlockName, BlockSizes", line, clip(key))
		}
	}
	if row.name == "" && row.switches+row.nodes != "" {
		return row, fmt.Errorf("line %d: Switches or Nodes without a SwitchName or BlockName that they are of", line)
	}
	if row.level > 0 && row.switches != "" {
		row.nodes = "" // scontrol lists there all that hang further below
	}
	return row, nil
}

// slurmFields splits a line at blanks that are not in brackets.
func slurmFields(text string) []string {
	depth := 0
	return strings.FieldsFunc(text, func(r rune) bool {
		switch r {
		case '[':
			depth++
		case ']':
			depth--
		}
		return depth <= 0 && (r == ' ' || r == '\t')
	})
}

// slurm builds the network out of all rows: first the switches, so that a name
// is known as one wherever it stands.
func (s *Survey) slurm(rows []slurmRow) error {
	s.Logical = true
	for _, r := range rows {
		if r.block {
			continue
		}
		if _, ok := s.find(r.name); ok {
			s.Say(Odd, "line %d: switch %s is given twice; taken together", r.line, clip(r.name))
		}
		if _, err := s.add(r.name, true); err != nil {
			return fmt.Errorf("line %d: %w", r.line, err)
		}
	}
	for _, r := range rows {
		if err := s.hang(r); err != nil {
			return fmt.Errorf("line %d: %w", r.line, err)
		}
	}
	s.Say(Missing, "the file says nothing of links: how many there are between two switches, their rates and latencies")
	return nil
}

// hang joins a switch with what hangs on it, or makes a domain of a block.
func (s *Survey) hang(r slurmRow) error {
	nodes, err := hostlist(r.nodes)
	if err != nil {
		return err
	}
	if r.block {
		return s.domain(r.name, nodes)
	}
	children, err := hostlist(r.switches)
	if err != nil {
		return err
	}
	at, _ := s.find(r.name)
	for i, name := range append(children, nodes...) {
		if _, known := s.find(name); !known && i < len(children) {
			s.Say(Odd, "switch %s hangs below %s and has no line of its own", clip(name), clip(r.name))
		}
		p, err := s.add(name, i < len(children))
		if err != nil {
			return err
		}
		if err := s.join(p, at, 0, 0); err != nil {
			return err
		}
	}
	return nil
}

// domain adds hosts that NVLink joins, new ones included. What is said of a
// domain in several places is taken together.
func (s *Survey) domain(name string, hosts []string) error {
	i, ok := s.domains[name]
	if !ok {
		if s.domains == nil {
			s.domains = map[string]int{}
		}
		i = len(s.Domains)
		s.domains[name], s.Domains = i, append(s.Domains, Domain{Name: name})
	}
	d := &s.Domains[i]
	for _, h := range hosts {
		p, err := s.add(h, false)
		if err != nil {
			return err
		}
		d.Hosts = append(d.Hosts, p.Index)
	}
	return nil
}
