package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/machine/topoxml"
)

// Every description of a network becomes a cluster file that is valid, except for
// templates.
func TestFabricCases(t *testing.T) {
	files, err := filepath.Glob("../../../shared/cases/fabric/*__*")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skip("the files of the field are not here")
	}
	s := newSession(t)
	for _, f := range files {
		code := s.run("topo import " + f + " --out $DIR/c.yaml")
		if strings.HasSuffix(f, ".gotmpl") {
			if code != ExitUsage || !strings.Contains(s.err.String(), "template") {
				t.Errorf("%s: exit %d: %s", f, code, s.err.String())
			}
			continue
		}
		if code != ExitOK {
			t.Errorf("%s: exit %d: %s", f, code, s.err.String())
		} else if code := s.run("validate $DIR/c.yaml"); code != ExitOK {
			t.Errorf("%s: its cluster file: exit %d: %s", f, code, s.err.String())
		}
	}
}

// A topology file takes the place of the system of all nodes, or makes a node of
// each of its machines; the dump is what topo export writes.
func TestTopoFile(t *testing.T) {
	s := newSession(t)
	h := hardware{topo: "testdata/files/box.xml", dump: filepath.Join(s.dir, "dump.xml")}
	c := emu.Cluster{Groups: []emu.Group{{Count: 3, System: "dgx-h100"}}}
	if err := h.topology(s.App, &c, func(string) bool { return false }); err != nil {
		t.Fatal(err)
	}
	if g := c.Groups[0]; g.Count != 3 || g.System != "" || g.Machine != "box" || len(c.Machines) != 1 {
		t.Fatalf("made %+v with %d machines", c.Groups, len(c.Machines))
	}
	if err := c.Validate(known()); err != nil {
		t.Fatal(err)
	}
	if err := h.dumpTopology(s.App, &c, func(string) bool { return true }); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(h.dump)
	if err != nil {
		t.Fatal(err)
	}
	if code := s.run("topo export testdata/files/box.xml"); code != ExitOK || s.out.String() != string(got) {
		t.Errorf("dumped\n%s\ntopo export, exit %d, writes\n%s", got, code, s.out.String())
	}
	fused := strings.ReplaceAll(string(topoxml.Write(&c.Machines[0])), `<cpu `, `<cpu host_hash="0x1" `)
	inner := fused[strings.Index(fused, "<cpu "):strings.LastIndex(fused, "</system>")]
	s.file(t, "two.xml", strings.Replace(fused, "</system>", strings.ReplaceAll(inner, "0x1\" ", "0x2\" ")+"</system>", 1))
	h.topo = filepath.Join(s.dir, "two.xml")
	if err := h.topology(s.App, &c, func(string) bool { return false }); err != nil || len(c.Groups) != 2 || len(c.Machines) != 2 {
		t.Errorf("two hosts make %+v, %v", c.Groups, err)
	}
	if err := h.topology(s.App, &c, func(name string) bool { return name == "nodes" }); err == nil {
		t.Error("--nodes with two hosts in the file is accepted")
	}
}
