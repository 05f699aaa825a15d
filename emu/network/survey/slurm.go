package survey

import (
	"bytes"
	"fmt"
	"strings"
)

// isSlurm tells topology.conf by a line that begins with SwitchName= or
// BlockName=.
func isSlurm(data []byte) bool {
	for line := range bytes.Lines(data) {
		l := strings.ToLower(string(bytes.TrimSpace(line[:min(len(line), 64)])))
		if strings.HasPrefix(l, "switchname=") || strings.HasPrefix(l, "blockname=") {
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
}

// readSlurm reads topology.conf. Keys and the order of lines do not matter to
// Slurm; comments of the form "# switch=its own name" carry names in topograph's
// files.
func readSlurm(data []byte) (*Survey, error) {
	s := &Survey{Kind: "Slurm topology.conf"}
	var rows []slurmRow
	number, before := 0, ""
	for line := range bytes.Lines(data) {
		number++
		text, _, _ := strings.Cut(string(line), "#")
		text = before + strings.TrimSpace(text)
		var goesOn bool
		if before, goesOn = strings.CutSuffix(text, "\\"); goesOn {
			continue
		}
		if before = ""; text == "" {
			continue
		}
		row, err := s.slurmRow(number, text)
		if err != nil {
			return nil, err
		}
		if row.name != "" {
			rows = append(rows, row)
		}
	}
	return s, s.slurm(rows)
}

func (s *Survey) slurmRow(line int, text string) (slurmRow, error) {
	row := slurmRow{line: line}
	for _, field := range slurmFields(text) {
		key, v, ok := strings.Cut(field, "=")
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
		default:
			return row, fmt.Errorf("line %d: key %q is unknown; allowed are SwitchName, Switches, Nodes, LinkSpeed, BlockName, BlockSizes", line, clip(key))
		}
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

// domain adds hosts that NVLink joins, new ones included.
func (s *Survey) domain(name string, hosts []string) error {
	d := Domain{Name: name}
	for _, h := range hosts {
		p, err := s.add(h, false)
		if err != nil {
			return err
		}
		d.Hosts = append(d.Hosts, p.Index)
	}
	s.Domains = append(s.Domains, d)
	return nil
}
