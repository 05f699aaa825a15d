package cli

import (
	"encoding/csv"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/catalog"
	"github.com/railyard/railyard/emu/machine/topoxml"
)

// Every file of the field that a machine can be made of becomes a cluster file
// that is valid and prints the same table; what it exports does, too.
func TestTopoCases(t *testing.T) {
	s, made := newSession(t), 0
	for _, pattern := range []string{"smi/*.txt", "nccl-topo/*.xml"} {
		files, err := filepath.Glob("../../../shared/cases/" + pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if s.run("topo matrix "+f) != ExitOK {
				continue // refused; the readers' own tests say which
			}
			table := s.out.String()
			for _, line := range []string{"topo import " + f + " --out $DIR/c.yaml", "validate $DIR/c.yaml", "topo matrix $DIR/c.yaml"} {
				if code := s.run(line); code != ExitOK {
					t.Fatalf("%s: %s: exit %d: %s", f, line, code, s.err.String())
				}
			}
			if s.out.String() != table {
				t.Errorf("%s prints\n%s\nits cluster file\n%s", f, table, s.out.String())
			}
			made++
			if s.run("topo export "+f+" --out $DIR/e.xml") != ExitOK {
				continue // several machines
			}
			if code := s.run("topo matrix $DIR/e.xml"); code != ExitOK || s.out.String() != table {
				t.Errorf("%s prints\n%s\nits export, exit %d\n%s", f, table, code, s.out.String())
			}
		}
	}
	if made == 0 {
		t.Skip("the files of the field are not here")
	}
	t.Logf("%d files", made)
}

// A machine in full can be run like a system of the catalog.
func TestTopoRuns(t *testing.T) {
	s := newSession(t)
	if code := s.run("topo import testdata/files/box.xml --out $DIR/c.yaml"); code != ExitOK {
		t.Fatal(s.err.String())
	}
	if code := s.run("predict all_reduce --cluster $DIR/c.yaml --print-effective"); code != ExitOK || !strings.Contains(s.out.String(), "machine: box") {
		t.Errorf("exit %d: %s%s", code, s.out.String(), s.err.String())
	}
	if code := s.run("topo import testdata/files/box.xml --out $DIR/no/c.yaml"); code != ExitUsage {
		t.Errorf("exit %d for a folder that is not there", code)
	}
}

// Systems that a cluster file names can be looked at like machines that it lists;
// what an export of a tray or of a host of TPUs cannot say is said beside it.
func TestTopoOfSystems(t *testing.T) {
	s := newSession(t)
	s.file(t, "c.yaml", "apiVersion: railyard/v1alpha1\nkind: Cluster\nspec:\n  nodes: [{count: 2, system: dgx-h100}, {count: 1, system: dgx-h100, gpus: 4}, {count: 18, system: gb200-nvl72}]\n")
	if code := s.run("topo matrix $DIR/c.yaml --machine dgx-h100"); code != ExitOK {
		t.Fatalf("exit %d: %s", code, s.err.String())
	}
	table := s.out.String()
	if s.run("topo matrix --system dgx-h100"); s.out.String() != table {
		t.Errorf("prints\n%s\nnot\n%s", table, s.out.String())
	}
	if code := s.run("topo export $DIR/c.yaml"); code != ExitUsage || !strings.Contains(s.err.String(), "has 2 machines and a topology file holds one; allowed are dgx-h100, gb200-nvl72") {
		t.Errorf("exit %d: %s", code, s.err.String())
	}
	for system, says := range map[string]string{"gb200-nvl72": "missing: nvlink domain", "tpu-v4": "missing: slice", "dgx-h100": ""} { // order: each is a run of its own
		code := s.run("topo export --system " + system)
		if said := s.err.String(); code != ExitOK || !strings.Contains(said, says) || (says == "") != (said == "") {
			t.Errorf("%s: exit %d: %s", system, code, s.err.String())
		}
	}
}

// TestExportSaysWhatItLoses: of every system, what comes back of an export with other
// links between servers, without its variables, or without others in its domain, was
// said to be missing; nothing is said where all comes back.
func TestExportSaysWhatItLoses(t *testing.T) {
	s := newSession(t)
	for _, c := range catalog.Systems() {
		code := s.run("topo export --system " + c.Name)
		said := s.err.String()
		in, err := topoxml.Read(c.Name, s.out.Bytes())
		if code != ExitOK || err != nil {
			t.Fatalf("%s: exit %d: %s, %v", c.Name, code, said, err)
		}
		back := catalog.Like(&in.Machines[0])
		if lost := back.Link != c.Link || len(c.Env) > 0; lost != strings.Contains(said, "missing: transport: ") {
			t.Errorf("%s comes back with %s: %q", c.Name, back.Link, said)
		}
		if alone := c.Board.Domain > 0 || c.Board.ICI.Chips > 0; alone != (strings.Contains(said, "missing: nvlink domain") || strings.Contains(said, "missing: slice")) {
			t.Errorf("%s: %q", c.Name, said)
		}
	}
}

// TestGraphNamesTheLinks: a drawing says what its makers call the links between GPUs,
// of every system and also where an export of it is drawn, and that a domain's
// switches are shared; topo show has the same words.
func TestGraphNamesTheLinks(t *testing.T) {
	s := newSession(t)
	for _, c := range catalog.Systems() {
		if c.NVLink.Wire == 0 || s.run("topo graph --system "+c.Name) != ExitOK {
			continue
		}
		drawn := s.out.String()
		s.run("topo show --system " + c.Name)
		shown := s.out.String()
		s.run("topo export --out $DIR/x.xml --system " + c.Name)
		s.run("topo graph $DIR/x.xml")
		for _, name := range []string{"NVLink", "ICI", "Infinity Fabric"} {
			for from, text := range map[string]string{"topo graph": drawn, "topo graph of an export": s.out.String()} { // order: each alone
				if c.GPUs > 1 && strings.Contains(text, name+", ") != (name == c.Joint()) {
					t.Errorf("%s of %s: the legend has %q: %v", from, c.Name, name, name != c.Joint())
				}
			}
			if c.GPUs > 1 && strings.Contains(shown, name) != (name == c.Joint()) {
				t.Errorf("topo show of %s has %q: %v", c.Name, name, name != c.Joint())
			}
		}
		if shared := strings.Contains(drawn, "shared by 2 servers"); shared != (c.Board.Domain > 1) {
			t.Errorf("%s: two servers of a domain of %d: shared %v", c.Name, c.Board.Domain, shared)
		}
	}
	if s.run("topo graph --system gb200-nvl72 --nodes 18"); strings.Count(s.out.String(), "18 NVSwitch chips, shared by 18 servers") < 3 {
		t.Error("18 trays: nothing says that all share the chips")
	}
	if s.run("topo graph --system gb200-nvl72 --nodes 1"); strings.Contains(s.out.String(), "shared") {
		t.Error("a tray alone shares its chips")
	}
}

// The matrix says the same as a table, as CSV and as JSON. Notes on a file are left
// out when told so.
func TestTopoMatrixFormats(t *testing.T) {
	s := newSession(t)
	printed := func(format string) string {
		if code := s.run("topo matrix testdata/files/box.xml --format " + format); code != ExitOK {
			t.Fatalf("%s: exit %d: %s", format, code, s.err.String())
		}
		return s.out.String()
	}
	var pairs []pairJSON
	if err := json.Unmarshal([]byte(printed("json")), &pairs); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(printed("csv"))).ReadAll()
	if err != nil || len(rows) != 1+len(pairs) {
		t.Fatalf("%d rows of CSV for %d pairs: %v", len(rows), len(pairs), err)
	}
	lines := strings.Split(printed("table"), "\n")
	head := strings.Split(lines[0], "\t")
	for i, p := range pairs {
		if got := rows[1+i]; !slices.Equal(got, []string{p.Machine, p.From, p.To, p.Path, p.NIC, p.CPUs, p.NUMA}) {
			t.Errorf("CSV has %q, JSON %+v", got, p)
		}
		at := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, p.From+"\t") })
		if cell := strings.Split(lines[at], "\t")[slices.Index(head, p.To)]; strings.TrimSpace(cell) != p.Path {
			t.Errorf("the table has %q, JSON %+v", cell, p)
		}
	}
	if s.run("topo matrix testdata/files/box.xml --quiet"); s.err.String() != "" {
		t.Errorf("quiet says %q", s.err.String())
	}
}

// What topo graph draws of a file is all that the file says: machines, the network
// between them, or a network alone. A dump of a system is its export.
func TestTopoGraphDrawsFiles(t *testing.T) {
	s := newSession(t)
	if code := s.run("topo import testdata/files/box.xml --out $DIR/c.yaml"); code != ExitOK {
		t.Fatal(s.err.String())
	}
	text, err := s.ReadFile(filepath.Join(s.dir, "c.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	s.file(t, "two.yaml", strings.Replace(string(text), "count: 1,", "count: 2,", 1))
	s.file(t, "topology.conf", "SwitchName=leaf0 Nodes=n[0-1]\nSwitchName=leaf1 Nodes=n[2-3]\nSwitchName=top Switches=leaf[0-1]\n")
	for file, want := range map[string][]string{ // order: each is a run of its own
		"two.yaml": {"node0", "node1", "rail0"}, "topology.conf": {"leaf0", "leaf1", "top", "node0", "node3"},
	} {
		if code := s.run("topo graph $DIR/" + file + " --format dot"); code != ExitOK {
			t.Fatalf("%s: exit %d: %s", file, code, s.err.String())
		}
		for _, part := range want {
			if !strings.Contains(s.out.String(), part) {
				t.Errorf("%s: no %s in\n%s", file, part, s.out.String())
			}
		}
	}
	h := hardware{dump: filepath.Join(s.dir, "dump.xml")}
	c := emu.Cluster{Groups: []emu.Group{{Count: 1, System: "dgx-a100"}}}
	if err := h.dumpTopology(s.App, &c, func(string) bool { return true }); err != nil {
		t.Fatal(err)
	}
	dump, err := s.ReadFile(h.dump)
	if err != nil {
		t.Fatal(err)
	}
	if s.run("topo export --system dgx-a100"); s.out.String() != string(dump) {
		t.Errorf("dumped\n%s\nexported\n%s", dump, s.out.String())
	}
}

func TestMachineName(t *testing.T) {
	for file, want := range map[string]string{
		"/a/b/node 7.txt": "node-7", ".xml": "machine", "p4d.24xl-topo.xml": "p4d.24xl-topo", "…": "machine", "x": "x",
	} {
		if got := machineName(file); got != want {
			t.Errorf("%q is called %q, want %q", file, got, want)
		}
	}
}
