package collective

import (
	"flag"
	"os"
	"strings"
	"testing"
)

// The table in docs/algorithms.md is the registry's. -rewrite writes it anew.
func TestTableOfAlgorithms(t *testing.T) {
	const path, begin, end = "../docs/algorithms.md", "<!-- table -->\n", "<!-- end -->\n"
	doc, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(doc), begin)
	table, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s has no table between %q and %q", path, begin, end)
	}
	if table == Table() {
		return
	}
	if flag.Lookup("rewrite").Value.String() != "true" {
		t.Fatalf("%s is not what the registry says; -rewrite writes it anew:\n%s", path, Table())
	}
	if err := os.WriteFile(path, []byte(before+begin+Table()+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// A cell that has a bar or a line break would break the table.
func TestTableCells(t *testing.T) {
	for _, line := range strings.Split(strings.TrimSuffix(Table(), "\n"), "\n") {
		if n := strings.Count(line, "|"); n != 8 {
			t.Errorf("%d bars, want 8 for 7 cells: %s", n, line)
		}
	}
	if rows := Rows(); len(rows) != len(algorithms) || rows[0].Name != "ring" || rows[0].When != "always" || rows[0].Protocols[0] != "all" {
		t.Errorf("rows %+v", rows)
	}
}
