package smi

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/railyard/railyard/emu/machine"
)

// cases are tables of the field, kept outside this repository.
const cases = "../../../../shared/cases/smi"

// Every table of the field loads, with the rows and cells that EXPECT.tsv
// counts, and its machine prints the same cells.
func TestCases(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(cases, "EXPECT.tsv"))
	if err != nil {
		t.Skipf("the tables of the field are not here: %v", err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		want := strings.Split(line, "\t")
		if strings.HasPrefix(line, "#") || want[0] == "file" {
			continue
		}
		t.Run(want[0], func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(cases, want[0]))
			if err != nil {
				t.Fatal(err)
			}
			in, err := Read("case", text)
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range in.Notes {
				t.Log(n)
			}
			m := &in.Machines[0]
			number(t, "GPUs", len(m.GPUs), want[1])
			number(t, "NICs", len(m.NICs), want[2])
			counted(t, text, want)
			sameCells(t, text, m)
		})
	}
}

func number(t *testing.T, what string, got int, want string) {
	t.Helper()
	if n, err := strconv.Atoi(want); err != nil || n != got {
		t.Errorf("%d %s, want %s", got, what, want)
	}
}

// counted compares rows and the cells of GPU rows with EXPECT.tsv.
func counted(t *testing.T, text []byte, want []string) {
	tables, err := scan(text)
	if err != nil || len(tables) != 1 {
		t.Fatalf("%d tables, %v", len(tables), err)
	}
	number(t, "rows", len(tables[0].rows), want[3])
	got := map[string]int{}
	for _, r := range tables[0].rows {
		if _, gpu := isGPU(r.label); gpu {
			for _, d := range r.cells {
				if d.Nearness != machine.Self {
					got[d.String()]++
				}
			}
		}
	}
	for _, part := range strings.Split(strings.NewReplacer("{", "", "}", "", "'", "", " ", "").Replace(want[4]+","+want[5]), ",") {
		if name, n, ok := strings.Cut(part, ":"); ok {
			number(t, name+" cells", got[name], n)
			delete(got, name)
		}
	}
	if len(got) > 0 {
		t.Errorf("cells beyond EXPECT.tsv: %v", got)
	}
}

// sameCells checks that a machine prints each cell that its table has.
func sameCells(t *testing.T, text []byte, m *machine.Machine) {
	t.Helper()
	tables, err := scan(text)
	if err != nil {
		t.Fatal(err)
	}
	was, err := place(tables[0])
	if err != nil {
		t.Fatal(err)
	}
	printed, err := scan([]byte(Matrix(m)))
	if err != nil {
		t.Fatal(err)
	}
	is, err := place(printed[0])
	if err != nil {
		t.Fatal(err)
	}
	for i := range was.cells {
		if !is.rows[i] {
			t.Errorf("%s has no row", was.labels[i])
		}
		for j := range was.cells {
			if c := was.cells[i][j]; c.known && c != is.cells[i][j] {
				t.Errorf("%s to %s is %v, printed %v", was.labels[i], was.labels[j], c.Distance, is.cells[i][j].Distance)
			}
		}
	}
	for i, a := range was.of {
		if a.nodes != "" && a.nodes != is.of[i].nodes || a.cpus != "" && a.cpus != is.of[i].cpus || a.own != is.of[i].own {
			t.Errorf("%s has affinity %q, printed %q", was.labels[i], a, is.of[i])
		}
	}
}
