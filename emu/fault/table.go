package fault

import (
	"fmt"
	"strings"
)

// Table returns all types of faults as a table in Markdown: what docs/faults.md
// and `fault list --kinds` show.
func Table() string {
	var b strings.Builder
	b.WriteString("| type | also known as | strikes | parameters | here | on hardware | source |\n| --- | --- | --- | --- | --- | --- | --- |\n")
	for i := range kinds {
		k := &kinds[i]
		here := k.Means
		if k.Default != "" {
			here += "; default: " + k.Default
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s |\n", k.Word, strings.Join(k.Also, ", "), k.Targets(), k.paramText(), here, k.Hardware, k.Source)
	}
	return b.String()
}

// ParamTable returns what parameters mean, as a table in Markdown.
func ParamTable() string {
	var b strings.Builder
	b.WriteString("| parameter | means | such as |\n| --- | --- | --- |\n")
	for i := range params {
		p := &params[i]
		fmt.Fprintf(&b, "| %s | %s | %s |\n", p.Word, p.Means, p.example())
	}
	return b.String()
}

// paramText lists a type's parameters, those that it needs first and in bold.
func (k *Kind) paramText() string {
	var must, may []string
	ps, needed := k.Params()
	for i, p := range ps {
		if needed[i] {
			must = append(must, "**"+p.Word+"**")
		} else {
			may = append(may, p.Word)
		}
	}
	return strings.Join(append(must, may...), ", ")
}
