package collective

import "strings"

// Row is a line of the table of algorithms, as text. Formulas are in n ranks on
// N nodes of g = n/N, and S bytes of a rank's larger buffer.
type Row struct {
	Name      string   `json:"name"`
	Ops       []string `json:"ops"`
	Protocols []string `json:"protocols"`
	When      string   `json:"when"`
	Steps     string   `json:"steps"`
	Wire      string   `json:"wire"`
	Paper     string   `json:"paper"`
	About     string   `json:"about"`
}

// Rows returns the table of algorithms in listing order.
func Rows() []Row {
	rows := make([]Row, len(algorithms))
	for i := range algorithms {
		a := &algorithms[i]
		rows[i] = Row{
			Name: a.Name, Ops: names(a.Ops), When: a.When, Protocols: names(a.Protocols),
			Steps: a.StepsText, Wire: a.WireText, About: a.About, Paper: a.Paper,
		}
		if a.When == "" {
			rows[i].When = "always"
		}
		if a.Protocols == nil {
			rows[i].Protocols = []string{"all"}
		}
	}
	return rows
}

// Table returns the table of algorithms in Markdown.
func Table() string {
	var b strings.Builder
	line := func(cells ...string) {
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
	line("algorithm", "operations", "when legal", "protocols", "steps", "bytes on the wire", "paper")
	line("---", "---", "---", "---", "---", "---", "---")
	for _, r := range Rows() {
		line(r.Name, strings.Join(r.Ops, ", "), r.When, strings.Join(r.Protocols, ", "), r.Steps, r.Wire, r.Paper)
	}
	return b.String()
}
