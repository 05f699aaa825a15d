package fault_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/railyard/railyard/emu/fault"
)

// The tables in docs/faults.md are those of the types. -rewrite writes them anew.
func TestTables(t *testing.T) {
	const path = "../../docs/faults.md"
	doc, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := string(doc)
	for name, table := range map[string]string{"types": fault.Table(), "parameters": fault.ParamTable()} { // order: each has a place of its own
		begin, end := "<!-- "+name+" -->\n", "<!-- end "+name+" -->\n"
		before, rest, found := strings.Cut(want, begin)
		_, after, ended := strings.Cut(rest, end)
		if !found || !ended {
			t.Fatalf("%s has no table between %q and %q", path, begin, end)
		}
		want = before + begin + table + end + after
	}
	if want == string(doc) {
		return
	}
	if flag.Lookup("rewrite").Value.String() != "true" {
		t.Fatalf("%s is not what the types say; -rewrite writes it anew", path)
	}
	if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// A cell that has a bar or a line break would break a table.
func TestTableCells(t *testing.T) {
	for table, bars := range map[string]int{fault.Table(): 8, fault.ParamTable(): 4} { // order: each is judged alone
		for line := range strings.Lines(table) {
			if n := strings.Count(line, "|"); n != bars {
				t.Errorf("%d bars, want %d: %s", n, bars, line)
			}
		}
	}
}
